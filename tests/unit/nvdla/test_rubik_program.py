"""RUBIK: golden words by hand, every refusal, the bytes that each mode leaves, and its interrupt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.layout import FeatureLayout, PlanarLayout
from nvdla_models.precision import Precision
from nvdla_tb.judge.predictor import Expectation, predict
from nvdla_tb.judge.tracker import LayerTracker, StartedLayer
from nvdla_tb.nvdla.layers import PlanarSurface, RubikLayer, RubikMode, Surface
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckFile, InterruptNotify, MemInit, MemLoad, RegWrite, done_bit
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.registers import RegisterError
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.refusal import refusal
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.nvdla.registers_helper import Tracked, cases, check_refused, decode_with, refused, words_of
from tests.unit.nvdla.samples import FULL, SMALL, surface

INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


def planes(shape: tuple[int, int, int], address: int, precision: Precision = INT8) -> PlanarSurface:
    return PlanarSurface(PlanarLayout.packed(FULL, precision, shape), address)


def contract(precision: Precision = INT8) -> RubikLayer:
    src = surface((192, 3, 5), 0x1000, FULL, precision)
    return RubikLayer(RubikMode.CONTRACT, src, surface((32, 9, 10), 0x9000, FULL, precision), 3, 2)


def split(precision: Precision = INT8) -> RubikLayer:
    src = surface((40, 5, 37), 0x1000, FULL, precision)
    return RubikLayer(RubikMode.SPLIT, src, planes((33, 5, 37), 0x9000, precision))


def merge(precision: Precision = INT8) -> RubikLayer:
    dst = surface((40, 5, 37), 0x9000, FULL, precision)
    return RubikLayer(RubikMode.MERGE, planes((40, 5, 37), 0x1000, precision), dst)


LAYERS = {mode.__name__: mode for mode in (contract, split, merge)}


def test_contract_has_the_words_that_the_programming_guide_gives() -> None:
    words = words_of(contract(INT16))["RBK"]
    assert (words["D_MISC_CFG"], words["D_DECONV_STRIDE"]) == (1 << 8, 2 << 16 | 1)
    assert (words["D_DATAIN_SIZE_0"], words["D_DATAIN_SIZE_1"], words["D_DATAOUT_SIZE_1"]) == (2 << 16 | 4, 191, 31)
    assert (words["D_DAIN_ADDR_LOW"], words["D_DAIN_LINE_STRIDE"], words["D_DAIN_SURF_STRIDE"]) == (0x1000, 160, 480)
    assert (words["D_DAOUT_ADDR_LOW"], words["D_DAOUT_LINE_STRIDE"]) == (0x9000, 320)
    assert (words["D_DAOUT_SURF_STRIDE"], words["D_DAIN_RAM_TYPE"], words["D_DAOUT_RAM_TYPE"]) == (2880, 1, 1)
    # The 32 channels of a column fill two surfaces of INT16; three lines come of one.
    assert (words["D_CONTRACT_STRIDE_0"], words["D_CONTRACT_STRIDE_1"]) == (2 * 480, 3 * 320)


def test_split_and_merge_have_a_planar_stride_on_their_planar_side_alone() -> None:
    words = words_of(split())["RBK"]
    assert (words["D_MISC_CFG"], words["D_DATAIN_SIZE_1"], words["D_DATAOUT_SIZE_1"]) == (1, 39, 32)
    assert (words["D_DAIN_PLANAR_STRIDE"], words["D_DAOUT_PLANAR_STRIDE"], words["D_DAOUT_LINE_STRIDE"]) == (0, 320, 64)
    words = words_of(merge(FP16))["RBK"]
    assert (words["D_MISC_CFG"], words["D_DATAIN_SIZE_1"], words["D_DATAOUT_SIZE_1"]) == (2 << 8 | 2, 39, 39)
    assert (words["D_DAIN_PLANAR_STRIDE"], words["D_DAOUT_PLANAR_STRIDE"], words["D_DAIN_SURF_STRIDE"]) == (640, 0, 0)


def test_addresses_have_64_bits_and_either_ram() -> None:
    layer = replace(split(), dst=replace(split().dst, address=0x12_3456_7880, ram=Ram.CVSRAM))
    words = words_of(layer)["RBK"]
    assert (words["D_DAOUT_ADDR_HIGH"], words["D_DAOUT_ADDR_LOW"], words["D_DAOUT_RAM_TYPE"]) == (0x12, 0x34567880, 0)
    assert decode_with(layer, {}) == layer


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)
def test_a_layer_survives_registers(make: type, precision: Precision) -> None:
    layer = make(precision)
    assert decode_with(layer, {}) == layer


@pytest.mark.parametrize(
    ("layer", "field"),
    [
        (split(), "D_CONTRACT_STRIDE_0.contract_stride_0"),
        (split(), "D_CONTRACT_STRIDE_1.contract_stride_1"),
        (split(), "D_DAIN_PLANAR_STRIDE.dain_planar_stride"),
        (split(), "D_DAOUT_SURF_STRIDE.daout_surf_stride"),
        (split(), "D_DECONV_STRIDE.deconv_x_stride"),
        (merge(), "D_CONTRACT_STRIDE_0.contract_stride_0"),
        (merge(), "D_DAIN_SURF_STRIDE.dain_surf_stride"),
        (merge(), "D_DAOUT_PLANAR_STRIDE.daout_planar_stride"),
        (merge(), "D_DECONV_STRIDE.deconv_y_stride"),
        (contract(), "D_DAIN_PLANAR_STRIDE.dain_planar_stride"),
        (contract(), "D_DAOUT_PLANAR_STRIDE.daout_planar_stride"),
    ],
)
def test_a_register_that_a_mode_does_not_need_does_not_matter(layer: RubikLayer, field: str) -> None:
    assert decode_with(layer, {f"RBK.{field}": 17}) == layer


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    [
        *cases(
            contract(),
            ("RBK.D_MISC_CFG.rubik_mode", 3, ": must be one of 0, 1, 2, not 3"),
            ("RBK.D_MISC_CFG.in_precision", 3, ": must be one of 0, 1, 2, not 3"),
            (
                "RBK.D_DATAIN_SIZE_1.datain_channel",
                190,
                ": channels must be a multiple of the 192 that contract needs with stride (3, 2), not 191",
            ),
            ("RBK.D_DATAOUT_SIZE_1.dataout_channel", 30, ": dst must have the shape (32, 9, 10), not (31, 9, 10)"),
            ("RBK.D_CONTRACT_STRIDE_0.contract_stride_0", 16, " must be the 480 bytes of the cubes, not 512"),
            ("RBK.D_CONTRACT_STRIDE_1.contract_stride_1", 29, " must be the 960 bytes of the cubes, not 928"),
            (
                "RBK.D_DATAIN_SIZE_0.datain_width",
                8191,
                "RBK.D_DAIN_LINE_STRIDE.dain_line_stride: line_stride_bytes must be at least the 262144 bytes of a "
                "line, not 160",
            ),
        ),
        *cases(
            split(),
            ("RBK.D_DATAOUT_SIZE_1.dataout_channel", 40, ": dst must have the shape (40, 5, 37), not (41, 5, 37)"),
            (
                "RBK.D_DAOUT_ADDR_LOW.daout_addr_low",
                0x9020 // 32,
                ": address must be a multiple of 64 bytes, not 0x9020",
            ),
            (
                "RBK.D_DAOUT_LINE_STRIDE.daout_line_stride",
                3,
                ": line_stride_bytes must be a multiple of 64 bytes for M-planar data, not 96",
            ),
        ),
        *cases(
            merge(),
            (
                "RBK.D_DAIN_PLANAR_STRIDE.dain_planar_stride",
                8,
                ": planar_stride_bytes must be at least the 320 bytes of a plane, not 256",
            ),
            ("RBK.D_DATAOUT_SIZE_1.dataout_channel", 38, ": dst must have the shape (40, 5, 37), not (39, 5, 37)"),
        ),
    ],
)
def test_a_program_is_refused(layer: RubikLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, changes, message)


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    [
        (contract(), {"dst": planes((32, 9, 10), 0)}, "dst must be a feature cube for contract, not planes"),
        (split(), {"dst": split().src}, "dst must be planes for split, not a feature cube"),
        (merge(), {"src": merge().dst}, "src must be planes for merge, not a feature cube"),
        (split(), {"stride_x": 2}, "stride_x must be 1 for split, not 2"),
        (contract(), {"stride_y": 33}, "stride y must be 1 to 32, not 33"),
        (contract(), {"dst": contract(INT16).dst}, "dst must have the precision INT8 of src, not INT16"),
        (
            contract(),
            {"src": surface((192, 3, 5), 0), "dst": surface((32, 9, 10), 0)},
            "RUBIK must not be used: nv_small has none; configurations with RUBIK: nv_full, nv_large",
        ),
        (contract(), {"dst": surface((32, 9, 10), 0)}, "dst must be laid out for nv_full as src, not nv_small"),
    ],
)
def test_a_layer_that_does_not_fit_is_refused(layer: RubikLayer, changes: dict[str, object], message: str) -> None:
    with refused(message):
        replace(layer, **changes)


def test_a_stride_between_two_units_of_32_bytes_cannot_be_programmed() -> None:
    message = "RBK.D_DAIN_LINE_STRIDE.dain_line_stride: must be a multiple of 32 bytes, not 161"
    layer = contract()
    object.__setattr__(layer.src.layout, "line_stride_bytes", 161)
    with refused(message, Refused):
        encode(layer, FULL)


def test_a_build_without_rubik_has_no_such_register() -> None:
    ops = (RegWrite("RBK.D_OP_ENABLE", 1),)
    reason = refusal(ops, SMALL)
    assert reason is not None
    assert reason.startswith("unit must be one of ")
    with pytest.raises(RegisterError):
        LayerTracker(SMALL).state.registers.parse("RBK.D_OP_ENABLE")


def predicted(layer: RubikLayer, data: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Expectation:
    memory = MemoryImage()
    memory.write(layer.src.address, data)
    return predict(StartedLayer(0, "RUBIK", 0, layer), lambda ram, at, nbytes: memory.read_array(at, nbytes))


@pytest.mark.parametrize("precision", Precision)
def test_contract_writes_each_element_where_a_literal_loop_puts_it(precision: Precision) -> None:
    layer = contract(precision)
    data = np.random.default_rng(2).integers(0, 256, layer.src.layout.nbytes, dtype=np.uint8)
    expectation = predicted(layer, data)
    src, dst = layer.src.layout, layer.dst.layout
    assert isinstance(src, FeatureLayout)
    assert isinstance(dst, FeatureLayout)
    size = precision.nbytes
    for c, h, w in np.ndindex(32, 9, 10):
        came = src.offset((h % 3 * 2 + w % 2) * 32 + c, h // 3, w // 2)
        at = dst.offset(c, h, w)
        assert expectation.data[at : at + size].tobytes() == data[came : came + size].tobytes()
    assert expectation.must_write.all()


@pytest.mark.parametrize("precision", [INT8, FP16])
def test_split_writes_whole_atoms_with_zeros_and_nothing_behind_them(precision: Precision) -> None:
    layer = split(precision)
    data = np.random.default_rng(3).integers(0, 256, layer.src.layout.nbytes, dtype=np.uint8)
    expectation = predicted(layer, data)
    src, size = layer.src.layout, precision.nbytes
    lines = 33 * 5
    stride = layer.dst.layout.line_stride_bytes
    padded = np.append(expectation.data, np.zeros(lines * stride - len(expectation.data), dtype=np.uint8))
    written = np.append(expectation.must_write, np.zeros(lines * stride - len(expectation.data), dtype=np.bool_))
    whole = -(-37 * size // 32) * 32
    assert (written.reshape(lines, stride) == (np.arange(stride) < whole)).all()
    assert not padded.reshape(lines, stride)[:, 37 * size :].any()
    for c, h, w in np.ndindex(33, 5, 37):
        at, came = (c * 5 + h) * stride + w * size, src.offset(c, h, w)
        assert padded[at : at + size].tobytes() == data[came : came + size].tobytes()
    assert expectation.layout.element_at(stride + 2 * size) == (0, 1, 2)


@pytest.mark.parametrize("precision", [INT8, INT16])
def test_merge_writes_zeros_into_padding_channels(precision: Precision) -> None:
    layer = merge(precision)
    src, dst = layer.src.layout, layer.dst.layout
    data = np.random.default_rng(5).integers(1, 256, src.nbytes, dtype=np.uint8)
    expectation = predicted(layer, data)
    assert isinstance(dst, FeatureLayout)
    assert expectation.must_write.all()
    assert not expectation.data[dst.padding_mask()].any()
    assert dst.padding_mask().any()
    size = precision.nbytes
    for c, h, w in np.ndindex(40, 5, 37):
        at, came = dst.offset(c, h, w), src.offset(c, h, w)
        assert expectation.data[at : at + size].tobytes() == data[came : came + size].tobytes()


def test_the_done_bit_of_rubik_ends_the_layer_of_its_group() -> None:
    tracked = Tracked(FULL)
    for group, layer in enumerate((contract(), split())):
        (started,) = tracked.program(layer, group)
        assert (started.engine, started.group, started.layer) == ("RUBIK", group, layer)
        assert tracked.tracker.interrupts_of(started) == (("RUBIK", group),)
    assert [s.layer for s in tracked.read("GLB.S_INTR_STATUS", 1 << done_bit("RUBIK", 0))] == [contract()]
    assert [s.layer for s in tracked.read("RBK.S_STATUS", 0)] == [split()]
    assert tracked.tracker.running == ()


def test_planes_that_are_split_merge_to_the_same_cube() -> None:
    cube = np.random.default_rng(7).integers(0, 256, 40 * 5 * 37, dtype=np.uint8).view(np.int8).reshape(40, 5, 37)
    src = surface((40, 5, 37), 0x10000, FULL)
    middle = planes((40, 5, 37), 0x20000)
    dst = Surface(src.layout, 0x40000, Ram.CVSRAM)
    data = src.layout.pack(cube).tobytes()
    ops = [
        MemLoad(Ram.MC, 0x10000, ((0, data),), "in.dat"),
        MemInit(Ram.CVSRAM, 0x40000, len(data)),
        *encode(RubikLayer(RubikMode.SPLIT, src, middle), FULL, 0, "a"),
        *encode(RubikLayer(RubikMode.MERGE, middle, dst), FULL, 1, "b"),
        CheckFile("b", Ram.CVSRAM, 0x40000, len(data), ((0, data),), "out.dat"),
    ]
    assert InterruptNotify("RUBIK", 1, "b") in ops
    played = play_model(Scenario("t", "nv_full", tuple(ops), 0), FULL)
    assert played.verdict.failures == []
    assert (played.verdict.layers, played.verdict.judged_bytes) == (2, len(data))
