"""Statistics counters: whose they are, when they are judged, and what they must read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.config import HwConfig
from models.fp16 import FP16
from models.precision import Precision
from models.sdp import AluOp, SdpParams, YStage, compute, output_converter
from tb.judge.counters import Count, CounterBoard
from tb.judge.detail import WrongCounter
from tb.judge.finding import Check, Finding
from tb.judge.layer_id import LayerId
from tb.judge.predictor import predict
from tb.judge.predictor.counters import counted
from tb.judge.tracker import StartedLayer
from tb.nvdla.layers import StageSource, Surface
from tb.nvdla.memory import MemoryImage, Ram
from tb.nvdla.program.codec import encode
from tb.nvdla.program.ops import CheckNothing, MemInit, MemLoad, Op, RegRead, RegWrite
from tb.nvdla.surfaces import Compression
from tb.stimulus.model import play_model
from tb.stimulus.scenario import Scenario
from tb.stimulus.trace import read
from tests.unit.nvdla.conv_samples import small_conv
from tests.unit.nvdla.samples import FULL, SMALL, small_sdp
from tests.unit.stimulus.trace.measured_files import CARRIED, rewritten

SATURATION = "SDP.D_PERF_OUT_SATURATION"
LAYER = StartedLayer(3, "SDP", 1, small_sdp(), groups={"SDP": 1, "SDP_RDMA": 0})
COUNTS = {SATURATION: Count(5), "SDP_RDMA.D_STATUS_NAN_INPUT_NUM": Count(2, at_least=True)}


def ended() -> CounterBoard:
    board = CounterBoard(lambda unit: 0, dict.fromkeys(Ram, 0))
    board.start(LAYER, COUNTS)
    board.end(3)
    return board


def test_a_wrong_counter_is_named_with_its_layer() -> None:
    board = ended()
    assert board.check("SDP", "D_PERF_OUT_SATURATION", 1, 5) is None
    wrong = WrongCounter(SATURATION, expected=5, at_least=False, got=4)
    assert board.check("SDP", "D_PERF_OUT_SATURATION", 1, 4) == (LayerId(3, "SDP", 1), wrong)
    assert board.judged == 2


@pytest.mark.parametrize(("got", "right"), [(1, False), (2, True), (40, True)])
def test_a_counter_with_a_surplus_has_a_least_value(got: int, right: bool) -> None:
    wrong = WrongCounter("SDP_RDMA.D_STATUS_NAN_INPUT_NUM", expected=2, at_least=True, got=got)
    found = ended().check("SDP_RDMA", "D_STATUS_NAN_INPUT_NUM", 0, got)
    assert found == (None if right else (LAYER.id, wrong))


@pytest.mark.parametrize(("unit", "register", "group"), [("SDP", "D_PERF_OUT_SATURATION", 0), ("SDP", "D_OTHER", 1)])
def test_the_other_group_and_other_registers_are_not_judged(unit: str, register: str, group: int) -> None:
    board = ended()
    assert board.check(unit, register, group, 99) is None
    assert board.judged == 0


def test_a_running_layer_is_not_judged_and_takes_the_group_over() -> None:
    board = ended()
    board.start(replace(LAYER, index=4), {SATURATION: Count(7)})
    assert board.check("SDP", "D_PERF_OUT_SATURATION", 1, 5) is None
    assert board.judged == 0
    board.end(4)
    assert board.check("SDP", "D_PERF_OUT_SATURATION", 1, 5) is not None


def test_a_reset_forgets_all() -> None:
    board = ended()
    board.reset()
    assert board.check("SDP", "D_PERF_OUT_SATURATION", 1, 99) is None


def wrong(register: str, expected: int, got: int, engine: str = "SDP") -> list[Finding]:
    """Return the findings when a counter of the first layer reads another value."""
    detail = WrongCounter(register, expected, at_least=False, got=got)
    return [Finding(Check.COUNTER, detail, layer=LayerId(0, engine, 0))]


def run(config: HwConfig, *ops: Op) -> list[Finding]:
    """Play on random memory and return the findings."""
    data = np.random.default_rng(2).integers(0, 256, 0x3000, dtype=np.uint8).tobytes()
    memory = (MemLoad(Ram.MC, 0x1000, ((0, data),), "in.dat"), MemInit(Ram.MC, 0x4000, 0x2000))
    return play_model(Scenario("t", config.name, (*memory, *ops), 0), config).verdict.findings


def test_saturated_outputs_are_counted_where_it_is_enabled() -> None:
    layer = small_sdp((8, 4, 4))
    layer = replace(layer, params=replace(layer.params, converter=output_converter(1 << 30, 1, 0)))
    program = encode(layer, SMALL, 0, "a")
    reads = (RegRead(SATURATION, 0), CheckNothing("a"))
    assert run(SMALL, *program, *reads) == []
    counting = (RegWrite("SDP.S_POINTER", 0), RegWrite("SDP.D_PERF_ENABLE", 4))
    assert run(SMALL, *counting, *program, *reads) == wrong(SATURATION, 128, 0)
    assert run(SMALL, *counting, *program, RegRead(SATURATION, 128), CheckNothing("a")) == []


def test_the_convolution_counts_saturated_sums() -> None:
    program = encode(small_conv(), SMALL, 0, "a")
    assert run(SMALL, *program, RegRead("CACC.D_OUT_SATURATION", 0), CheckNothing("a")) == []
    found = run(SMALL, *program, RegRead("CACC.D_OUT_SATURATION", 1), CheckNothing("a"))
    assert found == wrong("CACC.D_OUT_SATURATION", 0, 1, "CONV")


def test_a_comparison_leaves_whether_anything_differed() -> None:
    layer = small_sdp((8, 4, 4), config=FULL)
    layer = replace(layer, params=replace(layer.params, y=YStage(AluOp.EQUAL, mul=False)), y=StageSource(alu=3))
    program = encode(layer, FULL, 0, "a")
    assert run(FULL, *program, RegRead("SDP.D_STATUS", 1), CheckNothing("a")) == []
    assert run(FULL, *program, RegRead("SDP.D_STATUS", 0), CheckNothing("a")) == wrong("SDP.D_STATUS", 1, 0)


@pytest.mark.parametrize(
    ("name", "register"),
    [
        ("dc_fp16_4x4x128_k32_nan_collide", "CDMA.D_NAN_INPUT_WEIGHT_NUM"),
        ("sdp_bn_batchnorm_ch_mid", "SDP_RDMA.D_STATUS_NAN_INPUT_NUM"),
        ("cdp_lrn3_k1_mid", "CDP.D_OUT_SATURATION"),
    ],
)
def test_a_measured_counter_that_differs_is_found(name: str, register: str, tmp_path: Path) -> None:
    path = CARRIED / f"{name}.npz"
    verdict = play_model(read(path, FULL), FULL).verdict
    assert verdict.failures == []
    assert verdict.counters >= 4

    def spoil(arrays: object, meta: dict[str, dict[str, int]]) -> None:
        del arrays
        status = meta["status_read_after_done"]
        status[register] += 1

    other = rewritten(tmp_path / f"{name}.npz", name, spoil)
    (finding,) = play_model(read(other, FULL), FULL).verdict.failures
    assert isinstance(finding.detail, WrongCounter)
    assert (finding.check, finding.detail.register) == (Check.COUNTER, register)
    assert finding.detail.got == finding.detail.expected + 1
    assert finding.layer is not None
    assert finding.layer.index == 0


@pytest.mark.parametrize("compressed", [False, True])
def test_cdma_counts_padding_channels_and_padding_behind_weights(compressed: bool) -> None:
    layer = small_conv(FULL, Precision.FP16)
    image, nan = MemoryImage(), np.array([FP16.infinity_bits | 1], np.uint16).view(np.uint8)
    weights, fetched = layer.weights, layer.weights.layout.nbytes
    if compressed:
        image.write(0x7000, np.zeros(1 << 12, np.uint8))
        fetched = 256
        layer = replace(layer, weights=replace(weights, compression=Compression(0x7000, 0x7800, fetched)))
    assert isinstance(layer.src, Surface)
    image.write(layer.src.address, np.zeros(layer.src.layout.nbytes, np.uint8))
    image.write(weights.address, np.zeros(weights.layout.nbytes, np.uint8))
    image.write(layer.src.address + 2 * 10, nan)
    image.write(weights.address + fetched - 2, nan)
    assert weights.layout.nbytes > 2 * weights.layout.elements
    started = StartedLayer(0, "CONV", 0, layer)
    counts = predict(started, lambda _, address, nbytes: image.read_array(address, nbytes)).counts
    assert [counts[f"CDMA.D_NAN_INPUT_{of}_NUM"].value for of in ("DATA", "WEIGHT")] == [1, 1]


@pytest.mark.parametrize(("config", "expected"), [(SMALL, 2), (FULL, 1)])
def test_a_clip_by_one_counts_on_nv_small_and_not_on_nv_full(config: HwConfig, expected: int) -> None:
    params = SdpParams(None, None, output_converter(-65410, 1, 0), Precision.INT8, Precision.INT8)
    layer = replace(small_sdp((2, 1, 1), config=config), params=params)
    groups, counting = {"SDP": 0, "SDP_RDMA": 0}, frozenset({"SDP.perf_sat_en"})
    started = StartedLayer(0, "SDP", 0, layer, groups=groups, counting=counting)
    cube = np.array([126, 127], dtype=np.int8).reshape(2, 1, 1)
    assert counted(started, compute(params, cube), {})[SATURATION] == Count(expected)
