"""The interrupt line: high while a bit of S_INTR_STATUS is set that S_INTR_MASK lets through, else low."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nvdla_tb.judge.detail import WrongLine
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.rule import Rule
from nvdla_tb.nvdla.registers import Register

LINE_CYCLES = 32
"""How long the line may lag behind what registers say, in cycles of the slower clock.

A request crosses from CSB's clock to the core's, and the line crosses back. No scenario on the public nv_small RTL,
with CSB clocks of 0.31 to 3.7 periods, needed more; the lag itself was not measured.
"""


class LineRule(Rule):
    """Follows GLB's registers and tells when the line must be high, must be low, or may be either.

    Bits that were read are set until they are cleared. Bits that a layer owes may be set at any time, and of those that
    software sets the hardware may lack some, so that they count from the next read on.
    """

    def __init__(self, owed: Callable[[], int], limit_cycles: int = LINE_CYCLES) -> None:
        """Start from the reset state.

        Args:
            owed: Returns the bits that layers may still set.
            limit_cycles: How long the line may lag.
        """
        self._owed, self._limit = owed, limit_cycles
        self._found: set[bool] = set()
        self.reset()

    def reset(self) -> None:
        """Forget everything, as a reset of the DUT does."""
        self._mask = self._seen = self._perhaps = 0
        self._level = False
        self._must: bool | None = None
        self._since = 0
        self._blind = False

    def stop(self) -> None:
        """Judge no more before the next reset: a layer runs of which nothing is known."""
        self._blind = True

    def write(self, register: Register, value: int, cycle: int | None) -> Iterator[Finding]:
        """Follow a write that was accepted, and yield what was wrong until now."""
        if cycle is None:
            return
        yield from self._judge(cycle)
        match register.full_name:
            case "GLB.S_INTR_MASK":
                self._mask = value
            case "GLB.S_INTR_SET":
                self._perhaps |= value
            case "GLB.S_INTR_STATUS":
                self._seen &= ~value
                self._perhaps &= ~value
        self._follow(cycle)

    def read(self, register: Register, value: int, cycle: int | None) -> Iterator[Finding]:
        """Follow a read that was answered, and yield what was wrong until now."""
        if cycle is None:
            return
        yield from self._judge(cycle)
        if register.full_name == "GLB.S_INTR_STATUS":
            self._seen, self._perhaps = value, 0
        self._follow(cycle)

    def line(self, cycle: int, *, level: bool) -> Iterator[Finding]:
        """Follow a change of the line, and yield what was wrong until now or is wrong with it."""
        yield from self._judge(cycle)
        self._level = level
        yield from self._judge(cycle)

    def finish(self, cycle: int | None) -> Iterator[Finding]:
        """Yield what is wrong at the end."""
        if cycle is not None:
            yield from self._judge(cycle)

    def _follow(self, cycle: int) -> None:
        """Work out what the line must be from a cycle on."""
        through = ~self._mask
        must = True if self._seen & through else None if (self._perhaps | self._owed()) & through else False
        if must is not self._must:
            self._must, self._since = must, cycle

    def _judge(self, cycle: int) -> Iterator[Finding]:
        must = self._must
        late = cycle - self._since > self._limit
        if self._blind or must is None or must is self._level or not late or must in self._found:
            return
        self._found.add(must)
        yield Finding(Check.INTERRUPT, WrongLine(must, self._since, self._seen, self._mask), cycle)
