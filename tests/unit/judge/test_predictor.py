"""Predictions of tiny layers, computed by hand byte by byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.cdp import CdpParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import FeatureLayout, OperandLayout
from nvdla_models.lut import HybridLut, LutTable
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, SdpStage, output_converter
from nvdla_tb.judge.predictor import Expectation, predict
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import CdpLayer, Layer, OperandSurface, PdpLayer, SdpLayer, StageSource, Surface, WidthSplit
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from tests.unit.nvdla.samples import ADD, FULL, IDENTITY, SCALE, SMALL, small_sdp, surface

BOTH = replace(ADD, mul=True)


def hexed(data: str) -> bytes:
    return bytes.fromhex(data.replace(" ", ""))


def expectation(layer: Layer, contents: dict[int, str], ram: Ram = Ram.MC) -> Expectation:
    """Predict a layer over memory of hexadecimal ``contents``; reads of other bytes fail."""
    image = MemoryImage()
    for address, data in contents.items():
        image.allocate_at(f"at {address:x}", address, len(hexed(data)))
        image.write(address, hexed(data))

    def read(where: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        assert where is ram
        assert image.first_bad_byte(address, nbytes, reading=True) is None
        return image.read_array(address, nbytes)

    return predict(StartedLayer(0, layer.unit, 0, layer), read)


def predicted(layer: Layer, contents: dict[int, str]) -> str:
    return expectation(layer, contents).data.tobytes().hex(" ", 8)


def sdp(
    shape: tuple[int, int, int], stage: SdpStage, source: StageSource | None, converter: Converter = IDENTITY
) -> SdpLayer:
    params = SdpParams(stage, None, converter, Precision.INT8, Precision.INT8)
    return SdpLayer(surface(shape, 0x1000), surface(shape, 0x2000), params, source)


def memory(
    shape: tuple[int, int, int], components: tuple[str, ...], component_bytes: int, address: int = 0x3000
) -> StageSource:
    layout = OperandLayout.packed(SMALL, Precision.INT8, shape, components, component_bytes)
    return StageSource(memory=OperandSurface(layout, address))


def test_a_pass_through_copies_padding_channels_too() -> None:
    layer = small_sdp((1, 1, 1))
    assert predicted(layer, {0x1000: "7f 80 81 82 83 84 85 86"}) == "7f80818283848586"


def test_an_expectation_covers_whole_atoms_but_no_gaps() -> None:
    layout = FeatureLayout(SMALL, Precision.INT8, (9, 2, 1), 24, 64)
    layer = replace(small_sdp((9, 2, 1)), dst=Surface(layout, 0x2000))
    wanted = expectation(layer, {0x1000: "".join(f"{n:02x}" * 8 for n in (1, 2, 3, 4))})
    assert (wanted.address, wanted.end, wanted.ram) == (0x2000, 0x2000 + 64 + 24 + 8, Ram.MC)
    atoms = {0: 1, 24: 2, 64: 3, 88: 4}
    for offset in range(len(wanted.data)):
        inside = [value for start, value in atoms.items() if start <= offset < start + 8]
        assert wanted.must_write[offset] == bool(inside)
        if inside:
            assert wanted.data[offset] == inside[0]
    assert wanted.layout is layout


def test_stride_gaps_of_the_source_are_skipped() -> None:
    layout = FeatureLayout(SMALL, Precision.INT8, (8, 2, 1), 16, 32)
    layer = replace(small_sdp((8, 2, 1)), src=Surface(layout, 0x1000))
    contents = {0x1000: "01 02 03 04 05 06 07 08 ff ff ff ff ff ff ff ff 11 12 13 14 15 16 17 18"}
    assert predicted(layer, contents) == "0102030405060708 1112131415161718"


def test_one_byte_operands_per_channel_reach_padding_channels_from_memory() -> None:
    layer = sdp((3, 1, 2), ADD, memory((3, 1, 1), ("alu",), 1))
    contents = {0x1000: "01 02 03 04 05 06 07 08  7f 7f 7f 7f 80 80 80 80", 0x3000: "01 ff 10 20 f0 00 01 80"}
    # Of the second pixel 0x7f + 1, + 0x10 and + 0x20 saturate, and 0x80 - 0x10 and 0x80 - 0x80.
    assert predicted(layer, contents) == "02011324f5060888 7f7e7f7f80808180"


def test_two_byte_operands_per_channel_are_little_endian() -> None:
    layer = sdp((8, 1, 1), ADD, memory((8, 1, 1), ("alu",), 2), output_converter(0, 1, 8))
    contents = {0x1000: "00 00 00 00 00 00 01 ff", 0x3000: "00 01  00 02  00 ff  80 00  7f 00  80 ff  ff 7f  00 80"}
    # In 256ths: 1, 2, -1, 0.5 to 1, 0.496 to 0, -0.5 to -1, 128 saturates, -32769/256 = -128.004.
    assert predicted(layer, contents) == "0102ff0100ff7f80"


def test_one_byte_operands_per_element_lie_like_the_cube() -> None:
    layer = sdp((2, 2, 1), ADD, memory((2, 2, 1), ("alu",), 1))
    contents = {0x1000: "0a" * 16, 0x3000: "".join(f"{n:02x}" for n in range(16))}
    assert predicted(layer, contents) == "0a0b0c0d0e0f1011 1213141516171819"


def test_operands_of_a_strided_element_cube_skip_its_gaps() -> None:
    layout = OperandLayout(SMALL, Precision.INT8, (8, 2, 1), ("alu",), 1, 16, 32)
    layer = sdp((8, 2, 1), ADD, StageSource(memory=OperandSurface(layout, 0x3000)))
    contents = {0x1000: "00" * 16, 0x3000: "01" * 8 + "7e" * 8 + "02" * 8}
    assert predicted(layer, contents) == "01" * 8 + " " + "02" * 8


def test_the_second_surface_takes_the_second_atom_of_per_channel_operands() -> None:
    layer = sdp((9, 1, 1), ADD, memory((9, 1, 1), ("alu",), 1))
    contents = {0x1000: "00" * 16, 0x3000: "".join(f"{n:02x}" for n in range(16))}
    assert predicted(layer, contents) == "0001020304050607 08090a0b0c0d0e0f"


def test_a_pair_in_memory_is_alu_operand_then_multiplier_operand() -> None:
    layer = sdp((8, 1, 1), BOTH, memory((8, 1, 1), ("alu", "mul"), 1))
    contents = {0x1000: "01 02 03 04 05 06 07 08", 0x3000: "01 02  00 03  ff ff  00 00  fb 01  01 01  00 fe  7f 01"}
    # (1+1)*2, 2*3, (3-1)*-1, 0, (5-5), 7, 7*-2, 135 saturates.
    assert predicted(layer, contents) == "0406fe000007f27f"


def test_two_byte_pairs_per_element() -> None:
    layer = sdp((1, 1, 1), BOTH, memory((1, 1, 1), ("alu", "mul"), 2), output_converter(0, 1, 4))
    pairs = "2c 01 02 00" + "00 00 10 00" * 7
    # (4 + 300) * 2 / 16 = 38 = 0x26; 1 * 16 / 16 = 1.
    assert predicted(layer, {0x1000: "04" + "01" * 7, 0x3000: pairs}) == "2601010101010101"


def test_one_operand_can_be_left_to_a_register() -> None:
    source = replace(memory((8, 1, 1), ("mul",), 1), alu=10)
    layer = sdp((8, 1, 1), BOTH, source)
    assert predicted(layer, {0x1000: "01" * 8, 0x3000: "02" * 8}) == "16" * 8


def test_registers_apply_to_every_element_and_padding() -> None:
    layer = sdp((1, 1, 1), SCALE, StageSource(mul=-3))
    assert predicted(layer, {0x1000: "01 02 03 fe 7f 80 00 2a"}) == "fdfaf706807f0082"


def test_x2_follows_x1_and_relu_ends_both() -> None:
    x1 = replace(ADD, relu=True)
    params = SdpParams(x1, replace(SCALE, mul_shift=1), IDENTITY, Precision.INT8, Precision.INT8)
    ends = surface((8, 1, 1), 0x1000), surface((8, 1, 1), 0x2000)
    layer = SdpLayer(*ends, params, StageSource(alu=-5), StageSource(mul=3))
    # relu(x - 5) * 3 / 2, half away from zero: 0, 0, 1.5 to 2, 3, 7.5 to 8, 0, 183 saturates, 0.
    assert predicted(layer, {0x1000: "00 05 06 07 0a 80 7f ff"}) == "0000020308007f00"


def test_a_stage_without_operands_only_clamps() -> None:
    stage = SdpStage(None, 0, mul=False, mul_prelu=False, mul_shift=0, relu=True)
    assert predicted(sdp((8, 1, 1), stage, None), {0x1000: "01 ff 00 80 7f fe 02 81"}) == "010000007f000200"


def test_int16_is_written_in_its_own_size() -> None:
    params = SdpParams(ADD, None, IDENTITY, Precision.INT16, Precision.INT16)
    src, dst = (surface((1, 1, 1), address, FULL, Precision.INT16) for address in (0x1000, 0x2000))
    layer = SdpLayer(src, dst, params, StageSource(alu=1))
    data = "ff 00" + "ff 7f" + "ff ff" + "00 80" + "00 00" * 12
    wanted = expectation(layer, {0x1000: data}).data.tobytes()
    assert wanted == hexed("0001 ff7f 0000 0180" + "0100" * 12)


def test_reads_go_to_the_ram_of_the_surface() -> None:
    params = SdpParams(None, None, IDENTITY, Precision.INT8, Precision.INT8)
    src, dst = surface((1, 1, 1), 0x1000, FULL, ram=Ram.CVSRAM), surface((1, 1, 1), 0x2000, FULL)
    wanted = expectation(SdpLayer(src, dst, params), {0x1000: "05" * 32}, Ram.CVSRAM)
    assert wanted.ram is Ram.MC


def pdp(method: PoolMethod, shape: tuple[int, int, int], out: tuple[int, int, int], **changes: Any) -> PdpLayer:
    values: dict[str, Any] = dict(kernel_width=2, kernel_height=2, stride_x=2, stride_y=2)
    values |= dict.fromkeys(("pad_left", "pad_right", "pad_top", "pad_bottom"), 0)
    values |= {"pad_values": (0,) * 7, "recip_width": 1 << 15, "recip_height": 1 << 15}
    params = PdpParams(method, precision=Precision.INT8, **{**values, **changes})
    return PdpLayer(surface(shape, 0x1000), surface(out, 0x2000), params)


def test_a_maximum_takes_padding_channels_from_memory() -> None:
    layer = pdp(PoolMethod.MAX, (1, 2, 2), (1, 1, 1))
    atoms = "01 80 00 00 00 00 00 10  02 81 00 00 00 00 00 11  ff 82 00 00 00 00 00 7f  fe 83 00 00 00 00 00 80"
    assert predicted(layer, {0x1000: atoms}) == "028300000000007f"


def test_a_minimum_ignores_what_lies_outside_the_cube() -> None:
    layer = pdp(PoolMethod.MIN, (8, 1, 2), (8, 1, 2), kernel_height=1, stride_y=1, pad_left=1, pad_right=1)
    # Windows: outside and first, last and outside.
    assert predicted(layer, {0x1000: "05" * 8 + "f9" * 8}) == "05" * 8 + " " + "f9" * 8


def test_an_average_is_rounded_after_each_direction() -> None:
    layer = pdp(PoolMethod.AVERAGE, (8, 2, 2), (8, 1, 1))
    columns = [
        (1, 2, 3, 4),
        (1, 1, 1, 2),
        (-1, -1, -1, -2),
        (127,) * 4,
        (-128,) * 4,
        (0, 0, 0, 1),
        (0,) * 4,
        (4, 4, 5, 5),
    ]
    atoms = "".join(f"{column[place] & 0xFF:02x}" for place in range(4) for column in columns)
    # Sums halved half away from zero, twice: 10/2=5, 2.5 to 3; 5/2 to 3, 1.5 to 2; -5/2 to -3, to -2;
    # 254, 127; -256, -128; 0.5 to 1, 0.5 to 1; 0; 9, 4.5 to 5.
    assert predicted(layer, {0x1000: atoms}) == "0302fe7f80010005"


def test_an_average_adds_table_values_for_what_is_missing() -> None:
    layer = pdp(
        PoolMethod.AVERAGE,
        (8, 1, 1),
        (8, 1, 2),
        kernel_height=1,
        stride_x=1,
        stride_y=1,
        pad_left=1,
        pad_right=1,
        pad_values=(10, 0, 0, 0, 0, 0, 0),
        recip_height=1 << 16,
    )
    # (x + 10) / 2 in both windows: 5, 6, 7, 0, -5, 68.5, -59, 5.5.
    assert predicted(layer, {0x1000: "00 02 04 f6 ec 7f 80 01"}) == "05060700fb45c506 05060700fb45c506"


def test_split_width_changes_nothing() -> None:
    layer = pdp(PoolMethod.MAX, (8, 2, 4), (8, 1, 2))
    contents = {0x1000: "".join(f"{n:02x}" * 8 for n in range(8))}
    split = replace(layer, split=WidthSplit(2, 2, 0, 2, 1, 0, 1))
    assert predicted(layer, contents) == predicted(split, contents) == "05" * 8 + " " + "07" * 8


def test_padding_channels_of_a_normalisation_are_zero_whatever_lies_in_memory() -> None:
    ramp = HybridLut(LutTable(np.arange(65, dtype=np.int16), 0, 64), LutTable(np.zeros(257, np.int16), 0, 256))
    params = CdpParams(
        local_size=3,
        multiply=False,
        input_converter=Converter(0, 1, 0, ConverterEncoding.CDP_INPUT),
        output_converter=Converter(0, 1, 0, ConverterEncoding.CDP_OUTPUT),
        lut=ramp,
        precision=Precision.INT8,
    )
    layer = CdpLayer(surface((2, 1, 1), 0x1000), surface((2, 1, 1), 0x2000), params)
    # 3 * 3 + 4 * 4 = 25 in both channels; the first padding channel still sees 4 * 4.
    assert predicted(layer, {0x1000: "03 04 05 06 07 08 09 0a"}) == "1919100000000000"


@pytest.mark.parametrize("index", [0, 41])
def test_an_expectation_knows_its_layer(index: int) -> None:
    started = StartedLayer(index, "SDP", 1, small_sdp())
    wanted = predict(started, lambda ram, address, nbytes: np.zeros(nbytes, dtype=np.uint8))
    assert wanted.started is started
    assert started.name == f"layer {index} (SDP, group 1)"
