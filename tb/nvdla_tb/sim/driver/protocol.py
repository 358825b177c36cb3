"""The messages between a driver in another process and the bench; ``nvdla_tb_client.h`` has them in C.

A request has 32 bytes, a reply 16, all numbers little-endian. Bytes follow a request to write memory or to log, and a
reply to a read of memory or with an error.
"""

from __future__ import annotations

import struct
from enum import IntEnum

VERSION = 1
"""The value of the reply that the bench greets a client with."""

REQUEST = struct.Struct("<IIQQQ")
"""Operation, memory, address, value, and how many bytes follow or are asked for."""

REPLY = struct.Struct("<IIQ")
"""Status, how many bytes follow, value."""

MOST_BYTES = 1 << 24
"""Bytes of one message."""


class Operation(IntEnum):
    """What a client may ask for, as functions of ``nvdla_tb.h``."""

    REG_READ = 1
    REG_WRITE = 2
    MEM_READ = 3
    MEM_WRITE = 4
    ALLOCATE = 5
    RESERVE = 6
    WAIT_INTERRUPT = 7
    CYCLES = 8
    DELAY = 9
    LOG = 10
    EXIT = 11


class Status(IntEnum):
    """What a reply means; after anything but ``DONE`` the bench closes the connection."""

    DONE = 0
    FAILED = 1
    BUSY = 2
