"""Table 33, row by row: channels, precision, planes, fields and X offsets; support by configuration."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.layout import (
    PACKED_NAMES,
    SEMI_PLANAR_NAMES,
    pixel_format,
    supported_formats,
)
from nvdla_models.precision import Precision
from tests.unit.models.support import refused

SMALL = HwConfig.load("nv_small")
FULL = HwConfig.load("nv_full")

# Name, planes, channels, precision, largest X offset, as printed; T_R16_F says int16 there.
TABLE_33 = """
T_R8 1 1 int8 31
T_R10 1 1 int16 15
T_R12 1 1 int16 15
T_R16 1 1 int16 15
T_R16_I 1 1 int16 15
T_R16_F 1 1 fp16 15
T_A16B16G16R16 1 4 int16 3
T_X16B16G16R16 1 4 int16 3
T_A16B16G16R16_F 1 4 fp16 3
T_A16Y16U16V16 1 4 int16 3
T_V16U16Y16A16 1 4 int16 3
T_A16Y16U16V16_F 1 4 fp16 3
T_A8B8G8R8 1 4 int8 7
T_A8R8G8B8 1 4 int8 7
T_B8G8R8A8 1 4 int8 7
T_R8G8B8A8 1 4 int8 7
T_X8B8G8R8 1 4 int8 7
T_X8R8G8B8 1 4 int8 7
T_B8G8R8X8 1 4 int8 7
T_R8G8B8X8 1 4 int8 7
T_A2B10G10R10 1 4 int16 7
T_A2R10G10B10 1 4 int16 7
T_B10G10R10A2 1 4 int16 7
T_R10G10B10A2 1 4 int16 7
T_A2Y10U10V10 1 4 int16 7
T_V10U10Y10A2 1 4 int16 7
T_A8Y8U8V8 1 4 int8 7
T_V8U8Y8A8 1 4 int8 7
T_Y8___U8V8_N444 2 3 int8 31
T_Y8___V8U8_N444 2 3 int8 31
T_Y10___U10V10_N444 2 3 int16 15
T_Y10___V10U10_N444 2 3 int16 15
T_Y12___U12V12_N444 2 3 int16 15
T_Y12___V12U12_N444 2 3 int16 15
T_Y16___U16V16_N444 2 3 int16 15
T_Y16___V16U16_N444 2 3 int16 15
"""
ROWS = [line.split() for line in TABLE_33.strip().splitlines()]


@pytest.mark.parametrize(("name", "planes", "channels", "precision", "x_offset"), ROWS)
def test_each_row_of_table_33_holds_on_nv_full(
    name: str, planes: str, channels: str, precision: str, x_offset: str
) -> None:
    pixels = pixel_format(name)
    assert len(pixels.planes) == int(planes)
    assert pixels.channels == int(channels)
    assert pixels.precision is Precision(precision)
    assert pixels.max_x_offset(FULL) == int(x_offset)


def test_the_table_has_28_packed_and_8_semi_planar_formats() -> None:
    assert [row[0] for row in ROWS] == [*PACKED_NAMES, *SEMI_PLANAR_NAMES]
    assert (len(PACKED_NAMES), len(SEMI_PLANAR_NAMES)) == (28, 8)


def test_the_x_offset_of_nv_small_stays_inside_its_8_byte_atom() -> None:
    assert pixel_format("T_R8").max_x_offset(SMALL) == 7
    assert pixel_format("T_A8B8G8R8").max_x_offset(SMALL) == 1


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("T_A8B8G8R8", [(0, 0, 8), (1, 8, 8), (2, 16, 8), (3, 24, 8)]),
        ("T_A8R8G8B8", [(2, 0, 8), (1, 8, 8), (0, 16, 8), (3, 24, 8)]),
        ("T_B8G8R8A8", [(3, 0, 8), (0, 8, 8), (1, 16, 8), (2, 24, 8)]),
        ("T_R8G8B8A8", [(3, 0, 8), (2, 8, 8), (1, 16, 8), (0, 24, 8)]),
        ("T_X8R8G8B8", [(2, 0, 8), (1, 8, 8), (0, 16, 8), (3, 24, 8)]),
        ("T_A8Y8U8V8", [(2, 0, 8), (1, 8, 8), (0, 16, 8), (3, 24, 8)]),
        ("T_V8U8Y8A8", [(3, 0, 8), (0, 8, 8), (1, 16, 8), (2, 24, 8)]),
        ("T_A16Y16U16V16_F", [(2, 0, 16), (1, 16, 16), (0, 32, 16), (3, 48, 16)]),
        ("T_A2B10G10R10", [(0, 0, 10), (1, 10, 10), (2, 20, 10), (3, 30, 2)]),
        ("T_A2R10G10B10", [(2, 0, 10), (1, 10, 10), (0, 20, 10), (3, 30, 2)]),
        ("T_B10G10R10A2", [(3, 0, 2), (0, 2, 10), (1, 12, 10), (2, 22, 10)]),
        ("T_R10G10B10A2", [(3, 0, 2), (2, 2, 10), (1, 12, 10), (0, 22, 10)]),
        ("T_A2Y10U10V10", [(2, 0, 10), (1, 10, 10), (0, 20, 10), (3, 30, 2)]),
        ("T_V10U10Y10A2", [(3, 0, 2), (0, 2, 10), (1, 12, 10), (2, 22, 10)]),
        ("T_R10", [(0, 0, 10)]),
        ("T_R12", [(0, 0, 12)]),
        ("T_R16_I", [(0, 0, 16)]),
    ],
)
def test_the_letters_of_a_packed_name_go_down_from_the_most_significant_bit(
    name: str, fields: list[tuple[int, int, int]]
) -> None:
    (plane,) = pixel_format(name).planes
    assert [(field.channel, field.lsb, field.bits) for field in plane.fields] == fields


@pytest.mark.parametrize(
    ("name", "chrominance", "pixel_bytes"),
    [
        ("T_Y8___U8V8_N444", [(2, 0, 8), (1, 8, 8)], (1, 2)),
        ("T_Y8___V8U8_N444", [(1, 0, 8), (2, 8, 8)], (1, 2)),
        ("T_Y10___U10V10_N444", [(2, 0, 10), (1, 16, 10)], (2, 4)),
        ("T_Y12___V12U12_N444", [(1, 0, 12), (2, 16, 12)], (2, 4)),
        ("T_Y16___U16V16_N444", [(2, 0, 16), (1, 16, 16)], (2, 4)),
    ],
)
def test_a_semi_planar_format_has_luminance_and_chrominance(
    name: str, chrominance: list[tuple[int, int, int]], pixel_bytes: tuple[int, int]
) -> None:
    first, second = pixel_format(name).planes
    assert [field.channel for field in first.fields] == [0]
    assert [(field.channel, field.lsb, field.bits) for field in second.fields] == chrominance
    assert (first.pixel_bytes, second.pixel_bytes) == pixel_bytes


def test_elements_are_unsigned_signed_or_float_by_the_name() -> None:
    dtypes = {name: pixel_format(name).element_dtype.str for name in PACKED_NAMES + SEMI_PLANAR_NAMES}
    assert {name for name, dtype in dtypes.items() if dtype == "<i2"} == {"T_R16_I"}
    assert {name for name, dtype in dtypes.items() if dtype == "<f2"} == {
        "T_R16_F",
        "T_A16B16G16R16_F",
        "T_A16Y16U16V16_F",
    }
    assert {name for name, dtype in dtypes.items() if dtype == "|u1"} == {row[0] for row in ROWS if row[3] == "int8"}
    assert pixel_format("T_R16_F").is_float
    assert not pixel_format("T_R16").is_float


def test_fields_of_10_bit_words_reach_the_converter_at_the_top_of_16_bits() -> None:
    assert [pixel_format("T_B10G10R10A2").converter_shift(c) for c in range(4)] == [6, 6, 6, 14]
    assert pixel_format("T_R10").converter_shift(0) == 0
    assert [pixel_format("T_Y12___U12V12_N444").converter_shift(c) for c in range(3)] == [0, 0, 0]


@pytest.mark.parametrize("config", ["nv_small", "nv_small_256", "nv_large"])
def test_an_int8_build_supports_the_formats_of_the_bit_maps_in_its_configrom(config: str) -> None:
    packed = tuple(name for bit, name in enumerate(PACKED_NAMES) if 0xCFFF001 >> bit & 1)
    assert supported_formats(HwConfig.load(config)) == packed + SEMI_PLANAR_NAMES[:2]


def test_nv_full_supports_every_format() -> None:
    assert supported_formats(FULL) == PACKED_NAMES + SEMI_PLANAR_NAMES


def test_unknown_names_and_channels_are_refused() -> None:
    everything = ", ".join(PACKED_NAMES + SEMI_PLANAR_NAMES)
    with refused(f"pixel format must be one of {everything}, not T_R9"):
        pixel_format("T_R9")
    with refused("c must be 0 to 2, not 3"):
        pixel_format("T_Y8___U8V8_N444").field(3)


def test_the_dtype_of_8_bit_elements_is_unsigned() -> None:
    assert pixel_format("T_R8").element_dtype == np.dtype("u1")
