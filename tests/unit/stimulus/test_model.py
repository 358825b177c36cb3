"""Scenarios on the reference model alone: golden results, what they miss, and the synchronisation."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import (
    CrcMismatch,
    Mismatch,
    Note,
    PollNeverHolds,
    ShortGolden,
    UnpredictedGolden,
    WrongRegister,
)
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.layers import SdpLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import (
    CheckCrc,
    CheckFile,
    CheckNothing,
    Comparison,
    InterruptNotify,
    MemInit,
    MemLoad,
    Op,
    Poll,
    RegRead,
    RegWrite,
    SyncNotify,
    SyncWait,
)
from nvdla_tb.stimulus.model import Played, play_model
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from tests.unit.nvdla.conv_samples import small_conv
from tests.unit.nvdla.samples import SMALL, small_sdp

RNG = np.random.default_rng(4)
FIRST = small_sdp((3, 2, 2), 0x1000, 0x2000)
SECOND = small_sdp((3, 2, 2), 0x2000, 0x3000)
THIRD = small_sdp((3, 2, 2), 0x3000, 0x4000)
CUBE = RNG.integers(-128, 128, (8, 2, 2), dtype=np.int8)
INPUT = CUBE.transpose(1, 2, 0).tobytes()
"""One surface of eight channels: what a pass-through layer writes, padding channels included."""
LOAD = MemLoad(Ram.MC, 0x1000, ((0, INPUT),), "in.dat")


def play(*ops: Op) -> Played:
    return play_model(Scenario("t", "nv_small", ops, 0), SMALL)


def golden(address: int, data: bytes, sync_id: str = "a") -> CheckFile:
    return CheckFile(sync_id, Ram.MC, address, len(data), ((0, data),), "golden.dat")


def run(layer: SdpLayer, group: int, sync_id: str) -> Sequence[Op]:
    return encode(layer, SMALL, group, sync_id)


def test_a_layer_whose_golden_bytes_agree_passes() -> None:
    played = play(LOAD, *run(FIRST, 0, "a"), golden(0x2000, INPUT))
    assert played.verdict.ending is Ending.PASSED
    assert (played.verdict.layers, played.verdict.judged_bytes) == (1, 32)
    assert (played.verdict.crc_passed, played.verdict.crc_failed) == (1, 0)
    assert [expectation.address for expectation in played.expectations] == [0x2000]


def test_a_crc_is_compared_over_its_whole_range() -> None:
    image = bytes(16) + INPUT + bytes(8)
    ops = [MemInit(Ram.MC, 0x1FF0, 56), LOAD, *run(FIRST, 0, "a")]
    good = CheckCrc("a", Ram.MC, 0x1FF0, 56, zlib.crc32(image))
    played = play(*ops, good)
    assert played.verdict.ending is Ending.PASSED
    assert (played.verdict.judged_bytes, played.verdict.crc_passed) == (32, 1)
    wrong = play(*ops, replace(good, crc=good.crc ^ 1)).verdict
    assert wrong.findings == [Finding(Check.GOLDEN, CrcMismatch(0x1FF0, 56, expected=good.crc ^ 1, got=good.crc))]
    assert (wrong.ending, wrong.crc_passed, wrong.crc_failed) == (Ending.MISMATCH, 0, 1)


def test_a_golden_byte_that_differs_is_named_with_its_element() -> None:
    data = bytearray(INPUT)
    data[17] ^= 1
    verdict = play(LOAD, *run(FIRST, 0, "a"), golden(0x2000, bytes(data))).verdict
    assert verdict.ending is Ending.MISMATCH
    wrong = Mismatch(1, 1, Ram.MC, 0x2011, Element(1, 1, 0), expected=INPUT[17], got=INPUT[17] ^ 1, axi_id=None)
    assert verdict.findings == [Finding(Check.VALUE, wrong, layer=LayerId(0, "SDP", 0))]


def test_a_golden_byte_beside_the_surface_must_be_as_memory_was() -> None:
    ops = [MemInit(Ram.MC, 0x2020, 8, 0xA5), LOAD, *run(FIRST, 0, "a")]
    assert play(*ops, golden(0x2000, INPUT + b"\xa5" * 8)).verdict.ending is Ending.PASSED
    verdict = play(*ops, golden(0x2000, INPUT + b"\xa5\xa5\xa4\xa5\xa5\xa5\xa5\xa5")).verdict
    assert verdict.ending is Ending.MISMATCH
    assert verdict.findings == [Finding(Check.GOLDEN, UnpredictedGolden("golden.dat", 1, 0x2022))]


def test_a_scenario_that_compares_nothing_fails() -> None:
    nothing = play(LOAD, *run(FIRST, 0, "a"), CheckNothing("a")).verdict
    assert (nothing.ending, nothing.findings) == (Ending.EMPTY, [])
    elsewhere = play(LOAD, *run(FIRST, 0, "a"), golden(0x1000, INPUT)).verdict
    assert (elsewhere.ending, elsewhere.findings) == (Ending.EMPTY, [])


def test_a_golden_file_must_hold_all_bytes_of_its_check_that_layers_write() -> None:
    verdict = play(LOAD, *run(FIRST, 0, "a"), replace(golden(0x2000, INPUT[:1]), nbytes=32)).verdict
    assert verdict.findings == [Finding(Check.GOLDEN, ShortGolden("golden.dat", 31, 0x2001))]
    assert (verdict.ending, verdict.crc_passed, verdict.crc_failed) == (Ending.MISMATCH, 0, 1)
    gap = replace(golden(0x2000, INPUT), nbytes=64)
    assert play(MemInit(Ram.MC, 0x2020, 32), LOAD, *run(FIRST, 0, "a"), gap).verdict.ending is Ending.PASSED


FLUSHED = "CDMA.S_CBUF_FLUSH_STATUS"


@pytest.mark.parametrize(
    ("poll", "got"),
    [
        (Poll(FLUSHED, 0), 1),
        (Poll(FLUSHED, 0, field="flush_done"), 1),
        (Poll("SDP.D_CVT_SCALE", 8), 7),
        (Poll("SDP.D_CVT_SCALE", 7, Comparison.GREATER), 7),
        (Poll("SDP.S_STATUS", 1), 0),
        (Poll("SDP.D_OP_ENABLE", 1), 0),
    ],
)
def test_a_poll_that_can_never_hold_is_a_hang_and_the_end(poll: Poll, got: int) -> None:
    after = RegRead("SDP.D_CVT_SCALE", 1)
    verdict = play(RegWrite("SDP.D_CVT_SCALE", 7), poll, after).verdict
    name = poll.register if poll.field is None else f"{poll.register}.{poll.field}"
    hang = PollNeverHolds(name, poll.comparison.value, poll.value, got)
    assert verdict.findings == [Finding(Check.HANG, hang)]
    assert verdict.ending is Ending.HANG


@pytest.mark.parametrize(
    "poll",
    [
        Poll(FLUSHED, 1),
        Poll("SDP.S_STATUS", 0),
        Poll("SDP.D_CVT_SCALE", 7),
        Poll("SDP.D_CVT_SCALE", 8, Comparison.LESS),
        RegRead("SDP.D_CVT_SCALE", 7),
        RegRead("SDP.S_POINTER", 1),
    ],
)
def test_registers_alone_pass_when_all_that_they_expect_holds(poll: Poll | RegRead) -> None:
    group = [] if poll.register != "SDP.S_POINTER" else [RegWrite("SDP.S_POINTER", 1)]
    verdict = play(RegWrite("SDP.D_CVT_SCALE", 7), *group, poll).verdict
    assert (verdict.ending, verdict.registers, verdict.unchecked) == (Ending.PASSED, 1, 0)


def test_a_read_that_differs_from_what_was_written_is_found_with_its_field() -> None:
    verdict = play(RegWrite("SDP.S_POINTER", 1), RegWrite("SDP.D_CVT_SCALE", 7), RegRead("SDP.D_CVT_SCALE", 3)).verdict
    assert verdict.findings == [Finding(Check.REGISTER, WrongRegister("SDP.D_CVT_SCALE", 3, 7, "cvt_scale"))]
    other = play(RegWrite("SDP.D_CVT_SCALE", 7), RegWrite("SDP.S_POINTER", 1), RegRead("SDP.D_CVT_SCALE", 7)).verdict
    assert other.ending is Ending.PROTOCOL, "the pointer selects what reads back"


@pytest.mark.parametrize(
    "op",
    [
        RegRead("GLB.S_NVDLA_HW_VERSION", 0x303031),
        Poll("GLB.S_INTR_STATUS", 1),
        RegRead("0x3fffc", 0),
        RegRead("SDP.S_LUT_ACCESS_DATA", 3),
    ],
)
def test_what_hardware_changes_is_not_checked_and_proves_nothing(op: Op) -> None:
    verdict = play(op).verdict
    assert (verdict.ending, verdict.registers, verdict.unchecked) == (Ending.EMPTY, 0, 1)


def test_a_unit_that_has_run_may_have_been_busy_when_it_was_polled() -> None:
    ops = [LOAD, *run(FIRST, 0, "a"), golden(0x2000, INPUT), Poll("SDP.S_STATUS", 1)]
    verdict = play(*ops).verdict
    assert (verdict.ending, verdict.unchecked) == (Ending.PASSED, 1)


def test_registers_say_nothing_of_layers_whose_bytes_were_not_compared() -> None:
    verdict = play(LOAD, Poll(FLUSHED, 1), *run(FIRST, 0, "a"), CheckNothing("a")).verdict
    assert (verdict.ending, verdict.registers, verdict.layers) == (Ending.EMPTY, 1, 1)


def test_a_layer_that_is_not_modelled_is_refused() -> None:
    ops = [
        RegWrite("SDP.D_FEATURE_MODE_CFG", 1 << 8)
        if isinstance(op, RegWrite) and op.register == "SDP.D_FEATURE_MODE_CFG"
        else op
        for op in run(FIRST, 0, "a")
    ]
    verdict = play(LOAD, *ops, golden(0x2000, INPUT)).verdict
    assert verdict.ending is Ending.REFUSED
    assert verdict.refused is not None
    assert verdict.refused.startswith("SDP.D_FEATURE_MODE_CFG.")


def test_chained_layers_of_both_groups_read_what_the_one_before_wrote() -> None:
    ops = [
        LOAD,
        *run(FIRST, 0, "a"),
        SyncWait("SDP_RDMA", "a"),
        SyncWait("SDP", "a"),
        *run(SECOND, 1, "b"),
        SyncWait("SDP_RDMA", "b"),
        SyncWait("SDP", "b"),
        *run(THIRD, 0, "c"),
    ]
    played = play(*ops, golden(0x2000, INPUT, "a"), golden(0x4000, INPUT, "c"))
    assert complaints(played.verdict) == []
    assert (played.verdict.layers, played.verdict.judged_bytes, played.verdict.crc_passed) == (3, 64, 2)


def test_a_check_sees_memory_as_it_was_when_its_sync_id_was_raised() -> None:
    again = small_sdp((3, 2, 2), 0x5000, 0x2000)
    other = MemLoad(Ram.MC, 0x5000, ((0, INPUT[::-1]),), "other.dat")
    ops = [LOAD, other, *run(FIRST, 0, "a"), *run(again, 1, "b")]
    played = play(*ops, golden(0x2000, INPUT, "a"), golden(0x2000, INPUT[::-1], "b"))
    assert complaints(played.verdict) == []


def test_a_group_is_free_again_once_software_saw_it_idle() -> None:
    ops = [LOAD, *run(FIRST, 0, "a")[:-1], *run(SECOND, 1, "b")[:-1]]
    busy = play(*ops, *run(THIRD, 0, "c"), golden(0x4000, INPUT, "c"))
    assert busy.verdict.layers == 2
    free = play(*ops, Poll("SDP.S_STATUS", 0), *run(THIRD, 0, "c"), golden(0x4000, INPUT, "c"))
    assert free.verdict.layers == 3
    assert play(*ops, RegRead("GLB.S_INTR_STATUS"), *run(THIRD, 0, "c"), golden(0x4000, INPUT, "c")).verdict.layers == 3


def test_a_convolution_raises_the_interrupts_of_its_parts() -> None:
    parts = [InterruptNotify(unit, 0, unit) for unit in ("CDMA_DAT", "CDMA_WT", "CACC")]
    conv = small_conv()
    memory = [MemInit(Ram.MC, 0x1000, 0x1000), MemInit(Ram.MC, 0x3000, 0x1000)]
    played = play(*memory, *encode(conv, SMALL, 0, "a"), *parts, CheckNothing("CACC"))
    assert played.verdict.findings == []


def test_a_notification_may_come_before_the_layer() -> None:
    *writes, notify = run(FIRST, 0, "a")
    assert play(LOAD, notify, *writes, golden(0x2000, INPUT)).verdict.ending is Ending.PASSED


def test_a_wait_holds_back_only_its_own_unit() -> None:
    writes = run(FIRST, 0, "a")
    ops = [SyncWait("SDP", "go"), *writes, LOAD, SyncNotify("CDP", "go")]
    assert play(*ops, golden(0x2000, INPUT)).verdict.ending is Ending.PASSED


@pytest.mark.parametrize(
    ("ops", "problem"),
    [
        ([SyncWait("SDP", "x")], "SDP waits for sync id x, which nothing raises"),
        ([InterruptNotify("PDP", 1, "x")], "sync id x waits for PDP_1, which never ends"),
        ([golden(0x2000, INPUT, "x")], "check waits for sync id x, which nothing raises"),
        ([MemInit(Ram.CVSRAM, 0, 8)], "MemInit: ram must be one of MC, not CVSRAM"),
    ],
)
def test_what_never_happens_fails_the_scenario(ops: list[Op], problem: str) -> None:
    verdict = play(LOAD, *run(FIRST, 0, "a"), golden(0x2000, INPUT), *ops).verdict
    assert verdict.ending is Ending.PROTOCOL
    assert verdict.findings == [Finding(Check.PROGRAM, Note(problem))]


STRAYS = (RegWrite("0x9f00", 5), RegRead("0x9f04"), *(RegWrite(f"{at:#x}", 1) for at in range(0xA00, 0xA14, 4)))


def test_accesses_of_addresses_without_a_register_are_findings_of_which_the_first_are_told() -> None:
    verdict = play(LOAD, *STRAYS, *run(FIRST, 0, "a"), golden(0x2000, INPUT)).verdict
    assert verdict.ending is Ending.PROTOCOL
    assert complaints(verdict) == [
        "register: write of 0x5 to 0x9f00 hits no register",
        "register: read of 0x9f04 hits no register",
        *(f"register: write of 0x1 to {at:#x} hits no register" for at in (0xA00, 0xA04, 0xA08)),
        "register: 2 more accesses hit no register",
    ]


def test_the_configrom_may_be_read_on_after_its_last_word() -> None:
    ops = (LOAD, RegRead("0xffc"), *run(FIRST, 0, "a"), golden(0x2000, INPUT))
    verdict = play(*ops).verdict
    assert (verdict.ending, verdict.unmapped) == (Ending.PASSED, 0)
    assert play(*ops, RegWrite("0xffc", 1)).verdict.unmapped == 1


def test_accesses_of_addresses_without_a_register_may_be_allowed() -> None:
    ops = (LOAD, *STRAYS, *run(FIRST, 0, "a"), golden(0x2000, INPUT))
    allowed = Scenario("t", "nv_small", ops, 0, BenchSettings(unmapped_accesses="count"))
    verdict = play_model(allowed, SMALL).verdict
    assert (verdict.ending, verdict.findings, verdict.unmapped) == (Ending.PASSED, [], 7)


@pytest.mark.parametrize("allowed", ["error", "count"])
def test_a_program_that_hits_no_register_compared_nothing_and_the_first_accesses_are_named(allowed: str) -> None:
    scenario = Scenario("t", "nv_small", (LOAD, *STRAYS), 0, BenchSettings(unmapped_accesses=allowed))
    verdict = play_model(scenario, SMALL).verdict
    assert verdict.ending is Ending.EMPTY
    assert complaints(verdict) == [
        "nothing was compared: no layer wrote a byte that was expected; accesses hit no register: "
        "write of 0x5 to 0x9f00, read of 0x9f04, write of 0x1 to 0xa00, write of 0x1 to 0xa04, "
        "write of 0x1 to 0xa08, 2 more"
    ]
