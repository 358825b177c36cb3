"""Plans: what they build, and what they refuse."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.errors import InputError
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_tb.judge.tracker import LayerTracker
from nvdla_tb.nvdla.layers import PdpLayer
from nvdla_tb.nvdla.layers.pdp import split_width
from nvdla_tb.nvdla.memory import GUARD_BYTES
from nvdla_tb.nvdla.program.ops import Comparison, InterruptNotify, MemLoad, Poll, RegRead, RegWrite, SyncWait
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.engines import GENERATORS
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import build_one, entry, refused

SDP: dict[str, Any] = {"engine": "SDP", "shape": [9, 3, 4]}
PDP: dict[str, Any] = {"engine": "PDP", "shape": [8, 3, 4], "method": "max", "kernel": [2, 1]}


@pytest.mark.slow
@pytest.mark.parametrize("config", builtin_names())
@pytest.mark.parametrize(
    ("name", "least"),
    [("nv_small", 59), ("nv_small_corners", 4), ("nv_small_stress", 8), ("nv_small_pressure", 80), ("bench", 2)],
)
def test_every_scenario_of_a_plan_is_predicted_for_every_configuration(name: str, least: int, config: str) -> None:
    hw = HwConfig.load(config)
    entries = load_plan(PLANS / f"{name}.toml")
    assert len(entries) >= least
    for each in entries:
        assert refusal(each.build(hw, 3).ops, hw) is None, each.name


def test_a_numpy_error_in_a_builder_is_a_bug_and_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(GENERATORS["SDP"], build=lambda *_: np.zeros(2) + np.zeros(3))
    monkeypatch.setitem(GENERATORS, "SDP", broken)
    with pytest.raises(ValueError, match=r"^operands could not be broadcast together"):
        entry(SDP).build(SMALL, 1)


CONV: dict[str, Any] = {"engine": "CONV", "shape": [8, 4, 4], "kernels": 8, "kernel": [1, 1]}


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({**CONV, "batch": 4294967296}, "probe: layer[0].batch must be 1 to 1 on nv_small, not 4294967296"),
        ({**PDP, "kernel": [0, 1]}, "probe: layer[0].kernel must be 1 to 8 each, not 0"),
        ({**PDP, "kernel": [1, 1 << 63]}, "probe: layer[0].kernel must be 1 to 8 each, not 9223372036854775808"),
        ({**CONV, "weights": [5, 3]}, "probe: layer[0].weights must be a span within -128 to 127, not 5 to 3"),
        ({**CONV, "weights": [0, 128]}, "probe: layer[0].weights must be a span within -128 to 127, not 0 to 128"),
        (
            {**SDP, "shape": [8192, 8192, 8192]},
            "probe: layer[0]: allocations must have at most 33554432 bytes together, not 549755813888 with l0_src",
        ),
        (
            {**CONV, "shape": [8192, 1, 1], "kernels": 4096, "kernel": [1, 1]},
            "probe: layer[0]: allocations must have at most 33554432 bytes together, not 33562624 with l0_weights",
        ),
        (
            {**CONV, "shape": [8192, 1, 1], "kernels": 8192, "kernel": [1, 1]},
            "probe: layer[0]: weights must have at most 33554432 bytes, not 67108864",
        ),
        (
            {**CONV, "shape": [8192, 1, 1], "kernels": 8192, "zero_percent": 50},
            "probe: layer[0]: weights must have at most 33554432 bytes, not 67108864",
        ),
    ],
)
def test_a_small_description_of_a_large_layer_is_refused_at_once(layer: dict[str, Any], message: str) -> None:
    started = time.process_time()
    with refused(message):
        entry(layer).build(SMALL, 1)
    assert time.process_time() - started < 1.0


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    probe = entry(SDP)
    assert probe.build(SMALL, 5) == probe.build(SMALL, 5)
    assert probe.build(SMALL, 5).ops != probe.build(SMALL, 6).ops


def test_padding_channels_hold_random_bytes_and_stride_gaps_none() -> None:
    scenario = entry({**SDP, "src_gaps": [2, 3]}).build(SMALL, 1)
    load = next(op for op in scenario.ops if isinstance(op, MemLoad))
    assert [len(data) for _, data in load.chunks] == [32] * 6
    last_atoms = b"".join(data for offset, data in load.chunks if offset >= 3 * 6 * 8 + 24)
    assert any(last_atoms[n] for n in range(len(last_atoms)) if n % 8)


def test_layers_in_turn_wait_for_each_other_and_alternate_groups() -> None:
    ops = entry(SDP, SDP, SDP).build(SMALL, 1).ops
    notified = [(op.group, op.sync_id) for op in ops if isinstance(op, InterruptNotify)]
    assert notified == [(0, "layer_0"), (1, "layer_1"), (0, "layer_2")]
    waits = [(op.target, op.sync_id) for op in ops if isinstance(op, SyncWait)]
    assert waits == [(unit, f"layer_{n}") for n in (0, 1) for unit in ("SDP_RDMA", "SDP")]


def test_layers_back_to_back_wait_only_for_their_group() -> None:
    ops = entry(SDP, SDP, SDP, order="back_to_back").build(SMALL, 1).ops
    waits = [(op.target, op.sync_id) for op in ops if isinstance(op, SyncWait)]
    assert waits == [("SDP_RDMA", "layer_0"), ("SDP", "layer_0")]


def test_a_layer_behind_one_with_tables_waits_for_it_as_both_groups_share_their_registers() -> None:
    lookup = {"le": {"start": 0, "exponent": 2}, "lo": {"start": 0, "select": 5}}
    looked_up = {**SDP, "y": {"operand_bytes": 2, "lut": lookup}}
    ops = entry(looked_up, SDP, SDP, order="back_to_back").build(HwConfig.load("nv_large"), 1).ops
    waits = [(op.target, op.sync_id) for op in ops if isinstance(op, SyncWait)]
    assert waits == [(unit, "layer_0") for _ in range(2) for unit in ("SDP_RDMA", "SDP")]


def test_a_chained_layer_reads_what_the_one_before_wrote() -> None:
    scenario = entry(SDP, {"engine": "SDP", "chain": True}).build(SMALL, 1)
    tracker = LayerTracker(SMALL)
    layers = []
    for op in scenario.ops:
        if isinstance(op, RegWrite):
            layers += [s.layer for s in tracker.write(tracker.state.registers.parse(op.register), op.value)]
        elif isinstance(op, InterruptNotify):
            tracker.finish(op.unit, op.group)
    assert layers[1].src == layers[0].dst


def test_a_split_reads_up_to_the_last_window_of_each_part() -> None:
    params = PdpParams(PoolMethod.MAX, 4, 1, 2, 2, 1, 0, 0, 0, (0,) * 7, 0, 0, Precision.INT8)
    split = split_width(params, 5, 2, 1, 1)
    assert split is not None
    assert (split.first_in, split.last_in, split.first_out, split.last_out) == (3, 2, 1, 1)
    with pytest.raises(InputError, match=r"^split must be 1 to the output width 2, not 3$"):
        split_width(params, 5, 3, 1, 1)
    with pytest.raises(InputError, match=r"^split must leave every part at least one output column, not 2, 1 and 0$"):
        split_width(params, 5, 2, 2, 1)


def test_parts_of_a_split_may_differ() -> None:
    layer = build_one(PdpLayer, {**PDP, "shape": [8, 3, 20], "split": 4, "split_columns": [7, 3]})
    assert layer.split is not None
    assert (layer.split.first_out, layer.split.middle_out, layer.split.last_out) == (7, 3, 6)
    assert (layer.split.first_in, layer.split.middle_in, layer.split.last_in) == (8, 3, 6)
    even = build_one(PdpLayer, {**PDP, "shape": [8, 3, 20], "split": 4}).split
    assert even is not None
    assert (even.first_out, even.middle_out, even.last_out) == (4, 4, 7)


def test_an_average_takes_its_reciprocals_and_padding_values_from_the_description_or_the_kernel() -> None:
    average = {**PDP, "method": "average", "kernel": [3, 2]}
    usual = build_one(PdpLayer, {**average, "pad_value": -5}).params
    assert (usual.recip_width, usual.recip_height) == (21845, 32768)
    assert usual.pad_values == (-5, -10, -15, -20, -25, -30, -35)
    own = build_one(PdpLayer, {**average, "reciprocals": [1, 131071], "pad_values": [9, -8, 7, -6, 5, -4, 3]}).params
    assert (own.recip_width, own.recip_height) == (1, 131071)
    assert own.pad_values == (9, -8, 7, -6, 5, -4, 3)


def test_data_lie_where_the_scenario_says_at_any_atom() -> None:
    scenario = entry({**SDP, "shape": [1, 1, 3]}, SDP, base=0x1234_5608).build(SMALL, 1)
    addresses = [op.address for op in scenario.ops if isinstance(op, MemLoad)]
    assert min(addresses) == 0x1234_5608 + GUARD_BYTES
    assert [address % 32 for address in addresses] == [8, 24]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (entry({"engine": "SDP"}), "probe: layer[0].shape is missing"),
        (entry({"engine": "SDP", "chain": True}), "probe: layer[0].chain needs a layer before it"),
        (entry(SDP, {**SDP, "chain": True}), "probe: layer[1].shape must be left out of a layer with chain"),
        (
            entry({**SDP, "x1": {"alu": "sum", "alu_operand": "channel", "mul": True, "mul_operand": "element"}}),
            "probe: layer[0].x1.mul_operand must be channel as alu_operand is, not element",
        ),
        (
            entry({**SDP, "x1": {"mul_operand": "element"}}),
            "probe: layer[0].x1.mul_operand must be left out without mul",
        ),
        (
            entry({**SDP, "y": {"alu": "max", "alu_operand": "channel", "alu_register": 3}}),
            "probe: layer[0].y.alu_register must be left out of an operand in memory",
        ),
        (entry({**PDP, "pad_value": 3}), "probe: layer[0].pad_value must be left out of a pooling with max"),
        (
            entry({**PDP, "split_columns": [1, 1]}),
            "probe: layer[0].split_columns must be left out of a layer without split",
        ),
        (
            entry({**PDP, "method": "average", "pad_value": 1, "pad_values": [1] * 7}),
            "probe: layer[0].pad_value must be left out beside pad_values",
        ),
        (
            entry({**SDP, "dst_gaps": [1, 1], "pool": {"method": "max", "kernel": [1, 1]}}),
            "probe: layer[0].dst_gaps must be left out of a layer with pool",
        ),
        (
            entry({**SDP, "numbers": "wide"}),
            "probe: layer[0].numbers must be one of any, lowest, highest, ends, sparse, not wide",
        ),
        (entry(SDP, counters=True, order="back_to_back"), "probe: counters needs the order in_turn, not back_to_back"),
        (entry(SDP, stalls="READ"), "probe: stalls needs counters = true"),
    ],
)
def test_a_description_that_cannot_be_understood_is_refused(data: PlanEntry, message: str) -> None:
    with refused(message):
        data.build(SMALL, 1)


def test_skipped_atoms_lie_between_a_result_and_what_is_before_it() -> None:
    whole, moved = build_one(PdpLayer, PDP), build_one(PdpLayer, {**PDP, "dst_skip": 4})
    assert moved.dst.address == whole.dst.address + 4 * SMALL.memory_atomic_bytes + GUARD_BYTES
    assert moved.src.address == whole.src.address


def test_counters_are_enabled_before_a_layer_and_read_behind_its_end() -> None:
    ops = entry(SDP, PDP, counters=True).build(SMALL, 1).ops
    enables = {op.register: op.value for op in ops if isinstance(op, RegWrite) and op.register.endswith("PERF_ENABLE")}
    units = {"SDP_RDMA": 0b11, "SDP": 0b1111, "PDP_RDMA": 1, "PDP": 1}
    assert enables == {f"{unit}.D_PERF_ENABLE": word for unit, word in units.items()}
    reads = [number for number, op in enumerate(ops) if isinstance(op, RegRead)]
    assert len(reads) == 36, "in both groups"
    assert SyncWait("SDP", "layer_0") in ops[: reads[-1]]
    assert ops.index(RegWrite("SDP.D_OP_ENABLE", 1)) < reads[0]


def test_every_third_layer_of_a_unit_counts_no_cycles_and_is_read_like_the_others() -> None:
    ops = entry(*[SDP] * 4, counters=True).build(SMALL, 1).ops
    words = [op.value for op in ops if isinstance(op, RegWrite) and op.register == "SDP.D_PERF_ENABLE"]
    assert words == [0b1111, 0b1111, 0b1110, 0b1111]
    stalls = [n for n, op in enumerate(ops) if op == RegRead("SDP.D_PERF_WDMA_WRITE_STALL")]
    groups = [
        [op.value for op in ops[:n] if isinstance(op, RegWrite) and op.register == "SDP.S_POINTER"][-1] for n in stalls
    ]
    assert groups == [0, 1, 1, 0] * 2


def test_many_stalls_are_polled_for_after_layers_that_count_them() -> None:
    ops = entry(*[SDP] * 3, PDP, counters=True, stalls="WRITE").build(SMALL, 1).ops
    polls = [(op.register, op.comparison, op.value) for op in ops if isinstance(op, Poll)]
    stalls = ["SDP.D_PERF_WDMA_WRITE_STALL"] * 2 + ["PDP.D_PERF_WRITE_STALL"]
    assert polls == [(register, Comparison.NOT_LESS, 1000) for register in stalls]


def test_reads_that_a_layer_does_not_make_need_no_stalls() -> None:
    ops = entry(SDP, counters=True, stalls="READ").build(SMALL, 1).ops
    assert [op.register for op in ops if isinstance(op, Poll)] == ["SDP_RDMA.D_PERF_MRDMA_READ_STALL"]


def calls(layers: int, **keys: Any) -> int:
    """Return how many functions are called for a scenario of so many layers."""
    counts: Counter[str] = Counter()
    plan = entry({"engine": "SDP", "shape": [8, 1, 1], "times": layers}, **keys)
    sys.setprofile(lambda frame, event, argument: counts.update([event]))
    try:
        plan.build(SMALL, 1)
    finally:
        sys.setprofile(None)
    return counts["call"]


@pytest.mark.parametrize("keys", [{}, {"order": "back_to_back"}, {"carries": [12, 20]}])
def test_the_work_for_a_layer_does_not_grow_with_the_layers_before_it(keys: dict[str, Any]) -> None:
    calls(1, **keys)
    assert calls(160, **keys) < 2.02 * calls(80, **keys)
