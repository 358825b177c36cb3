"""Bounds of layers, the ratio to them, and when layers run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder
from nvdla_models.precision import Precision
from nvdla_networks.compiler.graph import Shape
from nvdla_tb.judge.layer_facts import LayerTimes
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import Layer, SdpLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.performance import Performance, Work, silent_cycles, work_of
from nvdla_tb.nvdla.program.conv_buffer import Fetch
from nvdla_tb.nvdla.surfaces import CbufUse
from tests.unit.networks.compiler.playing import SMALL, played
from tests.unit.nvdla.conv_samples import conv_params, small_conv
from tests.unit.nvdla.samples import FULL, small_pdp, small_sdp, surface
from tests.unit.nvdla.test_pooled_layer import pooled


def started(index: int, layer: SdpLayer, group: int = 0) -> StartedLayer:
    return StartedLayer(index, "SDP", group, layer, groups={"SDP": group, "SDP_RDMA": group})


def expected(layer: StartedLayer, nbytes: int) -> Expectation:
    """Return what is expected of a layer that must write some bytes, and may write one more."""
    must_write = np.arange(nbytes + 1) < nbytes
    surface = small_sdp().dst
    return Expectation(layer, Ram.MC, surface.address, surface.layout, np.zeros(nbytes + 1, np.uint8), must_write)


def test_the_multipliers_take_a_step_for_each_group_of_kernels_and_channels() -> None:
    layer = small_conv()
    kernels, channels, rows, columns = layer.weights.layout.shape
    _, height, width = layer.dst.layout.shape
    work = work_of(layer)
    assert work.macs == kernels * channels * rows * columns * height * width
    assert work.bounds["MAC"] == -(-kernels // 8) * -(-channels // 8) * rows * columns * height * width
    assert work.mac_peak == 64
    weights = layer.weights.layout.nbytes
    source = layer.src.layout
    assert work.read_bytes[Ram.MC] >= weights + source.padded_channels * source.shape[1] * source.shape[2]


def test_a_convolution_is_silent_while_it_loads_weights_for_few_outputs() -> None:
    layer = small_conv()
    few = replace(
        layer, src=surface((10, 2, 3), 0x1000), dst=surface((9, 1, 1), 0x2000), params=conv_params(), cbuf=CbufUse(1, 1)
    )
    assert silent_cycles(layer) == work_of(layer).bounds["MAC"] == 2 * 2 * 2 * 3 * 15
    assert silent_cycles(few) == 2 * 2 * 2 * 3 * 8


def test_a_pooled_convolution_is_silent_as_long_as_the_convolution() -> None:
    assert silent_cycles(pooled(small_conv())) == silent_cycles(small_conv())


def test_pooling_takes_a_cycle_for_each_element_that_it_reads() -> None:
    layer = small_pdp()
    channels, height, width = layer.src.layout.shape
    assert work_of(layer).bounds["PDP"] == -(-channels // 8) * 8 * height * width
    assert work_of(layer).macs == 0


def test_ports_take_a_cycle_for_each_beat_in_each_direction() -> None:
    layer = small_sdp()
    work = work_of(layer)
    cube = layer.dst.layout
    written = cube.padded_channels * cube.shape[1] * cube.shape[2]
    assert work.written_bytes == {Ram.MC: written}
    assert work.bounds["MC write"] == written // 8
    assert work.bounds["SDP"] == written


def test_what_lies_in_the_buffer_is_not_read() -> None:
    layer = small_conv()
    every, lines, nothing = (
        work_of(layer, Fetch(data, weights)).read_bytes.get(Ram.MC, 0)
        for data, weights in ((True, True), (True, False), (False, False))
    )
    assert every == lines + layer.weights.layout.nbytes
    source = layer.src.layout
    assert lines - nothing == source.padded_channels * source.shape[1] * source.shape[2]


def _convolved(shape: Shape, kernels: int, side: int, *, stride: int = 1, pad: int = 0) -> Layer:
    """Return a convolution of a cube as nv_small gets it."""
    net = NetworkBuilder("measured", shape, 1)
    cubes = replace(SMALL, image_formats_packed=(), image_formats_semi_planar=())
    (layer,) = played(net.model(net.conv(net.input, kernels, side, stride=stride, pad=pad)), cubes)[2]
    return layer


def _pooled(shape: Shape) -> Layer:
    net = NetworkBuilder("measured", shape, 1)
    (layer,) = played(net.model(net.pool(net.input, "MaxPool", 2, 2)))[2]
    return layer


def _added(shape: Shape) -> Layer:
    net = NetworkBuilder("measured", shape, 1)
    (layer,) = played(net.model(net.plus(net.input, net.input)))[2]
    return layer


@pytest.mark.parametrize(
    ("layer", "bound", "least", "measured"),
    [
        (lambda: _convolved((1, 28, 28), 20, 5), "MAC", 43_200, 44_472),
        (lambda: _pooled((20, 24, 24)), "PDP", 13_824, 14_456),
        (lambda: _pooled((50, 8, 8)), "PDP", 3_584, 3_896),
        (lambda: _convolved((20, 12, 12), 50, 5), "MAC", 33_600, 34_924),
        (lambda: _convolved((800, 1, 1), 500, 1), "MC read", 50_112, 57_622),
        (lambda: _convolved((500, 1, 1), 10, 1), "latency", 688, 1_833),
        (lambda: _convolved((16, 32, 32), 16, 3, pad=1), "MAC", 36_864, 39_650),
        (lambda: _convolved((32, 16, 16), 32, 3, pad=1), "MAC", 36_864, 39_315),
        (lambda: _convolved((64, 8, 8), 64, 3, pad=1), "MAC", 36_864, 38_340),
        (lambda: _convolved((16, 32, 32), 32, 1, stride=2), "latency", 8_192, 14_071),
        (lambda: _added((16, 32, 32)), "SDP", 16_384, 16_846),
    ],
)
def test_the_bounds_are_those_of_layers_measured_on_the_public_nv_small_rtl(
    layer: Callable[[], Layer], bound: str, least: int, measured: int
) -> None:
    performance = Performance(work_of(layer()), measured)
    assert performance.holds == bound
    # Operands of channels and the alignment of weights count as beats, too.
    assert least <= performance.work.bound[1] <= 1.04 * least
    assert 1 < performance.ratio < (1.16 if bound != "latency" else 3)


def work(macs: int = 0, **bounds: int) -> Work:
    return Work(macs, bounds, {}, {}, 64)


def test_the_largest_bound_holds_until_the_cycles_are_far_from_it() -> None:
    near, far = (Performance(work(6400, MAC=100, SDP=90), cycles) for cycles in (110, 151))
    assert (near.holds, far.holds) == ("MAC", "latency")
    assert near.ratio == pytest.approx(1.1)
    assert near.mac_utilisation == pytest.approx(100 / 110)
    assert Performance(work(SDP=1), 1).mac_utilisation is None


def test_a_layer_that_waits_for_its_unit_begins_with_the_end_of_the_one_before() -> None:
    times = LayerTimes()
    layer = small_sdp()
    both = started(0, layer), started(1, layer, 1)
    for one, nbytes, cycle in zip(both, (48, 50), (100, 120), strict=True):
        times.started(one, expected(one, nbytes), cycle)
    for one, cycle in zip(both, (300, 450), strict=True):
        times.ended(one, cycle)
    first, second = times
    assert (first.nbytes, second.nbytes) == (48, 50)
    assert first.ended is not None
    assert second.ended is not None
    assert (first.ended - first.begun, second.ended - second.begun) == (200, 150)
    assert (second.enabled, second.begun) == (120, 300)


def test_a_statistic_belongs_to_the_layer_that_ended_last_in_its_group() -> None:
    times = LayerTimes()
    layer = small_sdp()
    three = [started(index, layer, group) for index, group in ((0, 0), (1, 1), (2, 0))]
    for one in three:
        times.started(one, expected(one, 1), one.index)
    times.ended(three[0], 10)
    times.ended(three[1], 11)
    times.see_counter("SDP", 0, "SDP.D_PERF_OUT_SATURATION", 5)
    times.see_counter("SDP", 1, "SDP.D_PERF_OUT_SATURATION", 6)
    times.see_counter("CDP", 0, "CDP.D_PERF_LUT_UFLOW", 7)
    assert [times.counters.get(index, {}) for index in range(3)] == [
        {"SDP.D_PERF_OUT_SATURATION": 5},
        {"SDP.D_PERF_OUT_SATURATION": 6},
        {},
    ]


PDP_STALL, RDMA = "PDP.D_PERF_WRITE_STALL", "SDP_RDMA.D_PERF_{}RDMA_READ_STALL"


def ran(times: LayerTimes, layer: StartedLayer, **read: int) -> None:
    """Note a layer from its start to the read of its counters."""
    times.started(layer, expected(layer, 1), 100 * layer.index)
    times.ended(layer, 100 * layer.index + 50)
    for name, value in read.items():
        unit, _, register = name.partition("__")
        times.see_counter(unit, layer.groups[unit], f"{unit}.{register}", value)


def pooling(index: int, *, counts: bool = True) -> StartedLayer:
    flags = frozenset(["PDP.dma_en"] if counts else [])
    return StartedLayer(index, "PDP", index % 2, small_sdp(), groups={"PDP": index % 2}, counting=flags)


def test_counters_that_go_on_from_layer_to_layer_are_differences() -> None:
    times = LayerTimes()
    for index, value in enumerate((7, 7, 30)):
        ran(times, pooling(index), PDP__D_PERF_WRITE_STALL=value)
    assert [times.counted(index) for index in range(3)] == [{PDP_STALL: 7}, {PDP_STALL: 0}, {PDP_STALL: 23}]


def test_a_counter_that_was_off_or_not_read_before_says_nothing() -> None:
    times = LayerTimes()
    ran(times, pooling(0), PDP__D_PERF_WRITE_STALL=7)
    ran(times, pooling(1, counts=False), PDP__D_PERF_WRITE_STALL=7)
    ran(times, pooling(2), PDP__D_PERF_WRITE_STALL=9)
    ran(times, pooling(3))
    ran(times, pooling(4), PDP__D_PERF_WRITE_STALL=90)
    assert [times.counted(index) for index in range(5)] == [{PDP_STALL: 7}, {}, {PDP_STALL: 2}, {}, {}]


def test_counters_begin_anew_after_a_reset() -> None:
    times = LayerTimes()
    ran(times, pooling(0), PDP__D_PERF_WRITE_STALL=7)
    times.reset()
    ran(times, pooling(1), PDP__D_PERF_WRITE_STALL=9)
    assert [times.counted(index) for index in range(2)] == [{PDP_STALL: 7}, {PDP_STALL: 9}]


def test_a_stage_that_a_layer_does_not_use_shows_nothing() -> None:
    times = LayerTimes()
    layer = replace(started(0, small_sdp()), counting=frozenset(["SDP_RDMA.perf_dma_en"]))
    read = {f"SDP_RDMA__D_PERF_{stage}RDMA_READ_STALL": 5 for stage in "MBNE"}
    ran(times, layer, **read)
    assert times.counted(0) == {RDMA.format("M"): 5}


def test_half_as_many_kernels_of_two_bytes_are_multiplied_at_a_time() -> None:
    peaks = [work_of(small_conv(FULL, precision)).mac_peak for precision in (Precision.INT8, Precision.FP16)]
    assert peaks == [64 * 32, 64 * 16]
