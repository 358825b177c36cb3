"""Details of wrong bytes, and of accesses that memory refuses."""

from __future__ import annotations

from nvdla_models.layout import Element
from nvdla_tb.judge.detail.base import Detail
from nvdla_tb.nvdla.memory import Ram


class Mismatch(Detail, frozen=True, tag=True):
    """Bytes that are wrong in the same way, and the first of them.

    Attributes:
        nbytes: how many bytes.
        elements: how many elements they belong to; for stray writes, bytes.
        ram: port that carried them.
        address: address of the first byte.
        element: element of the first byte, None for a stray write.
        expected: value of the first byte, None for a stray write.
        got: value of the first byte, None when it was never written.
        axi_id: id of the first wrong beat, None when there is none.
        rule: what the whole element holds and should hold, when a tolerance judged it.
    """

    nbytes: int
    elements: int
    ram: Ram
    address: int
    element: Element | None
    expected: int | None
    got: int | None
    axi_id: int | None
    rule: str | None = None


class CrcMismatch(Detail, frozen=True, tag=True):
    """A golden CRC-32 that memory does not have; ``holes`` counts its bytes that were never written."""

    address: int
    nbytes: int
    expected: int
    got: int
    holes: int = 0


class GoldenMismatch(Detail, frozen=True, tag=True):
    """The first byte of memory that differs from a golden file."""

    file_name: str
    address: int
    expected: int
    got: int


class UnpredictedGolden(Detail, frozen=True, tag=True):
    """Golden bytes that differ from memory where no layer writes; ``address`` is that of the first."""

    file_name: str
    nbytes: int
    address: int


class BadAccess(Detail, frozen=True, tag=True):
    """An access that memory refuses.

    Attributes:
        ram: port of the access.
        reading: whether it is a read.
        nbytes: its length.
        address: where it was sent.
        axi_id: its id.
        byte: the first byte that is refused.
        outside: whether that byte lies outside every allocation; else it was read and never written.
        place: where the byte lies, relative to the nearest allocation.
        named: whether it is outside, and the registers of a layer that runs say that data lie there.
    """

    ram: Ram
    reading: bool
    nbytes: int
    address: int
    axi_id: int
    byte: int
    outside: bool
    place: str
    named: bool = False


class MoreBadAccesses(Detail, frozen=True, tag=True):
    """How many accesses memory refused besides those that have a finding of their own."""

    count: int


class NothingRead(Detail, frozen=True, tag=True):
    """A layer that takes operands from memory, and read nothing."""


class EarlyAccess(Detail, frozen=True, tag=True):
    """Memory was accessed after a reset and before the first layer."""


class Restless(Detail, frozen=True, tag=True):
    """Memory is still accessed although all layers are done."""


class ShortGolden(Detail, frozen=True, tag=True):
    """Bytes of a golden check that layers write and its file does not hold; ``address`` is that of the first."""

    file_name: str
    nbytes: int
    address: int
