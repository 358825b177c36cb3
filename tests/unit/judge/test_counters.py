"""Statistics counters: whose they are, when they are judged, and what they must read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.fp16 import FP16
from nvdla_models.lut import HybridLut, LutTable
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, YStage, compute, output_converter
from nvdla_tb.judge.counters import Count, CounterBoard
from nvdla_tb.judge.detail import WrongCounter
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.predictor import predict
from nvdla_tb.judge.predictor.counters import counted
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import CdpLayer, StageSource, Surface
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckNothing, MemInit, MemLoad, Op, RegRead, RegWrite
from nvdla_tb.nvdla.surfaces import Compression
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.scenario import Scenario
from tests.measured import carried
from tests.unit.nvdla.conv_samples import small_conv
from tests.unit.nvdla.samples import FULL, SMALL, small_cdp, small_sdp

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


def random_bytes() -> bytes:
    """Return what memory holds from 0x1000 on."""
    return np.random.default_rng(2).integers(0, 256, 0x3000, dtype=np.uint8).tobytes()


def run(config: HwConfig, *ops: Op) -> list[Finding]:
    """Play on random memory and return the findings."""
    memory = (MemLoad(Ram.MC, 0x1000, ((0, random_bytes()),), "in.dat"), MemInit(Ram.MC, 0x4000, 0x2000))
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


def classified(config: HwConfig, precision: Precision) -> tuple[CdpLayer, dict[str, int]]:
    """Return a layer that looks elements up, and what the counters of its lookups read after random memory."""
    le = LutTable(np.arange(65, dtype=np.int16), -100, -36)
    lo = LutTable(np.arange(257, dtype=np.int16), -20, 44, index_select=-2)
    layer = small_cdp((25, 3, 3), config, precision)
    params = replace(layer.params, local_size=None, multiply=False, lut=HybridLut(le, lo))
    layer = replace(layer, params=replace(params, input_converter=Converter(0, 1, 0, ConverterEncoding.CDP_INPUT)))
    layout = layer.src.layout
    x = layout.unpack_padded(np.frombuffer(random_bytes(), np.uint8)[: layout.nbytes]).astype(np.int64)
    x[25:] = 0
    return layer, {
        "UFLOW": int(np.sum(x <= -100)),
        "OFLOW": int(np.sum(x >= 44)),
        "HYBRID": int(np.sum((x >= -36) & (x <= -20))),
        "LE_HIT": int(np.sum((x > -100) & (x < -36))),
        "LO_HIT": int(np.sum((x > -20) & (x < 44))),
    }


def looked_up(config: HwConfig, layer: CdpLayer, enabled: int, read: dict[str, int]) -> list[Finding]:
    """Return the findings when the counters of lookups read these values after a layer."""
    enables = (RegWrite("CDP.S_POINTER", 0), RegWrite("CDP.D_PERF_ENABLE", enabled))
    reads = (RegRead(f"CDP.D_PERF_LUT_{name}", value) for name, value in read.items())
    return run(config, *enables, *encode(layer, config, 0, "a"), *reads, CheckNothing("a"))


@pytest.mark.parametrize("name", ["UFLOW", "OFLOW", "HYBRID", "LE_HIT", "LO_HIT"])
@pytest.mark.parametrize("surplus", [-1, 1])
def test_each_lookup_counter_of_cdp_is_exact_for_int8_where_it_is_enabled(name: str, surplus: int) -> None:
    layer, counts = classified(SMALL, Precision.INT8)
    assert min(counts.values()) > 5
    assert sum(counts.values()) == 32 * 3 * 3
    assert looked_up(SMALL, layer, 0b10, counts) == []
    other = {**counts, name: counts[name] + surplus}
    assert looked_up(SMALL, layer, 0b10, other) == wrong(f"CDP.D_PERF_LUT_{name}", counts[name], other[name], "CDP")
    assert looked_up(SMALL, layer, 0b01, other) == []


def test_the_lookup_counters_of_cdp_may_read_more_for_int16_and_not_less() -> None:
    layer, counts = classified(FULL, Precision.INT16)
    assert looked_up(FULL, layer, 0b10, {name: value + 400 for name, value in counts.items()}) == []
    detail = WrongCounter("CDP.D_PERF_LUT_LO_HIT", counts["LO_HIT"], at_least=True, got=counts["LO_HIT"] - 1)
    found = looked_up(FULL, layer, 0b10, {**counts, "LO_HIT": counts["LO_HIT"] - 1})
    assert found == [Finding(Check.COUNTER, detail, layer=LayerId(0, "CDP", 0))]


@pytest.mark.parametrize(("name", "judged"), [("cdp_int8_lrn3", True), ("cdp_lrn3_k1_mid", False)])
def test_the_lookup_counters_of_cdp_are_judged_for_integers_and_not_for_fp16(name: str, judged: bool) -> None:
    scenario = carried(name)
    first = next(n for n, op in enumerate(scenario.ops) if getattr(op, "register", "") == "CDP.D_OP_ENABLE")
    enable, more = RegWrite("CDP.D_PERF_ENABLE", 0b10), RegRead("CDP.D_PERF_LUT_HYBRID", 0xFFFF_FFFF)
    ops = (*scenario.ops[:first], enable, *scenario.ops[first:], more)
    before, after = (play_model(one, FULL).verdict for one in (scenario, replace(scenario, ops=ops)))
    assert before.findings == []
    assert after.counters == before.counters + judged
    found = [finding.detail.register for finding in after.findings if isinstance(finding.detail, WrongCounter)]
    assert found == ["CDP.D_PERF_LUT_HYBRID"] * judged


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
def test_a_measured_counter_that_differs_is_found(name: str, register: str) -> None:
    scenario = carried(name)
    verdict = play_model(scenario, FULL).verdict
    assert verdict.failures == []
    assert verdict.counters >= 4

    def spoilt(op: Op) -> Op:
        if not isinstance(op, RegRead) or op.register != register or op.expected is None:
            return op
        return replace(op, expected=op.expected + 1)

    (finding,) = play_model(replace(scenario, ops=tuple(map(spoilt, scenario.ops))), FULL).verdict.failures
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
