"""A finding of every kind, with its words and what its detail adds to its signature."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import (
    BadAccess,
    Call,
    CrcMismatch,
    CsbViolation,
    DriverFault,
    DriverFaultKind,
    EarlyAccess,
    EarlyInterrupt,
    GoldenMismatch,
    HandshakeViolation,
    Hang,
    LineNeverRises,
    Mismatch,
    MissingInterrupt,
    MoreBadAccesses,
    MoreUnmappedAccesses,
    NoAnswer,
    Note,
    Nothing,
    NothingRead,
    Outstanding,
    PollExpired,
    PollNeverHolds,
    PortViolation,
    Raised,
    Restless,
    ShortGolden,
    StandStill,
    UnexpectedInterrupt,
    UnfairTurns,
    UnitState,
    UnknownPin,
    UnmappedAccess,
    Unmatched,
    UnpredictedGolden,
    WrongCounter,
    WrongLine,
    WrongOutstanding,
    WrongRegister,
)
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.nvdla.memory import Ram

LAYER = LayerId(2, "SDP", 1)
CUBE = LayerId(3, "CONV", 0, 4, 8)
WRONG = Mismatch(6, 3, Ram.MC, 0x1000, Element(1, 2, 3), 1, 2, 4)
FIRST = "first at c=1 h=2 w=3 (address 0x1000 of MC)"
STUCK = Hang(
    5000,
    ("SDP_0", "PDP_1"),
    "read of SDP.S_STATUS",
    (LAYER, CUBE),
    (Outstanding(Ram.MC, True, 0x1000, 4), Outstanding(Ram.CVSRAM, False, 0x2000, 0)),
    (Unmatched(Ram.MC, 1, 2),),
    (UnitState("SDP", ("RUNNING", "PENDING")), UnitState("PDP", ("IDLE", "RUNNING"))),
)
MISSED = UnmappedAccess(0x5004, True, 1)
LOST = NoAnswer("read of PDP.S_STATUS", True, 500)
LOOPS = "  the RTL loops in zero time: look for a combinational loop, a loop or a task without delay, that begins then"


class Told(NamedTuple):
    """A finding, its words, and the last parts of its signature."""

    finding: Finding
    text: str
    cause: tuple[str, ...] = ()


TOLD = (
    Told(
        Finding(Check.VALUE, WRONG, 30, LAYER),
        f"wrong value: 3 elements; layer 2 (SDP, group 1): {FIRST}, expected 0x01, got 0x02, at cycle 30 with id 4",
    ),
    Told(
        Finding(Check.VALUE, Mismatch(1, 1, Ram.MC, 0, Element(0, 0, 0), 0, 0, 0), 0, CUBE),
        "wrong value: 1 element; layer 3 (CONV, group 0, cube 4): first at c=0 h=0 w=0 (address 0x0 of MC), "
        "expected 0x00, got 0x00, at cycle 0 with id 0",
    ),
    Told(
        Finding(Check.VALUE, replace(WRONG, elements=1, rule="1.5, not 1.0 +- 0.1"), 30, LAYER),
        f"wrong value: 1 element; layer 2 (SDP, group 1): {FIRST}, 1.5, not 1.0 +- 0.1, at cycle 30 with id 4",
    ),
    Told(
        Finding(Check.MISSING, replace(WRONG, got=None, axi_id=None), None, LAYER),
        f"missing write: 3 elements; layer 2 (SDP, group 1): {FIRST}, expected 0x01",
    ),
    Told(
        Finding(Check.DOUBLE, WRONG, 30, LAYER),
        "double write with another value: 3 elements; layer 2 (SDP, group 1): "
        f"{FIRST}, expected 0x01, got 0x02, at cycle 30 with id 4",
    ),
    Told(
        Finding(Check.LATE, WRONG, 30, LAYER),
        f"done before its data: 3 elements; layer 2 (SDP, group 1): {FIRST}, "
        "at cycle 30 with id 4, after the layer's interrupt",
    ),
    Told(
        Finding(Check.STRAY, Mismatch(8, 8, Ram.CVSRAM, 0x1000, None, None, 2, 4), 30),
        "stray write: 8 bytes; first at address 0x1000 of CVSRAM, got 0x02, at cycle 30 with id 4",
    ),
    Told(
        Finding(Check.GOLDEN, CrcMismatch(0x1000, 0x40, 0xAB, 0xCD)),
        "CRC-32 of 0x1000 + 0x40 must be 0x000000ab, not 0x000000cd",
    ),
    Told(
        Finding(Check.GOLDEN, CrcMismatch(0x1000, 0x40, 0xAB, 0xCD, 7)),
        "CRC-32 of 0x1000 + 0x40 must be 0x000000ab, not 0x000000cd, 7 bytes never written",
    ),
    Told(
        Finding(Check.GOLDEN, GoldenMismatch("out.dat", 0x1000, 1, 0xFF)),
        "out.dat: address 0x1000 must hold 0x01, not 0xff",
        ("out.dat",),
    ),
    Told(
        Finding(Check.GOLDEN, UnpredictedGolden("out.dat", 9, 0x1000)),
        "out.dat: 9 bytes that no layer writes differ from memory, first at 0x1000",
    ),
    Told(
        Finding(Check.MEMORY, BadAccess(Ram.MC, True, 8, 0x1000, 4, 0x1004, True, "src+0x4"), 30),
        "MC: read of 8 bytes at 0x1000 with id 4 at cycle 30: outside every allocation at 0x1004 (src+0x4)",
        ("MC", "read", "outside"),
    ),
    Told(
        Finding(Check.MEMORY, BadAccess(Ram.CVSRAM, True, 8, 0x1000, 4, 0x1004, False, "src+0x4"), 30),
        "CVSRAM: read of 8 bytes at 0x1000 with id 4 at cycle 30: byte 0x1004 was never written (src+0x4)",
        ("CVSRAM", "read", "poison"),
    ),
    Told(
        Finding(Check.MEMORY, BadAccess(Ram.MC, False, 8, 0x1000, 4, 0x1004, True, "dst+0x4"), 30),
        "MC: write of 8 bytes at 0x1000 with id 4 at cycle 30: outside every allocation at 0x1004 (dst+0x4)",
        ("MC", "write", "outside"),
    ),
    Told(Finding(Check.MEMORY, MoreBadAccesses(12)), "12 more memory faults"),
    Told(
        Finding(Check.PROTOCOL, PortViolation(Ram.MC, 6), 9),
        "protocol: MC: wlast must be set on the last beat of a burst and on no other (broken at cycle 9)",
        ("MC", "6"),
    ),
    Told(
        Finding(Check.PROTOCOL, CsbViolation(1), 9),
        "protocol: CSB: nvdla2csb_wr_complete must answer a non-posted write that was accepted and not answered "
        "(broken at cycle 9)",
        ("CSB", "1"),
    ),
    Told(
        Finding(Check.PROTOCOL, HandshakeViolation(4, "a slot must wait", 2, "address 0x80 is read"), 9),
        "handshake: a slot must wait: address 0x80 is read, frame 2 (cycle 9)",
        ("handshake", "4"),
    ),
    Told(
        Finding(Check.INTERRUPT, WrongLine(True, 40, 0x5, 0x4), 90),
        "interrupt: dla_intr must be high soon after cycle 40: S_INTR_STATUS holds 0x5, S_INTR_MASK 0x4 (cycle 90)",
        ("line", "high"),
    ),
    Told(
        Finding(Check.MEMORY, WrongOutstanding(Ram.MC, True, 4, 9), 90),
        "MC: at most 4 beats of reads may be outstanding, not 9 (cycle 90)",
        ("MC", "read"),
    ),
    Told(
        Finding(Check.MEMORY, WrongOutstanding(Ram.MC, False, 5, 2), 92),
        "MC: 5 writes must at some time be outstanding, not 2 (cycle 92)",
        ("MC", "write"),
    ),
    Told(
        Finding(Check.MEMORY, UnfairTurns(Ram.MC, False, 2, 3, 1, 40), 95),
        "MC: write id 2 must have 3 requests a turn; 40 turns, 1 in most of those that differ (cycle 95)",
        ("MC", "write", "2"),
    ),
    Told(
        Finding(Check.PROTOCOL, UnknownPin(None, "dla_intr", "X"), 3),
        "CSB: dla_intr is X when it must be known, at cycle 3",
        ("CSB", "dla_intr"),
    ),
    Told(
        Finding(Check.PROTOCOL, UnknownPin(Ram.MC, "wdata", "XX"), 3),
        "MC: wdata is XX while valid, at cycle 3",
        ("MC", "wdata"),
    ),
    Told(
        Finding(Check.PROTOCOL, Unmatched(Ram.MC, 1, 0)),
        "MC: 1 write address without all data, 0 beats without address",
    ),
    Told(
        Finding(Check.PROTOCOL, EarlyAccess(), 9),
        "protocol: memory must not be accessed before the first layer (before cycle 9)",
    ),
    Told(
        Finding(Check.PROTOCOL, Restless(), 900),
        "memory must rest when all layers are done, but it is still accessed (cycle 900)",
    ),
    Told(
        Finding(Check.INTERRUPT, UnexpectedInterrupt("SDP_1"), 30),
        "protocol: interrupt SDP_1 must be that of a layer that was started (cycle 30)",
        ("SDP_1",),
    ),
    Told(
        Finding(Check.UNANSWERED, EarlyInterrupt("SDP_1", Ram.MC, 4, 0x1000, 25), 30, LAYER),
        "done before its answers: layer 2 (SDP, group 1): that to the write of 0x1000 of MC with id 4 (cycle 25) "
        "was still out when SDP_1 was raised (cycle 30)",
        ("SDP_1",),
    ),
    Told(
        Finding(Check.INTERRUPT, MissingInterrupt("SDP_1")),
        "interrupt SDP_1 of a layer that was started must be raised by its end",
        ("SDP_1",),
    ),
    Told(
        Finding(Check.REGISTER, WrongRegister("SDP.S_STATUS", 1, 0x10), 12),
        "SDP.S_STATUS must read 0x1, not 0x10 (cycle 12)",
        ("SDP.S_STATUS",),
    ),
    Told(
        Finding(Check.COUNTER, WrongCounter("SDP.D_STATUS_NAN_INPUT_NUM", 5, False, 6), 12, LAYER),
        "SDP.D_STATUS_NAN_INPUT_NUM must read 5 after layer 2 (SDP, group 1), not 6 (cycle 12)",
        ("SDP.D_STATUS_NAN_INPUT_NUM",),
    ),
    Told(
        Finding(Check.COUNTER, WrongCounter("PDP.D_PERF_READ_STALL", 5, True, 4), None, LAYER),
        "PDP.D_PERF_READ_STALL must read at least 5 after layer 2 (SDP, group 1), not 4",
        ("PDP.D_PERF_READ_STALL",),
    ),
    Told(
        Finding(Check.REGISTER, PollExpired("GLB.S_INTR_STATUS", "equal", 1, 0, 500), 700),
        "poll of GLB.S_INTR_STATUS for equal 0x1 still reads 0x0 after 500 cycles",
        ("GLB.S_INTR_STATUS",),
    ),
    Told(
        Finding(Check.HANG, PollNeverHolds("CDMA.S_CBUF_FLUSH_STATUS", "equal", 0, 1)),
        "poll of CDMA.S_CBUF_FLUSH_STATUS for equal 0x0 never ends: it reads 0x1 and does not change",
        ("CDMA.S_CBUF_FLUSH_STATUS",),
    ),
    Told(
        Finding(Check.HANG, LineNeverRises()),
        "wait for dla_intr never ends: no interrupt is set, and no layer that was started owes one",
        ("dla_intr",),
    ),
    Told(
        Finding(Check.GOLDEN, ShortGolden("out.dat", 31, 0x2001)),
        "out.dat: 31 bytes of its check that layers write are not in the file, first at 0x2001",
        ("out.dat",),
    ),
    Told(
        Finding(Check.HANG, STUCK, 61000),
        "hang: nothing moved for 5000 cycles, at cycle 61000\n"
        "  waiting for interrupt SDP_0\n"
        "  waiting for interrupt PDP_1\n"
        "  CSB: read of SDP.S_STATUS\n"
        "  running: layer 2 (SDP, group 1)\n"
        "  running: layer 3 (CONV, group 0, cube 4)\n"
        "  MC: read of 0x1000 with id 4\n"
        "  CVSRAM: write response of 0x2000 with id 0\n"
        "  MC: 1 write address without all data, 2 beats without address\n"
        "  SDP.S_STATUS: group 0 RUNNING, group 1 PENDING\n"
        "  PDP.S_STATUS: group 0 IDLE, group 1 RUNNING",
        ("SDP_0", "PDP_1", "SDP RUNNING/PENDING", "PDP IDLE/RUNNING"),
    ),
    Told(
        Finding(Check.HANG, Hang(5000, (), None, (), (), (), ()), 61000),
        "hang: nothing moved for 5000 cycles, at cycle 61000\n  every unit's S_STATUS is IDLE",
    ),
    Told(
        Finding(Check.HANG, Hang(5000, (), None, (), (), (), (), LOST), 61000),
        "hang: nothing moved for 5000 cycles, at cycle 61000\n"
        "  CSB did not answer the read of PDP.S_STATUS within 500 cycles",
    ),
    Told(
        Finding(Check.HANG, Hang(5000, ("SDP_0",), None, (), (), (), (), interrupt_status=0), 61000),
        "hang: nothing moved for 5000 cycles, at cycle 61000\n"
        "  waiting for interrupt SDP_0\n"
        "  dla_intr is high, and GLB.S_INTR_STATUS reads 0x0\n"
        "  every unit's S_STATUS is IDLE",
        ("SDP_0",),
    ),
    Told(
        Finding(Check.HANG, StandStill(61_000, 1, 70.2, ""), None),
        f"hang: simulation time stood still at 61.000 ns: the simulator computed for 70 s\n{LOOPS}",
        ("time",),
    ),
    Told(
        Finding(Check.HANG, StandStill(61_000, 1, 0.0, "NBA region did not converge"), 30),
        "hang: simulation time stood still at cycle 30 (61.000 ns): signals did not settle\n"
        f"  NBA region did not converge\n{LOOPS}",
        ("time",),
    ),
    Told(
        Finding(Check.HANG, StandStill(61_000, 64, 70.2, ""), 30),
        "hang: simulation time stood still at cycle 30 to 93 (from 61.000 ns on): the simulator computed for 70 s\n"
        f"{LOOPS}",
        ("time",),
    ),
    Told(
        Finding(Check.TEST, DriverFault("a.so:main", DriverFaultKind.RETURNED, "3", ("read of 0x4: 0x1", "time")), 70),
        "driver a.so:main returned 3, not 0\n  its last accesses:\n    read of 0x4: 0x1\n    time",
        ("a.so:main", "returned"),
    ),
    Told(
        Finding(Check.HANG, DriverFault("a.so:main", DriverFaultKind.SILENT, "30", ())),
        "driver a.so:main has asked nothing of the bench for 30 seconds\n  it made no access",
        ("a.so:main", "silent"),
    ),
    Told(
        Finding(Check.HANG, LOST, 500), "CSB did not answer the read of PDP.S_STATUS within 500 cycles", ("no answer",)
    ),
    Told(
        Finding(Check.HANG, NoAnswer("write of 0x5 to SDP.D_OP_ENABLE", False, 500), 500),
        "CSB did not accept the write of 0x5 to SDP.D_OP_ENABLE within 500 cycles",
        ("not accepted",),
    ),
    Told(
        Finding(
            Check.RAISED,
            Raised(
                "InputError",
                "dst must have the shape of src\nor another one",
                (
                    Call("tests/mine.py", 12, "relu", "await played(bench)"),
                    Call("tests/mine.py", 7, "played", "await bench.run(layer)"),
                ),
                Call("/lib/nvdla_tb/checks.py", 36, "check_shape", "raise InputError"),
            ),
        ),
        "InputError: dst must have the shape of src\n"
        "or another one\n"
        "  tests/mine.py:7 in played\n"
        "    await bench.run(layer)\n"
        "  tests/mine.py:12 in relu\n"
        "    await played(bench)\n"
        "  raised at /lib/nvdla_tb/checks.py:36 in check_shape",
        ("InputError", "dst must have the shape of src"),
    ),
    Told(
        Finding(Check.TEST, Note("the word is wrong\nassert 1 == 2")),
        "the word is wrong\nassert 1 == 2",
        ("the word is wrong",),
    ),
    Told(
        Finding(Check.MEMORY, NothingRead(), 90, LAYER),
        "layer 2 (SDP, group 1) takes operands from memory, and nothing was read before its end (cycle 90)",
        (),
    ),
    Told(Finding(Check.EMPTY, Nothing()), "nothing was compared: no layer wrote a byte that was expected", ()),
    Told(
        Finding(Check.EMPTY, Nothing(5, (MISSED, UnmappedAccess(0x5008, False, 0)))),
        "nothing was compared: no layer wrote a byte that was expected; accesses hit no register: "
        "write of 0x1 to 0x5004, read of 0x5008, 3 more",
        (),
    ),
    Told(
        Finding(Check.REGISTER, MISSED, 30),
        "register: write of 0x1 to 0x5004 hits no register (cycle 30)",
        ("no register", "write"),
    ),
    Told(
        Finding(Check.REGISTER, MoreUnmappedAccesses(7)),
        "register: 7 more accesses hit no register",
        (),
    ),
)
