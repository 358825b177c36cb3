"""Synthetic tasks and what workers do with them, importable by the workers of a cluster."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import Hang, Mismatch
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.run.regress.worker import Limits, record_path
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.explained import Explained, ExplainedLayer
from nvdla_tb.stimulus.result import Dut, Performance, Result

DUT = Dut("nv_small", "verilator")
LAYER = LayerId(0, "SDP", 0)


def wrong(elements: int = 1, check: Check = Check.VALUE, cycle: int | None = 30) -> Finding:
    """Return wrong bytes of the first layer."""
    detail = Mismatch(elements, elements, Ram.MC, 0x1000, Element(0, 0, 0), 1, 2, 4)
    return Finding(check, detail, cycle, LAYER)


def explained(*causes: str, equal: tuple[str, ...] = (), **facts: Any) -> Explained:
    """Return why the first layer is wrong, of which all causes predict the same bytes unless that is said."""
    layer = ExplainedLayer("layer 0 (SDP, group 0)", 1, causes=list(causes), equal=list(equal or causes))
    return Explained([replace(layer, **facts)])


def answer(verdict: Verdict, **facts: Any) -> Result:
    """Return what a simulator leaves of a scenario."""
    speed = Performance(1e5, 0.25, 1 << 27)
    return replace(Result("made", 1, DUT, "rerun", verdict, performance=speed, rerun_waves="rerun --waves"), **facts)


def hang(*waiting_for: str) -> Finding:
    return Finding(Check.HANG, Hang(5000, waiting_for, None, (), (), (), ()), 61000)


VERDICTS = {
    Ending.PASSED: Verdict(judged_bytes=8),
    Ending.REFUSED: Verdict(refused="no Y"),
    Ending.MISMATCH: Verdict(judged_bytes=8, findings=[wrong()]),
    Ending.HANG: Verdict(judged_bytes=8, findings=[hang()]),
    Ending.LOST: Verdict.of(Check.LOST, "gone"),
}
"""A verdict for each of some endings."""


def task(seed: int, test: str = "random") -> Task:
    return Task(test, seed, "random", "SDP,PDP", DUT, f"nvdla-tb regress random --seed {seed}")


def ending_of(seed: int) -> Ending:
    return Ending.MISMATCH if seed % 10 == 3 else Ending.PASSED


def ended(task: Task, ending: Ending, seconds: float = 0.25, coverage: dict[str, int] | None = None) -> Result:
    """Return the result of a task that ended in some way."""
    return msgspec.structs.replace(task.result(VERDICTS[ending], seconds), coverage=coverage or {})


def played(task: Task) -> Result:
    """Return the result that a task has, with what it covers when it passes."""
    ending = ending_of(task.seed)
    bins = {} if ending.is_failure else {f"SDP.group={task.seed % 2}": 1, "SDP.height=1": task.seed}
    verdict = msgspec.structs.replace(VERDICTS[ending], cycles=100 * task.seed)
    return msgspec.structs.replace(ended(task, ending, coverage=bins), verdict=verdict)


def stored(task: Task) -> Result:
    """Return the result of a task as a store gives it, which counts coverage for the whole run."""
    return msgspec.structs.replace(played(task), coverage={})


def pretend(task: Task, limits: Limits) -> Result:
    """Leave the result that a simulation would, after the time that the limits give it."""
    path = record_path(limits.folder, task.key)
    time.sleep(limits.timeout_seconds)
    path.parent.mkdir(parents=True, exist_ok=True)
    started = limits.folder / "started"
    started.mkdir(exist_ok=True)
    (started / f"{task.key}.{time.monotonic_ns()}").touch()
    done = played(task)
    partial = Path(f"{path}.partial{time.monotonic_ns()}")
    partial.write_bytes(done.encode())
    partial.replace(path)
    return done


def at_once(task: Task) -> Result:
    """Pass."""
    return ended(task, Ending.PASSED)


def deadly(task: Task) -> Result:
    """Pass, or kill the worker that plays seed 1."""
    if task.seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return at_once(task)
