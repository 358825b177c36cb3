"""The interrupts of the model alone, for programs that wait for the line and serve it themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from nvdla_tb.nvdla import registers
from nvdla_tb.nvdla.program.ops import done_bit


class ModelLine:
    """Interrupts of layers that end as they start: each is set once, at whatever time the program looks for it.

    ::

        line = ModelLine()
        line.owe([("SDP", 0)])
        line.can_rise               # True
        line.read(0x1, 0x1)         # True: it is set by now
        line.write(status, 0x1)
        line.can_rise               # False
    """

    def __init__(self) -> None:
        """Start with nothing set and nothing owed."""
        self._owed: Counter[int] = Counter()
        self._status = self._mask = 0

    def owe(self, interrupts: Iterable[tuple[str, int]]) -> None:
        """Take the interrupts, as (unit, group), of a layer that was started."""
        self._owed.update(1 << done_bit(*interrupt) for interrupt in interrupts)

    def write(self, register: registers.Register, value: int) -> None:
        """Follow a write: what was not seen yet may come after it is cleared."""
        match register.full_name:
            case registers.INTR_STATUS:
                self._status &= ~value
            case "GLB.S_INTR_SET":
                self._status |= value & register.writable
            case "GLB.S_INTR_MASK":
                self._mask = value & register.writable

    @property
    def can_rise(self) -> bool:
        """Whether the line is high at some time from now on, if nothing else is started."""
        return bool((self._status | self._due) & ~self._mask)

    @property
    def status(self) -> int:
        """The bits of S_INTR_STATUS that were seen and not cleared."""
        return self._status

    def read(self, mask: int, value: int) -> bool:
        """Return whether the bits of a mask can read a value, and if so take note that they were seen."""
        late = value & ~self._status
        if self._status & mask & ~value or late & ~self._due:
            return False
        for bit in (1 << n for n in range(late.bit_length())):
            if late & bit:
                self._owed[bit] -= 1
        self._status |= late
        return True

    @property
    def _due(self) -> int:
        return sum(bit for bit, count in self._owed.items() if count > 0)
