"""SDP, alone or behind a convolution, with PDP on the fly: when it starts and ends, and what it writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, YStage
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import ConvLayer, PdpLayer, PooledLayer, SdpLayer, StageSource, on_the_fly
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckNothing, InterruptNotify, MemInit, MemLoad, Op, Poll, SyncWait, done_bit
from nvdla_tb.stimulus.model import Played, play_model
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.nvdla.conv_samples import biased_conv, small_conv
from tests.unit.nvdla.registers_helper import Tracked, cases, check_refused, refused
from tests.unit.nvdla.samples import FULL, SMALL, bias_sdp, small_pdp, small_sdp, surface

STATUS = "GLB.S_INTR_STATUS"
POOL_AT = 0x6000


def pooling(precision: Precision = Precision.INT8, **changes: Any) -> PdpParams:
    """Return the average of 2 x 2 windows one element apart, with padding on the left."""
    half = 0x7800 if precision is Precision.FP16 else 1 << 15
    pads = (0,) * 7 if precision is Precision.FP16 else tuple(5 * n for n in range(1, 8))
    values = {"method": PoolMethod.AVERAGE, "pad_left": 1, "recip_width": half, "recip_height": half}
    params = PdpParams(PoolMethod.MAX, 2, 2, 1, 1, 0, 0, 0, 0, pads, 0, 0, precision)
    return replace(params, **(values | changes))


def pooled(producer: SdpLayer | ConvLayer, params: PdpParams | None = None) -> PooledLayer:
    """Return a layer with its output pooled on the fly."""
    layout = producer.dst.layout
    params = params or pooling(layout.precision)
    channels, height, width = layout.shape
    shape = (channels, params.output_height(height), params.output_width(width))
    flying = replace(producer, dst=on_the_fly(layout.config, layout.precision, layout.shape))
    return PooledLayer(flying, surface(shape, POOL_AT, layout.config, layout.precision), params)


def in_two(layer: PooledLayer, between: int = 0x8000) -> tuple[SdpLayer | ConvLayer, PdpLayer]:
    """Return the layers that compute the same through memory."""
    layout = layer.producer.dst.layout
    cube = surface(layout.shape, between, layout.config, layout.precision)
    return replace(layer.producer, dst=cube), PdpLayer(cube, layer.dst, layer.params)


def play(config: HwConfig, seed: int, *ops: Op) -> Played:
    data = np.random.default_rng(seed).integers(0, 256, POOL_AT - 0x1000, dtype=np.uint8).tobytes()
    memory = (MemLoad(Ram.MC, 0x1000, ((0, data),), "in.dat"), MemInit(Ram.MC, POOL_AT, 0x4000))
    return play_model(Scenario("t", config.name, (*memory, *ops), 0), config)


PRODUCERS = {"SDP": bias_sdp((3, 4, 6)), "convolution": small_conv(), "convolution with operands": biased_conv()}


@pytest.mark.parametrize("producer", PRODUCERS.values(), ids=PRODUCERS)
def test_it_starts_when_the_last_unit_is_enabled_whichever_that_is(producer: SdpLayer | ConvLayer) -> None:
    layer = pooled(producer)
    for last in chain_of(layer).units:
        tracked = Tracked()
        assert tracked.program(layer, but=(last,)) == []
        (started,) = tracked.write(f"{last}.D_OP_ENABLE", 1)
        assert started.layer == layer
        assert started.engine in ("SDP-PDP", "CONV-PDP")


@pytest.mark.parametrize("producer", PRODUCERS.values(), ids=PRODUCERS)
@pytest.mark.parametrize("seed", range(4))
def test_it_writes_what_the_same_layers_write_through_memory(producer: SdpLayer | ConvLayer, seed: int) -> None:
    layer = pooled(producer, pooling(method=list(PoolMethod)[seed % 3]))
    together = play(SMALL, seed, *encode(layer, SMALL, 0, "done"), CheckNothing("done"))
    first, second = in_two(layer)
    waits = [SyncWait(unit, "first") for unit in ("PDP", "PDP_RDMA")]
    apart = play(SMALL, seed, *encode(first, SMALL, 0, "first"), *waits, *encode(second, SMALL, 0, "done"))
    assert together.verdict.findings == apart.verdict.findings == []
    (only,) = together.expectations
    assert (only.started.name, only.address) == (f"layer 0 ({chain_of(layer).name}, group 0)", POOL_AT)
    np.testing.assert_array_equal(only.data, apart.expectations[1].data, strict=True)
    np.testing.assert_array_equal(only.must_write, apart.expectations[1].must_write, strict=True)
    assert only.data.any()


def test_sdp_is_free_when_its_own_interrupt_fires_and_pdp_ends_the_layer() -> None:
    tracked, layer = Tracked(), pooled(biased_conv())
    tracked.program(layer)
    units = ("SDP_RDMA", "SDP", "CACC", "CDMA", "PDP")
    assert tracked.enabled(*units) == [True] * 5
    assert tracked.read(STATUS, 1 << done_bit("SDP", 0)) == []
    assert tracked.enabled(*units) == [False] * 4 + [True]
    (ended,) = tracked.read(STATUS, 1 << done_bit("SDP", 0) | 1 << done_bit("PDP", 0))
    assert ended.layer == layer
    assert tracked.enabled(*units) == [False] * 5


def test_the_program_takes_note_of_both_interrupts_so_that_no_later_layer_of_sdp_ends_with_the_first() -> None:
    ops = encode(pooled(bias_sdp((3, 4, 6))), SMALL, {"SDP_RDMA": 1, "SDP": 1, "PDP": 0}, "done")
    assert ops[-2:] == (InterruptNotify("SDP", 1, "done_sdp"), InterruptNotify("PDP", 0, "done"))


def test_units_keep_their_turns_each_on_its_own() -> None:
    tracked, layer = Tracked(), pooled(bias_sdp((3, 4, 6)))
    tracked.program(small_sdp())
    tracked.read(STATUS, 1 << done_bit("SDP", 0))
    (started,) = tracked.program(layer, {"SDP_RDMA": 1, "SDP": 1, "PDP": 0})
    assert (started.index, started.group) == (1, 0)
    tracked.read(STATUS, 1 << done_bit("SDP", 1) | 1 << done_bit("PDP", 0))
    (started,) = tracked.program(layer, {"SDP_RDMA": 0, "SDP": 0, "PDP": 1})
    assert (started.index, started.group) == (2, 1)


def test_pdp_waits_for_a_layer_of_sdp_that_hands_its_output_on() -> None:
    tracked, layer = Tracked(), pooled(bias_sdp((3, 4, 6)))
    assert tracked.program(layer, but=("SDP_RDMA",)) == []
    tracked.tracker.reset()
    assert [s.layer for s in tracked.program(small_sdp(), 0)] == [small_sdp()]
    assert tracked.program(layer, {"SDP_RDMA": 1, "SDP": 1, "PDP": 0}, but=("SDP",)) == []
    assert [s.layer for s in tracked.write("SDP.D_OP_ENABLE", 1)] == [layer]


def test_a_layer_of_pdp_that_was_enabled_before_sdp_starts_behind_the_pooled_one() -> None:
    tracked, layer = Tracked(), pooled(bias_sdp((3, 4, 6)))
    assert tracked.program(layer, but=("SDP",)) == []
    assert tracked.program(small_pdp(), {"PDP_RDMA": 0, "PDP": 1}) == []
    started = tracked.write("SDP.D_OP_ENABLE", 1)
    assert [(s.index, s.engine, s.group, s.layer) for s in started] == [
        (0, "SDP-PDP", 0, layer),
        (1, "PDP", 1, small_pdp()),
    ]


def test_pdp_from_memory_does_not_wait_for_sdp() -> None:
    tracked = Tracked()
    tracked.program(pooled(bias_sdp((3, 4, 6))), but=("PDP",))
    (started,) = tracked.program(small_pdp())
    assert started.layer == small_pdp()


@pytest.mark.parametrize("poll", [False, True])
def test_both_groups_follow_each_other_and_raise_both_interrupts(poll: bool) -> None:
    layer = pooled(bias_sdp((3, 4, 6)))
    other = replace(layer, dst=replace(layer.dst, address=POOL_AT + 0x1000))
    third = replace(layer, dst=replace(layer.dst, address=POOL_AT + 0x2000))
    ends: list[Op] = [InterruptNotify("SDP", 0, "sdp"), InterruptNotify("PDP", 0, "pdp")]
    waits = [SyncWait(unit, "pdp") for unit in ("SDP", "SDP_RDMA", "PDP")]
    between: list[Op] = [Poll("SDP.S_STATUS", 0), Poll("PDP.S_STATUS", 0)] if poll else [*ends, *waits]
    played = play(SMALL, 1, *encode(layer, SMALL), *encode(other, SMALL, 1), *between, *encode(third, SMALL, 0, "end"))
    assert played.verdict.findings == []
    assert [expectation.started.group for expectation in played.expectations] == [0, 1, 0]
    first, *others = (expectation.data for expectation in played.expectations)
    for data in others:
        np.testing.assert_array_equal(data, first, strict=True)


def fp16_conv() -> ConvLayer:
    return small_conv(FULL, Precision.FP16)


@pytest.mark.parametrize("method", PoolMethod)
def test_a_pooled_fp16_convolution_is_judged_by_what_the_convolution_may_differ_by(method: PoolMethod) -> None:
    rng = np.random.default_rng(9)
    layer = pooled(fp16_conv(), pooling(Precision.FP16, method=method))
    values = rng.standard_normal(0x2800).astype(np.float16).tobytes()
    memory = (MemLoad(Ram.MC, 0x1000, ((0, values),), "in.dat"), MemInit(Ram.MC, POOL_AT, 0x2000))
    ops = (*memory, *encode(layer, FULL, 0, "done"))
    (expectation,) = play_model(Scenario("t", "nv_full", ops, 0), FULL).expectations
    assert expectation.tolerated is not None
    allowance = expectation.tolerated.tolerance.allowance
    assert allowance is not None
    channels = layer.dst.layout.shape[0]
    assert (allowance[:channels] > 0).all()
    # Writing rounds to FP16, by up to a tenth of an allowance here.
    for factor, ending in ((0.0, Ending.PASSED), (0.85, Ending.PASSED), (1.6, Ending.MISMATCH)):
        board = Scoreboard()
        board.expect(expectation)
        cube = expectation.tolerated.reference + factor * allowance
        cube[channels:] = expectation.tolerated.reference[channels:]
        data = layer.dst.layout
        whole = type(data).packed(FULL, Precision.FP16, (data.padded_channels, *data.shape[1:]))
        written = whole.pack(cube.astype(np.float16)).tobytes()
        board.write_beats(Beats.of(Ram.MC, POOL_AT, written, (1 << data.nbytes) - 1, 0, 0))
        assert board.finish().ending is ending, factor


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda layer: replace(layer, producer=replace(layer.producer, dst=surface((3, 4, 6), 0x2000))),
            "producer.dst must be without gaps at address 0 of MC, because it is not written",
        ),
        (
            lambda layer: replace(layer, dst=surface((3, 4, 6), POOL_AT)),
            "dst must have the shape (3, 3, 6), not (3, 4, 6)",
        ),
        (
            lambda layer: replace(layer, params=pooling(Precision.FP16, nan_to_zero=True)),
            "nan_to_zero must be False, because PDP flushes NaN from memory alone",
        ),
        (
            lambda layer: replace(layer, params=replace(pooling(), precision=Precision.INT16)),
            "params must have the precision INT8, not INT16",
        ),
    ],
)
def test_layers_that_do_not_fit_are_refused(change: Callable[[PooledLayer], PooledLayer], message: str) -> None:
    with refused(message):
        change(pooled(bias_sdp((3, 4, 6))))


def test_a_comparison_has_nothing_to_pool() -> None:
    base = small_sdp((3, 4, 6), config=FULL)
    layer = replace(base, params=replace(base.params, y=YStage(AluOp.EQUAL, mul=False)), y=StageSource(alu=3))
    message = "producer must not compare, because a comparison has no result to pool"
    with refused(message):
        pooled(layer)


def test_more_columns_than_the_line_buffer_holds_are_refused() -> None:
    with pytest.raises(InputError, match=r"^dst must leave parts of at most 64 output columns, .*, not 65$"):
        pooled(bias_sdp((3, 4, 65)))


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    cases(
        pooled(bias_sdp((3, 4, 6))),
        ("PDP.D_DATA_CUBE_IN_WIDTH.cube_in_width", 6, ": must be the 6 that SDP hands on, not 7"),
        ("PDP.D_OPERATION_MODE_CFG.split_num", 1, " must be 0, not 1: on the fly no width is split"),
        ("PDP.D_OPERATION_MODE_CFG.flying_mode", 1, " must be 0, not 1: SDP hands its output to PDP"),
        ("SDP.D_FEATURE_MODE_CFG.output_dst", 0, " must be 1, not 0: PDP takes its input from SDP"),
    ),
)
def test_registers_that_do_not_fit_are_refused(layer: PooledLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, changes, message)
