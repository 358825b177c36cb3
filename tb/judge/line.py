"""The interrupt line: high while a bit of S_INTR_STATUS is set that S_INTR_MASK lets through, else low."""

from __future__ import annotations

from tb.judge.detail import WrongLine
from tb.nvdla.registers import Register

LINE_CYCLES = 32
"""How long the line may lag behind what registers say, in cycles of the slower clock.

A request crosses from CSB's clock to the core's, and the line crosses back. No scenario on the public nv_small RTL,
with CSB clocks of 0.31 to 3.7 periods, needed more; the lag itself was not measured.
"""


class LineRule:
    """Follows GLB's registers and tells when the line must be high, must be low, or may be either.

    Bits that were read are set until they are cleared. Bits that a layer owes may be set at any time, and of those that
    software sets the hardware may lack some, so that they count from the next read on.
    """

    def __init__(self, limit_cycles: int = LINE_CYCLES) -> None:
        """Start from the reset state.

        Args:
            limit_cycles: How long the line may lag.
        """
        self._limit = limit_cycles
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

    def access(self, register: Register, value: int, owed: int, cycle: int, *, is_write: bool) -> WrongLine | None:
        """Follow one CSB access.

        Args:
            register: Register that was accessed.
            value: The word.
            owed: The bits that layers may still set.
            cycle: When the write was accepted or the read answered.
            is_write: Whether it was a write.

        Returns:
            What was wrong until now, if anything.
        """
        wrong = self._judge(cycle)
        match register.full_name, is_write:
            case "GLB.S_INTR_MASK", True:
                self._mask = value
            case "GLB.S_INTR_SET", True:
                self._perhaps |= value
            case "GLB.S_INTR_STATUS", True:
                self._seen &= ~value
                self._perhaps &= ~value
            case "GLB.S_INTR_STATUS", False:
                self._seen, self._perhaps = value, 0
        through = ~self._mask
        must = True if self._seen & through else None if (self._perhaps | owed) & through else False
        if must is not self._must:
            self._must, self._since = must, cycle
        return wrong

    def line(self, cycle: int, *, level: bool) -> WrongLine | None:
        """Follow a change of the line, and return what was wrong until now or is wrong with it."""
        wrong = self._judge(cycle)
        self._level = level
        return wrong or self._judge(cycle)

    def finish(self, cycle: int) -> WrongLine | None:
        """Return the error at the end, or None."""
        return self._judge(cycle)

    def _judge(self, cycle: int) -> WrongLine | None:
        must = self._must
        late = cycle - self._since > self._limit
        if self._blind or must is None or must is self._level or not late or must in self._found:
            return None
        self._found.add(must)
        return WrongLine(must, self._since, self._seen, self._mask)
