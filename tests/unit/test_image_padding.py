"""Padding of images that CDMA cannot count: as measured, and refused with the field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nvdla_models.config import HwConfig
from nvdla_models.conv.image_limits import overflowing_padding
from nvdla_models.errors import InputError
from nvdla_models.layout import ImageWeightLayout, PixelConversion, PixelLayout, pixel_format
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.surfaces import ImageSurface, WeightSurface
from nvdla_tb.stimulus.generate.draw.conv import is_read_right
from nvdla_tb.stimulus.generate.draw.numbers import Axis
from tests.unit.nvdla.conv_samples import conv_params, image_conv
from tests.unit.nvdla.samples import SMALL, surface

WIDTH = 40
FOUR, ONE, TWO_PLANES = "T_A8R8G8B8", "T_R8", "T_Y8___U8V8_N444"
RIGHT = [
    *[(FOUR, *sides) for sides in ((29, 0, 0), (30, 0, 0), (0, 28, 0), (0, 28, 1), (0, 29, 1), (30, 28, 0))],
    *[(FOUR, *sides) for sides in ((30, 28, 1), (1, 29, 0), (1, 29, 1))],
    *[(ONE, *sides) for sides in ((31, 0, 0), (0, 31, 0), (31, 31, 0))],
    *[(TWO_PLANES, *sides) for sides in ((28, 0, 0), (28, 0, 1), (29, 0, 1), (0, 24, 0), (0, 24, 1), (0, 25, 1))],
    *[(TWO_PLANES, *sides) for sides in ((28, 24, 0), (28, 24, 1), (25, 26, 0), (25, 26, 1))],
]
WRONG = [
    *[(FOUR, *sides) for sides in ((31, 0, 0), (0, 31, 0), (28, 31, 0), (31, 31, 0), (29, 31, 0), (0, 30, 0))],
    *[(FOUR, *sides) for sides in ((30, 30, 0), (29, 30, 0), (0, 29, 0))],
    *[(TWO_PLANES, *sides) for sides in ((31, 0, 0), (0, 31, 0), (30, 30, 0), (30, 0, 0), (16, 31, 0), (31, 31, 0))],
    *[(TWO_PLANES, *sides) for sides in ((29, 0, 0), (0, 25, 0))],
]
"""Format, padding before and after lines of 40 pixels, and X offset: measured on the public nv_small RTL."""


@pytest.mark.parametrize(("name", "before", "after", "offset"), RIGHT)
def test_padding_that_is_right(name: str, before: int, after: int, offset: int) -> None:
    assert overflowing_padding(SMALL, pixel_format(name), WIDTH, before, after, offset) is None


@pytest.mark.parametrize(("name", "before", "after", "offset"), WRONG)
def test_padding_that_is_not_counted(name: str, before: int, after: int, offset: int) -> None:
    assert overflowing_padding(SMALL, pixel_format(name), WIDTH, before, after, offset) is not None


def test_builds_with_large_atoms_count_all_padding_of_bytes() -> None:
    large = HwConfig.load("nv_large_rtl")
    for name in (FOUR, ONE, TWO_PLANES):
        assert overflowing_padding(large, pixel_format(name), WIDTH, 31, 63, 0) is None


def padded_conv(before: int) -> ConvLayer:
    """Return an image of 7 pixels a line under kernels of 32, with padding before the lines."""
    layout = PixelLayout.packed(SMALL, "T_A8B8G8R8", (4, 1, 7))
    return replace(
        image_conv(),
        src=ImageSurface(layout, (0x1000,)),
        weights=WeightSurface(ImageWeightLayout(SMALL, Precision.INT8, (2, 4, 1, 32)), 0x3000),
        dst=surface((2, 1, before - 24), 0x2000),
        params=conv_params(pad_left=before),
        conversion=PixelConversion(Precision.INT8),
    )


def test_a_layer_with_too_much_is_refused_with_the_field() -> None:
    assert padded_conv(30).params.pad_left == 30
    with pytest.raises(
        InputError, match=r"^pad_left must take at most 15 atoms in plane 0 of T_A8B8G8R8, as CDMA counts it, not 16$"
    ):
        padded_conv(31)


def test_what_is_drawn_fits_wherever_lines_begin() -> None:
    pixels = pixel_format(FOUR)
    assert is_read_right(SMALL, pixels, Axis(WIDTH, 32, 1, 1, 30, 28))
    assert not is_read_right(SMALL, pixels, Axis(WIDTH, 32, 1, 1, 0, 29)), "it fits with X offset 1 alone"
    assert overflowing_padding(SMALL, pixels, WIDTH, 0, 29, 1) is None
