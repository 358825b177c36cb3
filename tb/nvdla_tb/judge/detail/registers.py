"""Details of registers, polls and interrupts that are not what the program or the hardware's rules say."""

from __future__ import annotations

from nvdla_tb.judge.detail.base import Detail
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import Register


class UnmappedAccess(Detail, frozen=True, tag=True):
    """An access of an address without a register; ``value`` is the word that was written or read."""

    address: int
    is_write: bool
    value: int


class MoreUnmappedAccesses(Detail, frozen=True, tag=True):
    """How many accesses of addresses without a register there were besides those that have a finding of their own."""

    count: int


class WrongLine(Detail, frozen=True, tag=True):
    """An interrupt line that is not what the registers of GLB say.

    Attributes:
        must: value that it must have.
        since: cycle of the access from which on it must be that.
        status: bits of S_INTR_STATUS that were read last and not cleared.
        mask: S_INTR_MASK as it was written.
    """

    must: bool
    since: int
    status: int
    mask: int


class UnexpectedInterrupt(Detail, frozen=True, tag=True):
    """A done interrupt of no layer that was started, such as ``SDP_1``."""

    name: str


class EarlyInterrupt(Detail, frozen=True, tag=True):
    """A done interrupt, such as ``SDP_1``, that rose while the answer to a write of its layer was still out.

    Attributes:
        name: the interrupt.
        ram: port of the layer's last write.
        axi_id: its id.
        address: its address.
        written: cycle in which its data were accepted.
    """

    name: str
    ram: Ram
    axi_id: int
    address: int
    written: int


class MissingInterrupt(Detail, frozen=True, tag=True):
    """A done interrupt that a layer owes at its end."""

    name: str


class WrongRegister(Detail, frozen=True, tag=True):
    """A register that read another value than the program expects; ``field`` is the first that differs, if any."""

    register: str
    expected: int
    got: int
    field: str | None = None

    @classmethod
    def of(cls, register: Register, expected: int, got: int) -> WrongRegister:
        """Return the detail of a word that differs, with the first field in which it does."""
        differing = (f.name for f in register.fields if f.extract(expected) != f.extract(got))
        return cls(register.full_name, expected, got, next(differing, None))


class WrongCounter(Detail, frozen=True, tag=True):
    """A statistics counter that read another value than the layer counts; ``at_least`` makes that a bound.

    ``most`` is an upper bound, or None.
    """

    register: str
    expected: int
    at_least: bool
    got: int
    most: int | None = None


class PollExpired(Detail, frozen=True, tag=True):
    """A poll that never saw what it waits for; ``comparison`` is that of the program."""

    register: str
    comparison: str
    expected: int
    got: int
    deadline_cycles: int


class PollNeverHolds(Detail, frozen=True, tag=True):
    """A poll whose register rests at a value for which it never ends; ``comparison`` is that of the program."""

    register: str
    comparison: str
    expected: int
    got: int


class LineNeverRises(Detail, frozen=True, tag=True):
    """A wait of the program for the interrupt line, which nothing that was started raises any more."""
