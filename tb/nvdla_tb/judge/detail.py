"""Details of findings: what exactly is wrong, as data. Their words are in ``text``."""

from __future__ import annotations

from enum import Enum

import msgspec

from nvdla_models.layout import Element
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import Register


class Detail(msgspec.Struct, frozen=True, tag=True):
    """The subject of a finding; each kind of detail is a subclass."""


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
    """

    ram: Ram
    reading: bool
    nbytes: int
    address: int
    axi_id: int
    byte: int
    outside: bool
    place: str


class MoreBadAccesses(Detail, frozen=True, tag=True):
    """How many accesses memory refused besides those that have a finding of their own."""

    count: int


class UnmappedAccess(Detail, frozen=True, tag=True):
    """An access of an address without a register; ``value`` is the word that was written or read."""

    address: int
    is_write: bool
    value: int


class MoreUnmappedAccesses(Detail, frozen=True, tag=True):
    """How many accesses of addresses without a register there were besides those that have a finding of their own."""

    count: int


class Nothing(Detail, frozen=True, tag=True):
    """Nothing was compared.

    Attributes:
        unmapped: accesses of addresses without a register, which may be why.
        first: the first few of them.
    """

    unmapped: int = 0
    first: tuple[UnmappedAccess, ...] = ()


class NothingRead(Detail, frozen=True, tag=True):
    """A layer that takes operands from memory, and read nothing."""


class PortViolation(Detail, frozen=True, tag=True):
    """A rule of a memory port that was broken, as its index in ``wrapped_rules.MEMORY_RULES``."""

    ram: Ram
    rule: int


class CsbViolation(Detail, frozen=True, tag=True):
    """A rule of the register port that was broken, as its index in ``wrapped_rules.REGISTER_RULES``."""

    rule: int


class HandshakeViolation(Detail, frozen=True, tag=True):
    """A rule between host and processor that was broken.

    Attributes:
        rule: the number that its system gives the rule.
        must: the rule in words.
        frame: the frame that it is about.
        seen: what was seen instead.
    """

    rule: int
    must: str
    frame: int
    seen: str


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


class WrongOutstanding(Detail, frozen=True, tag=True):
    """Requests that waited for their answers, more at a time than the memory interface was told, or never as many.

    Attributes:
        ram: their port.
        reading: whether they are reads, counted in beats, or writes, counted in bursts.
        limit: how many were allowed.
        got: how many there were.
    """

    ram: Ram
    reading: bool
    limit: int
    got: int


class UnfairTurns(Detail, frozen=True, tag=True):
    """Turns of a client that always had requests, and that differ from its weight.

    Attributes:
        ram: the port.
        reading: whether they are of reads or of writes.
        axi_id: id of the client.
        weight: requests that a turn must have.
        got: requests of most turns that differ, or 0 when the client had hardly a turn.
        turns: how many turns the client had while others had requests, too.
    """

    ram: Ram
    reading: bool
    axi_id: int
    weight: int
    got: int
    turns: int


class UnknownPin(Detail, frozen=True, tag=True):
    """A pin that is X or Z while its valid is high, or out of reset when it needs none; ``ram`` None stands for CSB."""

    ram: Ram | None
    pin: str
    value: str


class Unmatched(Detail, frozen=True, tag=True):
    """Write addresses that lack data, and data beats that lack an address."""

    ram: Ram
    addresses: int
    beats: int


class EarlyAccess(Detail, frozen=True, tag=True):
    """Memory was accessed after a reset and before the first layer."""


class Restless(Detail, frozen=True, tag=True):
    """Memory is still accessed although all layers are done."""


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


class ShortGolden(Detail, frozen=True, tag=True):
    """Bytes of a golden check that layers write and its file does not hold; ``address`` is that of the first."""

    file_name: str
    nbytes: int
    address: int


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


AnyDetail = (
    Mismatch
    | CrcMismatch
    | GoldenMismatch
    | UnpredictedGolden
    | BadAccess
    | MoreBadAccesses
    | UnmappedAccess
    | MoreUnmappedAccesses
    | Nothing
    | NothingRead
    | PortViolation
    | CsbViolation
    | HandshakeViolation
    | WrongLine
    | WrongOutstanding
    | UnfairTurns
    | UnknownPin
    | Unmatched
    | EarlyAccess
    | Restless
    | UnexpectedInterrupt
    | EarlyInterrupt
    | MissingInterrupt
    | WrongRegister
    | WrongCounter
    | PollExpired
    | PollNeverHolds
    | LineNeverRises
    | ShortGolden
    | Hang
    | StandStill
    | NoAnswer
    | DriverFault
    | Raised
    | Note
)
