"""The functions of ``nvdla_tb.h``, which a driver is given, and the one that it has."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_uint32, c_uint64, c_void_p

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


def entry_of(library: str, name: str) -> ctypes._CFunctionType:
    """Load a library and return its entry.

    Raises:
        OSError: for what is no library that this process can load.
        AttributeError: for one without such a function.
    """
    return ENTRY((name, ctypes.CDLL(library)))
