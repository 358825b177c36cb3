"""The memory interface's limit of requests that wait for their answers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping

from nvdla_tb.judge.detail import WrongOutstanding
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.rule import Rule
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import Register, RegisterMap

_INTERFACES = {"MCIF": Ram.MC, "CVIF": Ram.CVSRAM}
_REGISTER = "CFG_OUTSTANDING_CNT"

MostOutstanding = Callable[[], Mapping[Ram, tuple[int, int]]]
"""Returns, for each port, the most beats of reads and bursts of writes that waited at a time since the last call."""


def limits_outstanding(register: Register) -> bool:
    """Return whether a write of a register changes a limit."""
    return register.unit in _INTERFACES and register.name == _REGISTER


class OutstandingRule(Rule):
    """Follows the limits that software sets: one more than the register says may wait.

    In a scenario whose last layer has requests enough, so many must have waited at some time.

    Source: register manual, MCIF and CVIF; measured on the public nv_small RTL, whose counters stop a request that
        would make them exceed the register by more than one.
    """

    def __init__(
        self, registers: RegisterMap, most: MostOutstanding, busy: Callable[[], bool], reached: Container[Ram] = ()
    ) -> None:
        """Start from the reset values.

        Args:
            registers: The register map.
            most: Most outstanding requests of the ports.
            busy: Returns whether layers run: what they sent under an earlier limit may still wait.
            reached: Ports whose limits the last layer must have reached, if it uses them at all.
        """
        self._reached = reached
        self._most, self._busy = most, busy
        self._initial = {
            ram: registers.register(unit, _REGISTER).reset
            for unit, ram in _INTERFACES.items()
            if unit in registers.units
        }
        self._words = dict(self._initial)
        self._before = dict(self._initial)

    def reset(self) -> None:
        """Return to the reset values, as a reset of the DUT does."""
        self._words, self._before = dict(self._initial), dict(self._initial)
        self._most()

    def write(self, register: Register, value: int, cycle: int | None) -> Iterator[Finding]:
        """Yield what exceeded the limits before a new one is written, or before a layer begins while none runs."""
        if register.name == "D_OP_ENABLE" and not self._busy():
            yield from self._wrong(cycle)
        if not limits_outstanding(register):
            return
        yield from self._wrong(cycle)
        ram = _INTERFACES[register.unit]
        self._before[ram], self._words[ram] = self._words[ram] if self._busy() else value, value

    def finish(self, cycle: int | None) -> Iterator[Finding]:
        """Yield the limits that were exceeded since they were judged last, and once those that had to be reached."""
        yield from self._wrong(cycle, self._reached)
        self._reached = ()

    def _wrong(self, cycle: int | None, reached: Container[Ram] = ()) -> Iterator[Finding]:
        for ram, counts in self._most().items():
            if ram not in self._words:
                continue
            for reading, got, shift in ((True, counts[0], 0), (False, counts[1], 8)):
                limit = 1 + max(word >> shift & 0xFF for word in (self._words[ram], self._before[ram]))
                if got > limit or (got < limit and ram in reached and any(counts)):
                    yield Finding(Check.MEMORY, WrongOutstanding(ram, reading, limit, got), cycle)
            self._before[ram] = self._words[ram]
