"""The compiled harness as Python sees it: functions, settings and logs in this very process."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_uint32, c_uint64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from cocotb.handle import SimHandleBase
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.pages import PAGE_BYTES
from nvdla_tb.stimulus.exchange import FIRST_POINT, PINS_MARKER

MAX_BUS_BYTES = 64


def _record(long: str, short: str, *arrays: tuple[str, str, int]) -> np.dtype[Any]:
    """Return the type of a record: names of fields of 8 bytes, of 4 bytes, and arrays."""
    return np.dtype([*((name, "u8") for name in long.split()), *((name, "u4") for name in short.split()), *arrays])


WRITE_RECORD = _record(
    "cycle seen address", "id unused", ("strobe", "u1", MAX_BUS_BYTES // 8), ("data", "u1", MAX_BUS_BYTES)
)
READ_RECORD = _record("cycle address", "id beats")
ANSWER_RECORD = _record("cycle written", "id unused")
FAULT_RECORD = _record("cycle address nbytes at", "id reading kind unused")
VIOLATION_RECORD = _record("cycle", "rule unused")
ACCESS_RECORD = _record("cycle", "address value is_write is_line")
RESULT_RECORD = _record("cycle", "batch index status value")
OUTSTANDING_RECORD = _record("address", "id reading")
OP_RECORD = _record("", "kind address value nonposted wake mask shift comparison batch deadline_cycles")
_FILLING_RECORDS = 1 << 14
OUTSIDE = 1
"""Kind of a fault: an access outside every allocation; any other is a read of bytes never written."""


class PortSettingsRecord(Structure):
    """Settings of a port's slave."""

    _fields_ = (
        ("seed", c_uint64),
        ("ready_stall", c_double),
        ("valid_stall", c_double),
        *((name, c_uint32) for name in ("bus_bytes", "latency_cycles", "jitter_cycles", "reorder", "log_reads")),
        *((name, c_uint32) for name in ("atom_bytes", "write_latency_cycles", "pause_cycles")),
        *((name, c_uint32) for name in ("pause_period_cycles", "pause_channels", "read_clients", "write_clients")),
    )


class CsbSettingsRecord(Structure):
    """Settings of the CSB player."""

    _fields_ = (("seed", c_uint64), ("stall", c_double), ("deadline_cycles", c_uint32), ("most_outstanding", c_uint32))


RECORD_BYTES = {
    "WriteRecord": WRITE_RECORD.itemsize,
    "ReadRecord": READ_RECORD.itemsize,
    "AnswerRecord": ANSWER_RECORD.itemsize,
    "FaultRecord": FAULT_RECORD.itemsize,
    "ViolationRecord": VIOLATION_RECORD.itemsize,
    "PortSettings": ctypes.sizeof(PortSettingsRecord),
    "Outstanding": OUTSTANDING_RECORD.itemsize,
    "Op": OP_RECORD.itemsize,
    "Result": RESULT_RECORD.itemsize,
    "Access": ACCESS_RECORD.itemsize,
    "CsbViolation": VIOLATION_RECORD.itemsize,
    "CsbSettings": ctypes.sizeof(CsbSettingsRecord),
    "Page": PAGE_BYTES + PAGE_BYTES // 8,
}
"""Sizes of all records that cross the border, by their names in the harness."""

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    # name: result, arguments
    "nvb_record_bytes": (c_uint32, c_char_p),
    "nvb_start": (None, c_uint64, c_uint64, c_uint64),
    "nvb_show_time": (None, c_int),
    "nvb_counts": (POINTER(c_uint32), POINTER(c_uint32)),
    "nvb_write_counts": (None, c_char_p),
    "nvb_csb_configure": (None, POINTER(CsbSettingsRecord)),
    "nvb_csb_drop_all": (None,),
    "nvb_csb_cancel": (None, c_uint32),
    "nvb_csb_submit": (None, c_void_p, c_uint32),
    "nvb_csb_serve_interrupts": (None, c_uint32),
    "nvb_csb_access_count": (c_uint64,),
    "nvb_csb_service_failed": (c_uint32,),
    "nvb_csb_fired": (POINTER(c_uint32),),
    "nvb_csb_pending": (c_uint32, POINTER(c_uint32), POINTER(c_uint32)),
    "nvb_port_configure": (None, c_uint32, POINTER(PortSettingsRecord)),
    "nvb_port_log_reads": (None, c_uint32),
    "nvb_port_flush": (None, c_uint32),
    "nvb_port_allocate": (None, c_uint32, c_void_p, c_uint32),
    "nvb_port_page": (c_void_p, c_uint32, c_uint64, c_uint32),
    "nvb_port_handshakes": (c_uint64, c_uint32),
    "nvb_port_read_requests": (c_uint64, c_uint32),
    "nvb_port_most_outstanding": (None, c_uint32, POINTER(c_uint32), POINTER(c_uint32)),
    "nvb_port_addresses_waiting": (c_uint32, c_uint32),
    "nvb_port_beats_waiting": (c_uint32, c_uint32),
    "nvb_port_outstanding": (c_uint32, c_uint32, c_void_p, c_uint32),
    **{f"nvb_csb_{log}": (c_void_p, POINTER(POINTER(c_uint32))) for log in ("accesses", "results", "violations")},
    **{
        f"nvb_port_{log}": (c_void_p, c_uint32, POINTER(POINTER(c_uint32)))
        for log in ("writes", "reads", "answers", "faults", "violations")
    },
}


def is_native(dut: SimHandleBase) -> bool:
    """Return whether the model was built with the native back end."""
    return hasattr(dut, "harness_wake")


NEEDS_COROUTINES = (
    f"the native back end compiles the agents into the model, and their pins with them: mark the test {PINS_MARKER} to "
    f"play it with agents in Python"
)
"""What a test does that needs more than the native back end offers."""


class Lease:
    """The use of the harness, which works for the bench that has configured it last.

    ::

        lease = Lease()
        lease.check()       # refuses once there is another
    """

    _latest: ClassVar[Lease | None] = None

    def __init__(self) -> None:
        """Take the harness over."""
        Lease._latest = self

    @property
    def is_held(self) -> bool:
        """Whether nobody has taken the harness over since."""
        return Lease._latest is self

    def check(self) -> None:
        """Refuse what only the bench may do that the harness works for.

        Raises:
            InputError: when it is another's by now.
        """
        if not self.is_held:
            raise InputError(
                "a bench must not be used after the test has started another, which took its memory and CSB"
            )


@cache
def library() -> ctypes.CDLL:
    """Return the functions of the running simulator.

    Raises:
        RecordSizeError: when the harness was compiled with other records.
    """
    functions = ctypes.CDLL(None)
    for name, (result, *arguments) in _SIGNATURES.items():
        function = getattr(functions, name)
        function.restype, function.argtypes = result, arguments
    check_records(functions)
    return functions


def counts() -> NDArray[np.uint32]:
    """Return what was counted of the RTL's code so far, shape (points,), as it lies in the model that counts on.

    A model that does not count has no points. Their order is that of their build.
    """
    points = c_uint32()
    address = library().nvb_counts(ctypes.byref(points))
    return np.ctypeslib.as_array(address, (points.value,)) if points.value else np.zeros(0, dtype=np.uint32)


def name_points(path: Path) -> int:
    """Write the points in Verilator's format, numbered in the place of counts from ``FIRST_POINT`` on; return how many.

    Those that share a name have the sum of their numbers, which is no number.
    """
    own = counts()
    own[:] = np.arange(FIRST_POINT, FIRST_POINT + len(own))
    library().nvb_write_counts(os.fsencode(path))
    return len(own)


class RecordSizeError(Exception):
    """A record of the harness that has another size than here."""


def check_records(functions: ctypes.CDLL) -> None:
    """Refuse a harness whose records have other sizes than here.

    Raises:
        RecordSizeError: naming the first such record.
    """
    for name, nbytes in RECORD_BYTES.items():
        reported = functions.nvb_record_bytes(name.encode())
        if nbytes != reported:
            raise RecordSizeError(f"{name} must have {reported} bytes as in the harness, not {nbytes}")


class RecordLog:
    """One log of the harness: an array that it fills and that ``drain`` empties."""

    def __init__(self, dtype: np.dtype[Any], locate: Callable[..., int], *arguments: int) -> None:
        """Find the log by the harness's function that returns where its records lie, and its count by reference."""
        self._count = POINTER(c_uint32)()
        self._address = locate(*arguments, ctypes.byref(self._count))
        self._dtype = dtype
        self._fetched = np.zeros(0, dtype=dtype)

    @property
    def is_filling(self) -> bool:
        """Whether it holds enough records to be emptied."""
        return bool(self._count[0] >= _FILLING_RECORDS)

    def drain(self) -> NDArray[np.void]:
        """Return a copy of the records since the last call, shape (n,)."""
        count = self._count[0]
        self._count[0] = 0
        return np.frombuffer(ctypes.string_at(self._address, count * self._dtype.itemsize), dtype=self._dtype)

    def fetch(self) -> None:
        """Take the records by now from the harness; ``take`` hands them out."""
        self._fetched = np.concatenate([self._fetched, self.drain()])

    def take(self, at: str, until_cycle: int | None) -> NDArray[np.void]:
        """Return the fetched records up to a cycle, or all for None; field ``at`` says when each was."""
        fetched = self._fetched
        if not len(fetched):
            return fetched
        count = len(fetched) if until_cycle is None else int(np.searchsorted(fetched[at], until_cycle, side="right"))
        self._fetched = fetched[count:]
        return fetched[:count]
