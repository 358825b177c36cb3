"""Details of how a simulation ended other than by the end of its program."""

from __future__ import annotations

from enum import Enum

import msgspec

from nvdla_tb.judge.detail.base import Detail
from nvdla_tb.judge.detail.ports import Unmatched
from nvdla_tb.judge.detail.registers import UnmappedAccess
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.nvdla.memory import Ram


class Nothing(Detail, frozen=True, tag=True):
    """Nothing was compared.

    Attributes:
        unmapped: accesses of addresses without a register, which may be why.
        first: the first few of them.
    """

    unmapped: int = 0
    first: tuple[UnmappedAccess, ...] = ()


class Outstanding(msgspec.Struct, frozen=True):
    """A request that memory has not answered."""

    ram: Ram
    reading: bool
    address: int
    axi_id: int


class UnitState(msgspec.Struct, frozen=True):
    """The states of both register groups of a unit, as ``S_STATUS`` names them."""

    unit: str
    states: tuple[str, str]


class NoAnswer(Detail, frozen=True, tag=True):
    """A register access that CSB did not accept, or did not answer, in time."""

    access: str
    accepted: bool
    deadline_cycles: int


class Hang(Detail, frozen=True, tag=True):
    """Nothing moved any more, or memory did in vain, and what was outstanding then.

    Attributes:
        quiet_cycles: how long nothing had moved, or had in vain.
        waiting_for: interrupts that the program waits for.
        csb: the register access under way, or None.
        running: layers whose end was not seen.
        requests: memory requests without an answer.
        unmatched: halves of writes.
        units: units that are not idle in both groups.
        unanswered: the read of a state that got no answer, so that the rest is not known, or None.
        in_vain: requests and write beats of that time, more than for all memory together, of which none wrote a byte
            that a layer lacked; 0 when nothing moved.
        interrupt_status: what S_INTR_STATUS reads while the interrupt line is high, None while it is low.
        awaits_line: whether the program waits for the interrupt line itself.
    """

    quiet_cycles: int
    waiting_for: tuple[str, ...]
    csb: str | None
    running: tuple[LayerId, ...]
    requests: tuple[Outstanding, ...]
    unmatched: tuple[Unmatched, ...]
    units: tuple[UnitState, ...]
    unanswered: NoAnswer | None = None
    in_vain: int = 0
    interrupt_status: int | None = None
    awaits_line: bool = False


class StandStill(Detail, frozen=True, tag=True):
    """Simulation time that did not pass while the simulator computed, as it does when RTL loops without a delay.

    Attributes:
        time_ps: the simulation time, in picoseconds; that of the first cycle.
        cycles: in which of so many cycles, from that of the finding on, it is.
        processor_seconds: how long the simulator computed in this time step, 0.0 when it gave up by itself.
        said: the simulator's words when it gave up, else empty.
    """

    time_ps: int
    cycles: int
    processor_seconds: float
    said: str


class DriverFaultKind(Enum):
    """How a driver in C went wrong."""

    IDLES = "idles"
    WAITS = "waits"
    SILENT = "silent"
    ABSENT = "absent"
    RETURNED = "returned"
    CALL = "call"
    PROCESS = "process"


class DriverFault(Detail, frozen=True, tag=True):
    """What a driver in C did wrong, and what it did before.

    Attributes:
        driver: its library and its entry.
        kind: what it did: made accesses that move nothing, waited for an interrupt that did not come, made no access
            for too long, never connected, returned another value than 0, called a function with what it does not take,
            or was running when the process ended.
        message: seconds, value or reason.
        accesses: its last accesses, the newest at the end.
    """

    driver: str
    kind: DriverFaultKind
    message: str
    accesses: tuple[str, ...]


class Call(msgspec.Struct, frozen=True):
    """A line of Python that was being carried out."""

    path: str
    line: int
    function: str
    text: str


class Raised(Detail, frozen=True, tag=True):
    """An exception that ended a test in Python.

    Attributes:
        kind: name of its type.
        message: its words, with the nearest name for one that is misspelt.
        calls: the lines of the user's files that led to it, the innermost at the end.
        inside: the line of a library that raised it, None when that is one of the user's.
    """

    kind: str
    message: str
    calls: tuple[Call, ...]
    inside: Call | None = None


class Note(Detail, frozen=True, tag=True):
    """The words of a test, the simulator or a tool; the first line sums them up."""

    message: str
