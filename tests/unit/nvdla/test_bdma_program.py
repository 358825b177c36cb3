"""BDMA: golden words by hand, slots and groups, every refusal, and the bytes of copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.layout import LinesLayout
from nvdla_tb.judge.predictor import predict
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import BdmaLayer, LinesSurface
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import (
    CheckFile,
    InterruptNotify,
    MemLoad,
    Op,
    Poll,
    Program,
    RegWrite,
    SyncWait,
    done_bit,
)
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.refusal import refusal
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.nvdla.registers_helper import Tracked, cases, check_refused, decode_with, refused, words_of
from tests.unit.nvdla.samples import FULL, SMALL

SHAPE = (3, 4, 64)


def lines(
    address: int, line: int = 96, surface: int = 416, shape: tuple[int, int, int] = SHAPE, ram: Ram = Ram.MC
) -> LinesSurface:
    return LinesSurface(LinesLayout(FULL, shape, line, surface), address, ram)


def copy(src: int = 0x1000, dst: int = 0x8000, ram: Ram = Ram.CVSRAM) -> BdmaLayer:
    return BdmaLayer(lines(src), lines(dst, 64, 256, ram=ram))


def enable(layer: BdmaLayer) -> Program:
    """Return the writes up to CFG_OP."""
    return encode(layer, FULL)[:-1]


def test_a_copy_has_the_words_that_the_programming_guide_gives() -> None:
    words = words_of(copy(0x12_3456_7880))["BDMA"]
    assert (words["CFG_SRC_ADDR_HIGH"], words["CFG_SRC_ADDR_LOW"]) == (0x12, 0x34567880)
    assert (words["CFG_DST_ADDR_HIGH"], words["CFG_DST_ADDR_LOW"]) == (0, 0x8000)
    assert (words["CFG_LINE"], words["CFG_LINE_REPEAT"], words["CFG_SURF_REPEAT"]) == (1, 3, 2)
    assert (words["CFG_SRC_LINE"], words["CFG_DST_LINE"]) == (96, 64)
    assert (words["CFG_SRC_SURF"], words["CFG_DST_SURF"]) == (416, 256)
    assert words["CFG_CMD"] == 1
    ops = encode(copy(), FULL, 1, "done")
    assert ops[-3:] == (RegWrite("BDMA.CFG_OP", 1), RegWrite("BDMA.CFG_LAUNCH1", 1), InterruptNotify("BDMA", 1, "done"))


@pytest.mark.parametrize("ram", [Ram.MC, Ram.CVSRAM])
def test_a_copy_survives_registers(ram: Ram) -> None:
    layer = copy(0x12_3456_7880, 0xFF_0000_0000, ram)
    assert decode_with(layer, {}) == layer


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    [
        *cases(
            copy(),
            ("BDMA.CFG_SRC_LINE.stride", 1, ": line_stride_bytes must be at least the 64 bytes of a line, not 32"),
            (
                "BDMA.CFG_DST_SURF.stride",
                7,
                ": surface_stride_bytes must be at least the 256 bytes of a surface, not 224",
            ),
            ("BDMA.CFG_LINE_REPEAT.number", 8192, ": lines must be 1 to 8192, not 8193"),
            ("BDMA.CFG_SURF_REPEAT.number", 8192, ": surfaces must be 1 to 8192, not 8193"),
        ),
        (
            copy(),
            {"BDMA.CFG_SRC_ADDR_HIGH.v8": 0xFFFFFFFF, "BDMA.CFG_SRC_ADDR_LOW.v32": 0x7FFFFFF},
            "BDMA.CFG_SRC_ADDR_LOW.v32: address must leave room for 1184 bytes in the 64-bit address space of "
            "nv_full, not 0xffffffffffffffe0",
        ),
    ],
)
def test_a_program_is_refused(layer: BdmaLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, changes, message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (SMALL, SHAPE, 96, 416),
            "BDMA must not be used: nv_small has none; configurations with BDMA: nv_full, nv_large",
        ),
        ((FULL, (0, 1, 32), 0, 0), "surfaces must be 1 to 8192, not 0"),
        ((FULL, (1, 1, 48), 0, 0), "line_bytes must be a multiple of 32 bytes, not 48"),
        ((FULL, SHAPE, 80, 416), "line_stride_bytes must be a multiple of 32 bytes, not 80"),
        ((FULL, (1, 1, 32 + (1 << 18)), 0, 0), "line_bytes must be 1 to 262144, not 262176"),
    ],
)
def test_lines_that_the_hardware_cannot_reach_are_refused(arguments: tuple, message: str) -> None:  # type: ignore[type-arg]
    with refused(message):
        LinesLayout(*arguments)


def test_both_ends_have_one_shape() -> None:
    with refused("dst must have the shape (3, 4, 64) of src, not (3, 4, 32)"):
        replace(copy(), dst=lines(0x8000, shape=(3, 4, 32)))


def test_a_stride_matters_only_where_there_is_a_next_line_or_surface() -> None:
    layout = LinesLayout(FULL, (1, 1, 64), 0, 0)
    assert layout.nbytes == 64
    assert layout.element_at(63) == (0, 0, 63)
    assert LinesLayout(FULL, (2, 1, 64), 0, 96).element_at(95) is None


@pytest.mark.parametrize("seed", range(20))
def test_a_copy_leaves_what_a_literal_loop_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    surfaces, count, units = (int(n) for n in rng.integers(1, 5, 3))
    shape = (surfaces, count, units * 32)
    line = [(units + int(rng.integers(3))) * 32 for _ in range(2)]
    surface = [(stride * count) + int(rng.integers(3)) * 32 for stride in line]
    layer = BdmaLayer(lines(0x1000, line[0], surface[0], shape), lines(0x9000, line[1], surface[1], shape))
    memory = MemoryImage()
    memory.write(0x1000, rng.integers(0, 256, layer.src.layout.nbytes, dtype=np.uint8))
    expectation = predict(StartedLayer(0, "BDMA", 0, layer), lambda ram, at, nbytes: memory.read_array(at, nbytes))
    wanted: dict[int, int] = {}
    for c, h, w in np.ndindex(shape):
        came = 0x1000 + c * surface[0] + h * line[0] + w
        at = c * surface[1] + h * line[1] + w
        wanted[at] = memory.read(came, 1)[0]
        assert expectation.layout.element_at(at) == (c, h, w)
    assert {int(at): int(expectation.data[at]) for at in np.flatnonzero(expectation.must_write)} == wanted


def test_copies_wait_for_the_launch_and_end_together() -> None:
    fed = Tracked(FULL)
    first, second = copy(), copy(0x2000, 0x9000)
    assert fed.ops(*enable(first), *enable(second)) == []
    started = fed.write("BDMA.CFG_LAUNCH1", 1)
    assert [(s.index, s.engine, s.group, s.layer) for s in started] == [(0, "BDMA", 1, first), (1, "BDMA", 1, second)]
    assert [fed.tracker.interrupts_of(s) for s in started] == [(), (("BDMA", 1),)]
    assert fed.tracker.running == tuple(started)
    assert fed.read("GLB.S_INTR_STATUS", 1 << done_bit("BDMA", 0)) == []
    assert fed.read("GLB.S_INTR_STATUS", 1 << done_bit("BDMA", 1)) == started
    assert fed.tracker.running == ()


def test_a_group_that_is_not_busy_has_ended() -> None:
    fed = Tracked(FULL)
    fed.ops(*enable(copy()))
    (first,) = fed.write("BDMA.CFG_LAUNCH0", 1)
    fed.ops(*enable(copy(0x2000, 0x9000)))
    (second,) = fed.write("BDMA.CFG_LAUNCH1", 1)
    assert fed.read("BDMA.STATUS", 0x14 | 1 << 10) == [first]
    assert fed.tracker.running == (second,)


def test_registers_that_change_behind_the_enable_leave_the_slot_alone() -> None:
    fed = Tracked(FULL)
    fed.ops(*enable(copy()), RegWrite("BDMA.CFG_LINE", 5))
    assert [s.layer for s in fed.write("BDMA.CFG_LAUNCH0", 1)] == [copy()]


def check_ops_refused(fed: Tracked, ops: Program, message: str) -> None:
    with refused(message, Refused):
        fed.ops(*ops)


def test_the_twenty_first_copy_of_a_group_is_refused() -> None:
    fed = Tracked(FULL)
    for number in range(20):
        fed.ops(*enable(copy(dst=0x8000 + 0x1000 * number)))
    check_ops_refused(
        fed, enable(copy()), "BDMA.CFG_OP.en must stay DISABLE: copies that were not launched take all 20 slots"
    )


def test_what_the_guide_forbids_is_refused() -> None:
    launch = (RegWrite("BDMA.CFG_LAUNCH0", 1),)
    check_ops_refused(Tracked(FULL), launch, "BDMA.CFG_LAUNCH0.grp0_launch must stay NO: no copy waits for it")
    fed = Tracked(FULL)
    fed.ops(*enable(copy()))
    message = "BDMA.CFG_CMD.dst_ram_type must be CVSRAM as for the group's first copy, not MC"
    check_ops_refused(fed, enable(copy(ram=Ram.MC)), message)
    fed.write("BDMA.CFG_LAUNCH0", 1)
    fed.ops(*enable(copy(ram=Ram.MC)))
    check_ops_refused(fed, launch, "BDMA.CFG_LAUNCH0.grp0_launch must stay NO while group 0 is busy")
    fed.write("BDMA.CFG_LAUNCH1", 1)
    check_ops_refused(fed, enable(copy()), "BDMA.CFG_OP.en must stay DISABLE while both groups are busy")


def test_a_reset_forgets_slots_and_groups() -> None:
    fed = Tracked(FULL)
    fed.ops(*enable(copy()))
    fed.write("BDMA.CFG_LAUNCH0", 1)
    fed.ops(*enable(copy()))
    fed.tracker.reset()
    assert fed.tracker.running == ()
    check_ops_refused(
        fed, (RegWrite("BDMA.CFG_LAUNCH1", 1),), "BDMA.CFG_LAUNCH1.grp1_launch must stay NO: no copy waits for it"
    )


def test_a_build_without_bdma_has_no_such_register() -> None:
    reason = refusal((RegWrite("BDMA.CFG_OP", 1),), SMALL)
    assert reason is not None
    assert reason.startswith("unit must be one of ")


def test_copies_through_cvsram_come_back_and_groups_take_turns() -> None:
    shape = (2, 3, 64)
    data = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8).tobytes()
    there = BdmaLayer(lines(0x1000, 64, 192, shape), lines(0x100, 128, 512, shape, Ram.CVSRAM))
    back = BdmaLayer(there.dst, lines(0x4000, 64, 192, shape))
    again = BdmaLayer(back.dst, lines(0x6000, 64, 192, shape))
    ops: list[Op] = [
        MemLoad(Ram.MC, 0x1000, ((0, data),), "in.dat"),
        *encode(there, FULL, 0, "there"),
        SyncWait("BDMA", "there"),
        # Both copies wait for one launch.
        *encode(back, FULL, 1)[:-1],
        *encode(again, FULL, 1, "back"),
        Poll("BDMA.STATUS", 1, field="idle"),
        CheckFile("back", Ram.MC, 0x4000, len(data), ((0, data),), "back.dat"),
        CheckFile("back", Ram.MC, 0x6000, len(data), ((0, data),), "again.dat"),
    ]
    played = play_model(Scenario("t", "nv_full", tuple(ops), 0), FULL)
    assert played.verdict.failures == []
    assert (played.verdict.layers, played.verdict.judged_bytes) == (3, 2 * len(data))
    assert chain_of(there).name == "BDMA"
