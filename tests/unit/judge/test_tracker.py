"""Which layer starts when: ping-pong groups as measured, interrupts, and refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nvdla_tb.judge.tracker import LayerTracker, StartedLayer
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import INTERRUPT_UNITS, InterruptNotify, Op, RegRead, RegWrite, SyncWait, done_bit
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.registers_helper import Tracked, refused
from tests.unit.nvdla.samples import SMALL, small_cdp, small_pdp, small_sdp

A, B, C, D = (small_sdp(dst=0x2000 + 0x100 * n) for n in range(4))
STATUS = "GLB.S_INTR_STATUS"


@pytest.fixture
def played() -> Tracked:
    return Tracked()


@pytest.fixture
def busy(played: Tracked) -> Tracked:
    """Return a tracker whose group 0 of SDP runs A."""
    played.program(A, 0)
    return played


def told(started: list[StartedLayer]) -> list[tuple[int, int, Layer]]:
    return [(s.index, s.group, s.layer) for s in started]


def test_a_layer_starts_when_rdma_and_unit_are_both_enabled(played: Tracked) -> None:
    *setup, rdma, unit = encode(A, SMALL)
    assert played.ops(*setup) == []
    assert played.ops(rdma) == []
    assert told(played.ops(unit)) == [(0, 0, A)]
    assert played.tracker.layers_seen == 1
    assert [layer.name for layer in played.tracker.running] == ["layer 0 (SDP, group 0)"]


def test_the_unit_may_be_enabled_before_its_rdma(played: Tracked) -> None:
    *setup, rdma, unit = encode(A, SMALL)
    assert played.ops(*setup, unit) == []
    assert told(played.ops(rdma)) == [(0, 0, A)]


def test_a_second_group_queues_behind_the_first(played: Tracked) -> None:
    assert told(played.program(A, 0)) == [(0, 0, A)]
    assert told(played.program(B, 1)) == [(1, 1, B)]
    assert [s.layer for s in played.tracker.running] == [A, B]


def test_group_1_first_stays_pending_until_group_0_is_enabled(played: Tracked) -> None:
    assert played.program(B, 1) == []
    assert told(played.program(A, 0)) == [(0, 0, A), (1, 1, B)]


def test_reenabling_group_0_stays_pending_until_group_1_has_run(busy: Tracked) -> None:
    busy.read(STATUS, 1)
    assert busy.program(C, 0) == []
    assert told(busy.program(B, 1)) == [(1, 1, B), (2, 0, C)]


def test_groups_run_in_turn_over_many_layers(played: Tracked) -> None:
    seen = []
    for number in range(7):
        group = number % 2
        seen += told(played.program(A, group))
        assert [s.index for s in played.read(STATUS, 1 << group)] == [number]
        played.write(STATUS, 1 << group)
    assert seen == [(number, number % 2, A) for number in range(7)]


def test_op_enable_of_an_enabled_group_is_ignored(busy: Tracked) -> None:
    assert busy.program(B, 0) == []
    assert [s.layer for s in busy.tracker.running] == [A]


def test_writes_to_a_running_group_do_not_reach_the_next_layer(busy: Tracked) -> None:
    busy.write("SDP.D_CVT_SHIFT", 9)
    busy.read(STATUS, 1)
    assert told(busy.program(B, 1)) == [(1, 1, B)]
    for unit in ("SDP_RDMA", "SDP"):
        busy.write(f"{unit}.S_POINTER", 0)
    assert busy.write("SDP_RDMA.D_OP_ENABLE", 1) == []
    assert told(busy.write("SDP.D_OP_ENABLE", 1)) == [(2, 0, A)]


def test_engines_take_turns_on_their_own(busy: Tracked) -> None:
    assert told(busy.program(small_pdp(), 0)) == [(1, 0, small_pdp())]
    assert [s.engine for s in busy.read(STATUS, 1 << 4)] == ["PDP"]
    assert [s.engine for s in busy.tracker.running] == ["SDP"]


def test_done_bits_end_the_layers_of_their_group(busy: Tracked) -> None:
    busy.program(B, 1)
    assert [s.layer for s in busy.read(STATUS, 0b11)] == [A, B]
    assert busy.tracker.running == ()


def test_the_consumer_is_right_when_the_later_layer_is_seen_to_end_first(busy: Tracked) -> None:
    busy.program(B, 1)
    state = busy.tracker.state
    assert [s.layer for s in busy.tracker.finish("SDP", 1)] == [B]
    assert [s.layer for s in busy.tracker.finish("SDP", 0)] == [A]
    pointer = state.registers.parse("SDP.S_POINTER")
    assert (state.consumer("SDP"), state.read(pointer)) == (0, 1)
    assert told(busy.program(C, 0)) == [(2, 0, C)]


def test_a_done_bit_that_was_seen_ends_no_second_layer(busy: Tracked) -> None:
    assert [s.layer for s in busy.read(STATUS, 1)] == [A]
    busy.program(B, 1)
    busy.program(C, 0)
    assert busy.read(STATUS, 1) == []
    assert [s.layer for s in busy.tracker.running] == [B, C]


def test_a_cleared_done_bit_counts_again(played: Tracked) -> None:
    for group, layer in ((0, A), (1, B)):
        played.program(layer, group)
        assert [s.layer for s in played.read(STATUS, 1 << group)] == [layer]
        played.write(STATUS, 1 << group)
    played.program(C, 0)
    assert [s.layer for s in played.read(STATUS, 1)] == [C]


def test_clearing_another_bit_leaves_a_done_bit_seen(busy: Tracked) -> None:
    busy.read(STATUS, 1)
    busy.write(STATUS, 0b10)
    busy.program(B, 1)
    busy.program(C, 0)
    assert busy.read(STATUS, 1) == []


def test_an_interrupt_that_software_sets_ends_no_layer(busy: Tracked) -> None:
    busy.write("GLB.S_INTR_SET", 1)
    assert busy.read(STATUS, 1) == []
    busy.write(STATUS, 1)
    assert [s.layer for s in busy.read(STATUS, 1)] == [A]


@pytest.mark.parametrize(("word", "ended"), [(0, [A, B]), (1, [B]), (2, [B]), (1 << 16, [A]), (2 << 16 | 1, [])])
def test_an_idle_status_ends_the_layer_of_its_group(busy: Tracked, word: int, ended: list[Layer]) -> None:
    busy.program(B, 1)
    assert [s.layer for s in busy.read("SDP.S_STATUS", word)] == ended


def test_an_idle_rdma_or_another_unit_ends_nothing(busy: Tracked) -> None:
    assert busy.read("SDP_RDMA.S_STATUS", 0) == []
    assert busy.read("PDP.S_STATUS", 0) == []


def test_an_ended_layer_frees_both_of_its_units(busy: Tracked) -> None:
    busy.read("SDP.S_STATUS", 0)
    assert [busy.tracker.state.enabled(unit, 0) for unit in ("SDP_RDMA", "SDP")] == [False, False]
    assert [busy.tracker.state.consumer(unit) for unit in ("SDP_RDMA", "SDP")] == [1, 1]


def test_finishing_what_does_not_run_ends_nothing() -> None:
    tracker = LayerTracker(SMALL)
    assert tracker.finish("SDP", 0) == []
    assert tracker.finish("CACC", 1) == []


def test_a_reset_forgets_running_layers_turns_and_interrupts_but_counts_on(busy: Tracked) -> None:
    busy.read(STATUS, 1)
    busy.program(B, 1)
    busy.tracker.reset()
    assert busy.tracker.running == ()
    assert told(busy.program(C, 0)) == [(2, 0, C)]
    assert [s.layer for s in busy.read(STATUS, 1)] == [C]


# Source: register manual, GLB, S_INTR_MASK, S_INTR_SET and S_INTR_STATUS.
DONE_BITS = {"SDP": 0, "CDP": 2, "PDP": 4, "BDMA": 6, "RUBIK": 8, "CDMA_DAT": 16, "CDMA_WT": 18, "CACC": 20}


@pytest.mark.parametrize("unit", INTERRUPT_UNITS)
@pytest.mark.parametrize("group", [0, 1])
def test_done_bits_are_where_the_register_manual_has_them(unit: str, group: int) -> None:
    assert done_bit(unit, group) == DONE_BITS[unit] + group
    for register, what in (("MASK", "mask"), ("SET", "set"), ("STATUS", "status")):
        field = RegisterMap.of(SMALL).register("GLB", f"S_INTR_{register}").field(f"{unit.lower()}_done_{what}{group}")
        assert (field.lsb, field.width) == (done_bit(unit, group), 1)


def test_every_done_bit_of_the_register_manual_is_known() -> None:
    assert tuple(DONE_BITS) == INTERRUPT_UNITS


def test_done_bits_of_nothing_are_refused() -> None:
    with refused(f"interrupt unit must be one of {', '.join(INTERRUPT_UNITS)}, not CSC"):
        done_bit("CSC", 0)
    with refused("group must be 0 or 1, not 2"):
        done_bit("SDP", 2)


def test_a_program_of_legal_layers_is_not_refused() -> None:
    ops: list[Op] = [RegRead("GLB.S_INTR_STATUS")]
    for number, layer in enumerate((A, B, C, D)):
        ops += encode(layer, SMALL, number % 2, sync_id=f"done{number}")
    assert refusal(tuple(ops), SMALL) is None


def test_a_later_illegal_layer_refuses_the_program() -> None:
    bad = (*encode(A, SMALL)[:-2], RegWrite("SDP.D_FEATURE_MODE_CFG", 1 << 8))
    enables = (RegWrite("SDP_RDMA.D_OP_ENABLE", 1), RegWrite("SDP.D_OP_ENABLE", 1))
    first, second = encode(A, SMALL, 0, "a"), encode(B, SMALL, 1, "b")
    expected = "SDP.D_FEATURE_MODE_CFG.batch_number must be 0, not 1: batches from memory are not modelled"
    assert refusal((*first, *second, *bad, *enables), SMALL) == expected


def test_a_program_for_a_unit_that_the_configuration_lacks_is_refused() -> None:
    units = ", ".join(RegisterMap.of(SMALL).units)
    assert refusal((RegWrite("BDMA.CFG_LINE", 1),), SMALL) == f"unit must be one of {units}, not BDMA"


def test_pdp_is_refused_where_it_does_not_exist() -> None:
    config = replace(SMALL, pdp_enable=False, pdp_throughput=0)
    reason = refusal(encode(small_pdp(), SMALL), config)
    assert reason == f"unit must be one of {', '.join(RegisterMap.of(config).units)}, not PDP_RDMA"


def test_refusal_plays_notifications_as_the_end_of_layers() -> None:
    """Without its end, the third layer's writes would be ignored and its error missed."""
    third: list[Op] = [op for op in encode(C, SMALL, 0) if getattr(op, "register", "") != "SDP_RDMA.D_SRC_DMA_CFG"]
    third.insert(1, RegWrite("SDP_RDMA.D_SRC_DMA_CFG", 0))
    ops = (*encode(A, SMALL, 0), InterruptNotify("SDP", 0, "a"), *encode(B, SMALL, 1), *third)
    expected = "SDP_RDMA.D_SRC_DMA_CFG.src_ram_type must be MC, not CV: nv_small has no secondary memory interface"
    assert refusal(ops, SMALL) == expected


def test_refusal_takes_operations_in_the_order_in_which_they_are_played() -> None:
    """In the file the notification that the second layer waits for stands after that layer."""
    third = encode(C, SMALL, 0)
    bad: list[Op] = [RegWrite("SDP_RDMA.D_SRC_DMA_CFG", 0) if "SRC_DMA" in str(op) else op for op in third]
    waits = (SyncWait("SDP_RDMA", "a"), SyncWait("SDP", "a"))
    notify = InterruptNotify("SDP", 0, "a")
    expected = "SDP_RDMA.D_SRC_DMA_CFG.src_ram_type must be MC, not CV: nv_small has no secondary memory interface"
    begin = (*encode(A, SMALL, 0), *encode(B, SMALL, 1, sync_id="b"))
    assert refusal((*begin, *waits, *bad, notify), SMALL) == expected
    assert refusal((*begin, *waits, *third, notify), SMALL) is None


def test_refusal_does_not_see_what_waits_for_ever() -> None:
    wait = (SyncWait("SDP_RDMA", "never"), SyncWait("SDP", "never"))
    assert refusal((*wait, RegWrite("SDP.D_FEATURE_MODE_CFG", 1 << 8), RegWrite("SDP.D_OP_ENABLE", 1)), SMALL) is None


def test_tables_are_written_after_the_layer_that_uses_them_although_they_stand_before_its_end_in_the_file() -> None:
    layer = small_cdp()
    table = RegWrite("CDP.S_LUT_ACCESS_CFG", 0)
    ops = [op for op in encode(layer, SMALL, 0, sync_id="a") if not isinstance(op, InterruptNotify)]
    notify = InterruptNotify("CDP", 0, "a")
    assert refusal((*ops, SyncWait("CDP", "a"), table, notify), SMALL) is None
    assert refusal((*ops, table, notify), SMALL) == (
        "CDP.S_LUT_ACCESS_CFG must not be written while layer 0 (CDP, group 0) uses the tables"
    )
