"""Image input: vectors by hand, a literal oracle for all 36 formats, conversion by Equation 1, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import Element, PixelConversion, PixelLayout, pixel, pixel_format, supported_formats
from nvdla_models.precision import Precision
from tests.unit.models.support import random_bits, refused

SMALL = HwConfig.load("nv_small")
FULL = HwConfig.load("nv_full")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


def random_image(layout: PixelLayout, seed: int) -> npt.NDArray[Any]:
    """Return random elements of as many bits as their fields have."""
    image = random_bits(layout.shape, layout.format.element_dtype, seed)
    if image.dtype.kind == "u":
        for c in range(layout.shape[0]):
            image[c] &= image.dtype.type((1 << layout.format.field(c)[1].bits) - 1)
    return image


@st.composite
def pixel_layouts(draw: st.DrawFn) -> PixelLayout:
    config = HwConfig.load(draw(st.sampled_from(builtin_names())))
    name = draw(st.sampled_from(supported_formats(config)))
    pixels = pixel_format(name)
    shape = (pixels.channels, draw(st.integers(1, 4)), draw(st.integers(1, 21)))
    x_offset = draw(st.integers(0, pixels.max_x_offset(config)))
    packed = PixelLayout.packed(config, name, shape, x_offset)
    gap = draw(st.integers(0, 2)) * config.memory_atomic_bytes
    return PixelLayout(config, name, shape, tuple(s + gap for s in packed.line_stride_bytes), x_offset)


@pytest.mark.parametrize(
    ("name", "colours", "expected"),
    [
        ("T_R8", [0xA1], "a1"),
        ("T_R10", [0x3A1], "a103"),
        ("T_R12", [0xBA1], "a10b"),
        ("T_R16", [0xCBA1], "a1cb"),
        ("T_R16_I", [-2], "feff"),
        ("T_R16_F", [1.5], "003e"),
        ("T_A16B16G16R16", [1, 2, 3, 4], "0100020003000400"),
        ("T_X16B16G16R16", [1, 2, 3, 4], "0100020003000400"),
        ("T_A16B16G16R16_F", [1, 2, -1, 0], "003c004000bc0000"),
        ("T_A16Y16U16V16", [1, 2, 3, 4], "0300020001000400"),
        ("T_V16U16Y16A16", [1, 2, 3, 4], "0400010002000300"),
        ("T_A16Y16U16V16_F", [1, 2, -1, 0], "00bc0040003c0000"),
        ("T_A8B8G8R8", [1, 2, 3, 4], "01020304"),
        ("T_A8R8G8B8", [1, 2, 3, 4], "03020104"),
        ("T_B8G8R8A8", [1, 2, 3, 4], "04010203"),
        ("T_R8G8B8A8", [1, 2, 3, 4], "04030201"),
        ("T_X8B8G8R8", [1, 2, 3, 4], "01020304"),
        ("T_X8R8G8B8", [1, 2, 3, 4], "03020104"),
        ("T_B8G8R8X8", [1, 2, 3, 4], "04010203"),
        ("T_R8G8B8X8", [1, 2, 3, 4], "04030201"),
        ("T_A2B10G10R10", [0x3FF, 0, 1, 2], "ff031080"),
        ("T_A2R10G10B10", [0x3FF, 0, 1, 2], "0100f0bf"),
        ("T_B10G10R10A2", [0x3FF, 0, 1, 2], "fe0f4000"),
        ("T_R10G10B10A2", [0x3FF, 0, 1, 2], "0600c0ff"),
        ("T_A2Y10U10V10", [0x3FF, 0, 1, 2], "0100f0bf"),
        ("T_V10U10Y10A2", [0x3FF, 0, 1, 2], "fe0f4000"),
        ("T_A8Y8U8V8", [1, 2, 3, 4], "03020104"),
        ("T_V8U8Y8A8", [1, 2, 3, 4], "04010203"),
        ("T_Y8___U8V8_N444", [1, 2, 3], "01 0302"),
        ("T_Y8___V8U8_N444", [1, 2, 3], "01 0203"),
        ("T_Y10___U10V10_N444", [1, 0x3FF, 3], "0100 0300ff03"),
        ("T_Y10___V10U10_N444", [1, 0x3FF, 3], "0100 ff030300"),
        ("T_Y12___U12V12_N444", [1, 0xFFF, 3], "0100 0300ff0f"),
        ("T_Y12___V12U12_N444", [1, 0xFFF, 3], "0100 ff0f0300"),
        ("T_Y16___U16V16_N444", [1, 0xFFFE, 3], "0100 0300feff"),
        ("T_Y16___V16U16_N444", [1, 0xFFFE, 3], "0100 feff0300"),
    ],
)
def test_one_pixel_of_each_format_packs_as_written_by_hand(name: str, colours: list[float], expected: str) -> None:
    pixels = pixel_format(name)
    layout = PixelLayout.packed(FULL, name, (pixels.channels, 1, 1))
    image = np.array(colours, dtype=pixels.element_dtype).reshape(-1, 1, 1)
    assert layout.plane_nbytes == (32,) * len(pixels.planes)
    planes = layout.pack(image).reshape(-1, 32)
    for plane, text in zip(planes, expected.split(), strict=True):
        wanted = bytes.fromhex(text)
        assert plane.tobytes() == wanted + bytes(32 - len(wanted))


def test_the_x_offset_moves_every_line_inside_its_atoms() -> None:
    layout = PixelLayout.packed(FULL, "T_A8B8G8R8", (4, 2, 3), x_offset=7)
    image = np.arange(24, dtype=np.uint8).reshape(4, 2, 3)
    raw = layout.pack(image, padding=0xEE)
    assert layout.line_stride_bytes == (64,)
    lines = raw.reshape(2, 64)
    assert (lines[:, :28] == 0xEE).all()
    assert (lines[:, 40:] == 0xEE).all()
    assert lines[1, 28:40].tolist() == [3, 9, 15, 21, 4, 10, 16, 22, 5, 11, 17, 23]


def test_without_an_x_offset_the_first_pixel_starts_the_line() -> None:
    assert PixelLayout(FULL, "T_R8", (1, 1, 32), (32,)).offset(0, 0, 0) == 0
    assert PixelLayout.packed(FULL, "T_R8", (1, 1, 32)).nbytes == 32


def test_the_second_plane_starts_at_its_own_offset_inside_an_atom() -> None:
    layout = PixelLayout.packed(FULL, "T_Y8___U8V8_N444", (3, 1, 1), x_offset=20)
    assert layout.plane_nbytes == (32, 32)
    assert layout.offset(0, 0, 0) == 20
    assert layout.offset(2, 0, 0) == 32 + 2 * (20 % 16)
    assert layout.offset(1, 0, 0) == 32 + 2 * (20 % 16) + 1


@pytest.mark.slow
@settings(max_examples=60)
@given(pixel_layouts(), st.integers(0, 2**31))
def test_every_bit_lies_where_the_literal_loop_puts_it(layout: PixelLayout, seed: int) -> None:
    image = random_image(layout, seed)
    raw = layout.pack(image)
    atom = layout.config.memory_atomic_bytes
    expected = np.zeros(layout.nbytes, dtype=np.uint8)
    owners: dict[int, list[Element]] = {}
    for c, h, w in np.ndindex(*layout.shape):
        number, field = layout.format.field(c)
        pixel_bytes = layout.format.planes[number].pixel_bytes
        start = 0 if number == 0 else layout.plane_nbytes[0]
        first = layout.x_offset % (atom // pixel_bytes)
        word = start + h * layout.line_stride_bytes[number] + (first + w) * pixel_bytes
        value = int(image[c, h, w : w + 1].view(f"<u{image.itemsize}")[0])
        assert layout.bits(c, h, w) == (word, field.lsb, field.bits)
        assert layout.offset(c, h, w) == word + field.lsb // 8
        for bit in range(field.bits):
            at = word + (field.lsb + bit) // 8
            expected[at] |= (value >> bit & 1) << (field.lsb + bit) % 8
            if Element(c, h, w) not in owners.setdefault(at, []):
                owners[at].append(Element(c, h, w))
    np.testing.assert_array_equal(raw, expected, strict=True)
    for at in range(layout.nbytes):
        found = layout.elements_at(at)
        assert set(found) == set(owners.get(at, []))
        assert layout.element_at(at) == (found[0] if found else None)


@settings(max_examples=60)
@given(pixel_layouts(), st.integers(0, 2**31), st.integers(0, 255))
def test_unpack_returns_what_was_packed_and_nothing_behind_it(layout: PixelLayout, seed: int, padding: int) -> None:
    image = random_image(layout, seed)
    raw = layout.pack(image, padding)
    for data in (raw, raw.tobytes() + b"behind"):
        out = layout.unpack(data)
        assert out.dtype == image.dtype
        assert out.shape == image.shape
        assert out.tobytes() == image.tobytes()


def test_an_image_of_several_blocks_packs_as_one_of_a_single_block(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = PixelLayout.packed(FULL, "T_R10G10B10A2", (4, 7, 9), x_offset=3)
    image = random_image(layout, 3)
    whole = layout.pack(image)
    monkeypatch.setattr(pixel, "_BLOCK_PIXELS", 20)
    np.testing.assert_array_equal(layout.pack(image), whole, strict=True)
    np.testing.assert_array_equal(layout.unpack(whole), image, strict=True)


def test_all_16_bits_of_a_10_bit_container_are_read() -> None:
    layout = PixelLayout.packed(FULL, "T_R10", (1, 1, 1))
    raw = layout.pack(np.zeros((1, 1, 1), dtype=np.uint16))
    raw[1] = 0x80
    assert layout.unpack(raw)[0, 0, 0] == 0x8000


def test_the_description_names_planes_and_fields() -> None:
    assert PixelLayout.packed(FULL, "T_Y8___V8U8_N444", (3, 2, 40), 5).describe().splitlines() == [
        "pixel data T_Y8___V8U8_N444, INT8 input, nv_full: C=3 H=2 W=40",
        "X offset: 5 of 0 to 31 pixels",
        "plane 0: at 0, line stride 64 bytes, 1 bytes a pixel: c0 bits 0-7",
        "plane 1: at 128, line stride 96 bytes, 2 bytes a pixel: c1 bits 0-7, c2 bits 8-15",
        "bytes: 320",
    ]


@pytest.mark.parametrize(
    ("config", "name", "shape", "strides", "x_offset", "message"),
    [
        (FULL, "T_A8B8G8R8", (3, 1, 1), (32,), 0, "channels must be 4 for T_A8B8G8R8, not 3"),
        (FULL, "T_R8", (1, 1), (32,), 0, "shape must be (C, H, W), not (1, 1)"),
        (FULL, "T_R8", (1, 0, 1), (32,), 0, "height must be 1 to 8192, not 0"),
        (FULL, "T_R8", (1, 1, 8193), (8224,), 0, "width must be 1 to 8192, not 8193"),
        (FULL, "T_R8", (1, 1, 1), (32,), 32, "x_offset must be 0 to 31, not 32"),
        (FULL, "T_R16", (1, 1, 1), (32,), 16, "x_offset must be 0 to 15, not 16"),
        (FULL, "T_A16B16G16R16", (4, 1, 1), (32,), -1, "x_offset must be 0 to 3, not -1"),
        (SMALL, "T_A8B8G8R8", (4, 1, 1), (8,), 2, "x_offset must be 0 to 1, not 2"),
        (FULL, "T_R8", (1, 1, 1), (48,), 0, "line_stride_bytes must be a multiple of the 32-byte atom, not 48"),
        (FULL, "T_R8", (1, 1, 32), (32,), 1, "line_stride_bytes must be at least the 64 bytes of a line, not 32"),
        (FULL, "T_R8", (1, 1, 1), (32, 32), 0, "line_stride_bytes must hold 1 strides for T_R8, not 2"),
        (
            FULL,
            "T_Y8___U8V8_N444",
            (3, 1, 1),
            (32,),
            0,
            "line_stride_bytes must hold 2 strides for T_Y8___U8V8_N444, not 1",
        ),
        (
            FULL,
            "T_Y8___U8V8_N444",
            (3, 1, 20),
            (32, 32),
            0,
            "line_stride_bytes must be at least the 64 bytes of a line, not 32",
        ),
    ],
)
def test_impossible_images_are_refused(
    config: HwConfig, name: str, shape: tuple[int, int, int], strides: tuple[int, ...], x_offset: int, message: str
) -> None:
    with refused(message):
        PixelLayout(config, name, shape, strides, x_offset)


def test_a_format_that_the_build_lacks_is_refused() -> None:
    allowed = ", ".join(supported_formats(SMALL))
    with refused(f"pixel format must be one of {allowed} for nv_small, not T_R16"):
        PixelLayout.packed(SMALL, "T_R16", (1, 1, 1))


def test_bad_images_and_bytes_are_refused() -> None:
    layout = PixelLayout.packed(FULL, "T_A2B10G10R10", (4, 1, 2))
    image = np.zeros((4, 1, 2), dtype=np.uint16)
    with refused("image must have shape (4, 1, 2), not (4, 2, 1)"):
        layout.pack(image.reshape(4, 2, 1))
    with refused("image must have dtype uint16, not uint8"):
        layout.pack(image.astype(np.uint8))
    image[3, 0, 1] = 4
    with refused("elements of channel 3 must be 0 to 3, not 4"):
        layout.pack(image)
    image[3], image[1] = 0, 1024
    with refused("elements of channel 1 must be 0 to 1023, not 1024"):
        layout.pack(image)
    with refused("padding must be 0 to 255, not 256"):
        layout.pack(np.zeros((4, 1, 2), dtype=np.uint16), padding=256)
    with refused("data must hold at least 32 bytes, not 31"):
        layout.unpack(bytes(31))
    with refused("w must be 0 to 1, not 2"):
        layout.offset(0, 0, 2)
    with refused("offset_bytes must be 0 to 31, not 32"):
        layout.element_at(32)
    with refused("shape must be (C, H, W), not (4,)"):
        PixelLayout.packed(FULL, "T_A2B10G10R10", (4,))  # type: ignore[arg-type]


def converter(offset: int = 0, scale: int = 1, shift: int = 0) -> Converter:
    """Return an input converter."""
    return Converter(offset, scale, shift, ConverterEncoding.CDMA_INPUT)


@pytest.mark.parametrize(
    ("conversion", "expected"),
    [
        (PixelConversion(INT8, converter()), [0, 127, 127, 127]),
        (PixelConversion(INT8, converter(128)), [-128, -1, 0, 127]),
        (PixelConversion(INT8, converter(0, 1, 1)), [0, 64, 64, 127]),
        (PixelConversion(INT8, converter(), signed=True), [0, 127, -128, -1]),
        (PixelConversion(INT8, converter(7, -2, 0), signed=True), [14, -128, 127, 16]),
        (PixelConversion(INT16, converter(1, 300)), [-300, 32767, 32767, 32767]),
        (PixelConversion(INT16, converter(128, 2)), [-256, -2, 0, 254]),
        (PixelConversion(FP16, converter(128, 1, 1)), [-64, -1, 0, 64]),
        (PixelConversion(INT8), [0, 127, -128, -1]),
    ],
)
def test_equation_1_turns_unsigned_pixels_into_each_precision(conversion: PixelConversion, expected: list[int]) -> None:
    image = np.array([0, 127, 128, 255], dtype=np.uint8).reshape(1, 1, 4)
    result = conversion.apply(pixel_format("T_R8"), image)
    wanted = np.array(expected, dtype=conversion.precision.dtype).reshape(1, 1, 4)
    np.testing.assert_array_equal(result, wanted, strict=True)


def test_the_mean_of_each_channel_takes_the_place_of_the_offset() -> None:
    conversion = PixelConversion(INT8, converter(99, 1, 0), mean=(1, 2, 3, -4))
    image = np.full((4, 1, 1), 10, dtype=np.uint8)
    assert conversion.apply(pixel_format("T_A8B8G8R8"), image).ravel().tolist() == [9, 8, 7, 14]


def test_ten_bit_fields_are_lifted_before_the_converter() -> None:
    conversion = PixelConversion(INT16, converter(0, 1, 6))
    image = np.array([1023, 512, 1, 3], dtype=np.uint16).reshape(4, 1, 1)
    assert conversion.apply(pixel_format("T_A2B10G10R10"), image).ravel().tolist() == [1023, 512, 1, 768]
    plain = PixelConversion(INT16, converter())
    assert plain.apply(pixel_format("T_R10"), np.full((1, 1, 1), 1023, np.uint16)).item() == 1023


def test_r16_i_is_signed_only_with_the_sign_override() -> None:
    image = np.full((1, 1, 1), -2, dtype=np.int16)
    pixels = pixel_format("T_R16_I")
    assert PixelConversion(INT16, converter(0, 1, 1), signed=True).apply(pixels, image).item() == -1
    assert PixelConversion(INT16, converter(0, 1, 1)).apply(pixels, image).item() == 32767


def test_float_pixels_pass_bit_by_bit() -> None:
    image = random_bits((4, 2, 3), np.dtype("<f2"), 5)
    for conversion in (PixelConversion(FP16), PixelConversion(FP16, converter(1, 2, 3))):
        assert conversion.apply(pixel_format("T_A16B16G16R16_F"), image).tobytes() == image.tobytes()


def test_impossible_conversions_are_refused() -> None:
    with refused("mean must be None without a converter, not (1,)"):
        PixelConversion(INT8, None, (1,))
    with refused("converter must have the CDMA_INPUT encoding, not SDP_OUTPUT"):
        PixelConversion(INT8, Converter(0, 1, 0, ConverterEncoding.SDP_OUTPUT))
    floats = np.zeros((1, 1, 1), dtype=np.float16)
    with refused("precision must be FP16 for T_R16_F, not INT16"):
        PixelConversion(INT16, converter()).apply(pixel_format("T_R16_F"), floats)
    with refused("mean must hold 4 values for T_A8B8G8R8, not 3"):
        wrong = PixelConversion(INT8, converter(), (1, 2, 3))
        wrong.apply(pixel_format("T_A8B8G8R8"), np.zeros((4, 1, 1), np.uint8))
    with refused("precision must have the 1 bytes of T_R8 without a converter, not INT16"):
        PixelConversion(INT16).apply(pixel_format("T_R8"), np.zeros((1, 1, 1), np.uint8))
    with refused("image must have dtype uint8, not int8"):
        PixelConversion(INT8).apply(pixel_format("T_R8"), np.zeros((1, 1, 1), np.int8))
    with refused("image must have shape (1, 2, 2), not (3, 2, 2)"):
        PixelConversion(INT8).apply(pixel_format("T_R8"), np.zeros((3, 2, 2), np.uint8))
