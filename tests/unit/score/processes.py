"""What stands for simulator processes in tests of the score."""

from __future__ import annotations

from pathlib import Path

import msgspec

from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.simulate import SimResult
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.explained import Explained

PASSED = Verdict(judged_bytes=8)


def answered(request: Request, log_path: Path, verdict: Verdict = PASSED) -> SimResult:
    """Leave the answer of a scenario."""
    assert request.result is not None
    msgspec.structs.replace(request.so_far, verdict=verdict, explained=Explained()).save(Path(request.result))
    return SimResult(None, "", 1.0, log_path)


class FakeProcess:
    """A simulator process that many scenarios with its arguments share; each ends with the next verdict."""

    last = None

    def __init__(self, *verdicts: Verdict, plusargs: tuple[str, ...] = ()) -> None:
        self.verdicts, self.plusargs = list(verdicts), plusargs
        self.asked: list[Request] = []
        self.closed = 0

    def takes(self, plusargs: tuple[str, ...]) -> bool:
        return plusargs == self.plusargs

    def play(self, request: Request, log_path: Path, timeout_seconds: float) -> SimResult:
        self.asked.append(request)
        return answered(request, log_path, self.verdicts.pop(0))

    def close(self) -> None:
        self.closed += 1
