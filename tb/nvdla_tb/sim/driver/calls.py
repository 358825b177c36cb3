"""What a driver asks of the bench, one type a function of ``nvdla_tb.h``, and the table of those functions."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass

VERSION = 1
"""As ``NVDLA_TB_VERSION``."""


class Functions(Structure):
    """As ``struct nvdla_tb``."""

    _fields_ = (
        ("version", c_uint32),
        ("reg_read", CFUNCTYPE(c_uint32, c_uint32)),
        ("reg_write", CFUNCTYPE(None, c_uint32, c_uint32)),
        ("mem_read", CFUNCTYPE(None, c_uint32, c_uint64, c_void_p, c_uint64)),
        ("mem_write", CFUNCTYPE(None, c_uint32, c_uint64, c_void_p, c_uint64)),
        ("allocate", CFUNCTYPE(c_uint64, c_uint32, c_uint64, c_uint64)),
        ("reserve", CFUNCTYPE(None, c_uint32, c_uint64, c_uint64)),
        ("wait_interrupt", CFUNCTYPE(c_int, c_uint64)),
        ("cycles", CFUNCTYPE(c_uint64)),
        ("microseconds", CFUNCTYPE(c_uint64)),
        ("delay", CFUNCTYPE(None, c_uint64)),
        ("log", CFUNCTYPE(None, c_char_p)),
    )


ENTRY = CFUNCTYPE(c_int, POINTER(Functions))
"""As ``nvdla_tb_entry``."""


@dataclass(frozen=True)
class Write:
    """Write registers, as pairs of address and value."""

    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Read:
    """Read a register; the answer is its word."""

    address: int


@dataclass(frozen=True)
class MemoryRead:
    """Read memory; the answer is its bytes."""

    ram: int
    address: int
    nbytes: int


@dataclass(frozen=True)
class MemoryWrite:
    """Write memory."""

    ram: int
    address: int
    data: bytes


@dataclass(frozen=True)
class Allocate:
    """Make room; the answer is its address."""

    ram: int
    nbytes: int
    alignment_bytes: int


@dataclass(frozen=True)
class Reserve:
    """Make room at an address."""

    ram: int
    address: int
    nbytes: int


@dataclass(frozen=True)
class Wait:
    """Wait for the interrupt line, without a limit for 0; the answer is whether it is high."""

    most_cycles: int


@dataclass(frozen=True)
class Now:
    """Ask for the time; the answer is the cycle."""


@dataclass(frozen=True)
class Delay:
    """Let cycles pass."""

    cycles: int


@dataclass(frozen=True)
class Log:
    """Write a line to the log."""

    text: str


@dataclass(frozen=True)
class Returned:
    """The entry has returned; nothing is answered."""

    code: int


@dataclass(frozen=True)
class Failed:
    """The driver cannot go on; nothing is answered."""

    error: Exception


Call = Write | Read | MemoryRead | MemoryWrite | Allocate | Reserve | Wait | Now | Delay | Log | Returned | Failed


def entry_of(library: str, name: str) -> ctypes._CFunctionType:
    """Load a library and return its entry.

    Raises:
        OSError: for what is no library that this process can load.
        AttributeError: for one without such a function.
    """
    return ENTRY((name, ctypes.CDLL(library)))
