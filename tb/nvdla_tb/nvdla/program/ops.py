"""The operations of a program: what the public trace format can say, as immutable values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import Register, done_bits

INTERRUPT_UNITS = tuple(dict.fromkeys(unit for unit, _ in done_bits()))
"""Sources of done interrupts, in the order of their bits."""

_UNIT_OF_INTERRUPT = {"RUBIK": "RBK", "CDMA_DAT": "CDMA", "CDMA_WT": "CDMA"}


def unit_of_interrupt(interrupt_unit: str) -> str:
    """Return the unit with registers that raises an interrupt."""
    return _UNIT_OF_INTERRUPT.get(interrupt_unit, interrupt_unit)


def interrupt_of_unit(done_unit: str) -> str:
    """Return the name of the done interrupt of a unit that ends layers."""
    return next(interrupt for interrupt in INTERRUPT_UNITS if unit_of_interrupt(interrupt) == done_unit)


def done_bit(unit: str, group: int) -> int:
    """Return the bit of a unit's done interrupt in GLB's mask, set and status registers.

    Raises:
        InputError: for a unit without a done interrupt, or a group that does not exist.
    """
    if unit not in INTERRUPT_UNITS:
        raise InputError(f"interrupt unit must be one of {', '.join(INTERRUPT_UNITS)}, not {unit}")
    if (unit, group) not in done_bits():
        raise InputError(f"group must be 0 or 1, not {group}")
    return done_bits()[unit, group]


@dataclass(frozen=True)
class RegWrite:
    """Write a 32-bit ``value`` to ``register`` (``UNIT.NAME``)."""

    register: str
    value: int
    posted: bool = True


@dataclass(frozen=True)
class RegRead:
    """Read ``register``; with ``expected``, any other value fails the scenario."""

    register: str
    expected: int | None = None


class Comparison(Enum):
    """The condition of a poll, spelt as in trace commands."""

    EQUAL = "equal"
    GREATER = "greater"
    LESS = "less"
    NOT_EQUAL = "not_equal"
    NOT_GREATER = "not_greater"
    NOT_LESS = "not_less"

    @property
    def holds(self) -> Callable[[int, int], bool]:
        """The predicate over (value read, value expected)."""
        predicate: Callable[[int, int], bool] = {
            "equal": operator.eq,
            "greater": operator.gt,
            "less": operator.lt,
            "not_equal": operator.ne,
            "not_greater": operator.le,
            "not_less": operator.ge,
        }[self.value]
        return predicate


@dataclass(frozen=True)
class Poll:
    """Read ``register`` until the comparison with ``value`` holds, of one field, the bits of a mask or the whole word.

    The bits of a mask stay where they are in the word, and ``value`` has no others.
    """

    register: str
    value: int
    comparison: Comparison = Comparison.EQUAL
    field: str | None = None
    mask: int | None = None

    def __post_init__(self) -> None:
        if self.mask is None:
            return
        if self.field is not None:
            raise InputError(f"a poll must have a field or a mask, not both {self.field} and {self.mask:#x}")
        if self.value & ~self.mask:
            raise InputError(f"value of a poll must be bits of its mask {self.mask:#x}, not {self.value:#x}")

    @property
    def subject(self) -> str:
        """What is compared, as messages name it."""
        if self.mask is not None:
            return f"{self.register} & {self.mask:#x}"
        return self.register if self.field is None else f"{self.register}.{self.field}"

    def taken(self, word: int, register: Register) -> int:
        """Return what of a word of the register is compared."""
        if self.field is not None:
            return register.field(self.field).extract(word)
        return word if self.mask is None else word & self.mask


@dataclass(frozen=True)
class MemInit:
    """Make a range accessible and fill it with one byte value."""

    ram: Ram
    address: int
    nbytes: int
    value: int = 0


@dataclass(frozen=True)
class MemLoad:
    """Write ``chunks`` of (offset, bytes) at ``address``; ``file_name`` is what a trace calls them."""

    ram: Ram
    address: int
    chunks: tuple[tuple[int, bytes], ...]
    file_name: str

    @property
    def nbytes(self) -> int:
        """Bytes from ``address`` to the end of the last chunk."""
        return max((offset + len(data) for offset, data in self.chunks), default=0)


@dataclass(frozen=True)
class InterruptNotify:
    """Raise ``sync_id`` once the done interrupt of a unit's register group fires."""

    unit: str
    group: int
    sync_id: str


@dataclass(frozen=True)
class SyncNotify:
    """Raise ``sync_id`` when the operations of ``target`` have come this far."""

    target: str
    sync_id: str


@dataclass(frozen=True)
class SyncWait:
    """Hold back the later operations of ``target`` until ``sync_id`` is raised."""

    target: str
    sync_id: str


@dataclass(frozen=True)
class LineWait:
    """Hold back everything after it until the interrupt line is high, whoever clears it."""


@dataclass(frozen=True)
class CheckCrc:
    """Once ``sync_id`` is raised, compare a range's zlib CRC-32, stride gaps included."""

    sync_id: str
    ram: Ram
    address: int
    nbytes: int
    crc: int


@dataclass(frozen=True)
class CheckFile:
    """Once ``sync_id`` is raised, compare the bytes of ``chunks`` with memory at ``address``."""

    sync_id: str
    ram: Ram
    address: int
    nbytes: int
    chunks: tuple[tuple[int, bytes], ...]
    file_name: str


@dataclass(frozen=True)
class CheckNothing:
    """The scenario ends when ``sync_id`` is raised, without a golden result."""

    sync_id: str


MemoryOp = MemInit | MemLoad
CheckOp = CheckCrc | CheckFile | CheckNothing
Op = RegWrite | RegRead | Poll | InterruptNotify | SyncNotify | SyncWait | LineWait | MemoryOp | CheckOp
Program = tuple[Op, ...]


def target_of(op: Op) -> str | None:
    """Return the unit whose sequence an operation belongs to, or None for the bench's own."""
    match op:
        case RegWrite() | RegRead() | Poll():
            return op.register.partition(".")[0]
        case SyncNotify() | SyncWait():
            return op.target
        case _:
            return None
