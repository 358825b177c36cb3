"""Simulation time that stands still while the simulator computes: a loop without delay in the RTL."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from nvdla_tb.judge.detail import StandStill
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.run.process import last_lines
from nvdla_tb.stimulus import pulse

PROCESSOR_SECONDS = 60.0
"""Processor time of one time step, after which Python is asked whether it is in control; steps take milliseconds."""

ANSWER_PROCESSOR_SECONDS = 10.0
"""Processor time that its answer may take: a single call of numpy lets it wait."""

_UNSETTLED = re.compile(r"%Error-DIDNOTCONVERGE: .*: (.* did not converge .*)")
"""What Verilator says when it gives up; file and line are those of the wrapper."""


class Standstill:
    """Watches one simulator from outside.

    ::

        with Standstill() as watch:
            ...                             # start a simulator with ``watch.variables``
            while not watch.look(): ...     # about twice a second
            watch.found

    Attributes:
        variables: Environment variables that tell the simulator where it shows its time.
    """

    def __init__(self) -> None:
        """Make what both share."""
        self._file = pulse.new_file()
        self.variables = {} if self._file is None else {pulse.PULSE: pulse.place_of(self._file)}
        self._pulse = pulse.Pulse() if self._file is None else pulse.shared(self._file)
        self._time_steps, self._since = -1, 0.0
        self._asked: tuple[int, float] | None = None
        self._found: Finding | None = None

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; the simulator has ended."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @property
    def where(self) -> str:
        """The simulation time that was seen last, in words; empty before the bench has started."""
        cycle = self._pulse.cycle
        return "" if cycle is None else f", after cycle {cycle}"

    def look(self) -> bool:
        """Return whether time stands still while the simulator computes, and Python is not in control."""
        worked = _processor_seconds(self._pulse.pid)
        if worked is None:
            return False
        if self._pulse.time_steps != self._time_steps:
            self._time_steps, self._since, self._asked = self._pulse.time_steps, worked, None
        elif self._asked is None:
            if worked - self._since >= PROCESSOR_SECONDS:
                self._asked = self._pulse.answers, worked
                with suppress(ProcessLookupError):
                    os.kill(self._pulse.pid, signal.SIGUSR1)
        elif self._pulse.answers != self._asked[0]:
            # A long computation of the bench or of a test, which the deadline ends.
            self._since, self._asked = worked, None
        elif worked - self._asked[1] >= ANSWER_PROCESSOR_SECONDS:
            self._found = self._finding(worked - self._since, "")
            return True
        return False

    def found(self, log_path: Path) -> Finding | None:
        """Return what stands still, also when the simulator noticed it itself and said so in its log."""
        if self._found is None and log_path.is_file():
            said = next(filter(None, map(_UNSETTLED.match, reversed(last_lines(log_path)))), None)
            if said is not None:
                return self._finding(0.0, said[1])
        return self._found

    def _finding(self, seconds: float, said: str) -> Finding:
        cycles = max(self._pulse.every_cycles, 1)
        return Finding(Check.HANG, StandStill(self._pulse.time_steps, cycles, seconds, said), self._pulse.cycle)


def _processor_seconds(pid: int) -> float | None:
    """Return the processor time of a process, None when there is no such process."""
    if pid == 0:
        return None
    try:
        # proc(5): the name may hold blanks and brackets; user and system time are the 14th and 15th word.
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
