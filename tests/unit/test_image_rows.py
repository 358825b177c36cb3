"""Which convolutions of images the hardware misreads: as measured, and refused with the field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nvdla_models.config import HwConfig
from nvdla_models.conv.image_limits import misread_rows, stripe_outputs
from nvdla_models.errors import InputError
from nvdla_models.layout import ImageWeightLayout, PixelConversion, PixelLayout
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.conv_table import TABLE
from nvdla_tb.nvdla.program.table import Row
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface
from tests.unit.nvdla.conv_samples import conv_params, image_conv
from tests.unit.nvdla.registers_helper import check_refused
from tests.unit.nvdla.samples import SMALL, surface

RIGHT = {
    1: (8, 9, 16, 18, 19, 24, 29, 30, 31, 32, 39, 63, 112),
    2: (9, 18, 26, 27, 44, 60, 75, 124),
    5: (18, 28, 36, 76, 104),
    17: (10, 23, 30, 32, 64, 112),
}
WRONG = {
    1: (17, 25, 26, 27, 28, 36, 42, 44, 54, 60, 75, 87, 124),
    2: (25, 33),
    3: (17, 33, 57, 81),
    16: (17, 57),
    17: (27, 36, 60, 93),
    33: (27, 36, 69),
}
"""Elements of a row of the kernels, by the width of the output: measured on the public nv_small RTL."""


@pytest.mark.parametrize(("width", "row"), [(width, row) for width, rows in RIGHT.items() for row in rows])
def test_rows_that_are_read_right(width: int, row: int) -> None:
    assert misread_rows(SMALL, row, width) is None


@pytest.mark.parametrize(("width", "row"), [(width, row) for width, rows in WRONG.items() for row in rows])
def test_rows_that_are_misread(width: int, row: int) -> None:
    assert misread_rows(SMALL, row, width) is not None


def test_stripes_are_those_of_the_public_rtl() -> None:
    assert [stripe_outputs(HwConfig.load(name)) for name in ("nv_small", "nv_large_rtl")] == [16, 64]


def test_builds_with_large_atoms_read_every_row_in_two_steps() -> None:
    large = HwConfig.load("nv_large_rtl")
    assert all(misread_rows(large, row, width) is None for row in range(1, 129) for width in (1, 2, 16, 17, 65))


def wide_conv(kernel: int, output: int, channels: int = 4) -> ConvLayer:
    """Return an image whose kernels have one row of ``kernel`` pixels."""
    name = {1: "T_R8", 4: "T_A8B8G8R8"}[channels]
    layout = PixelLayout.packed(SMALL, name, (channels, 1, 7))
    weights = ImageWeightLayout(SMALL, Precision.INT8, (2, channels, 1, kernel))
    layer = replace(image_conv(), conversion=PixelConversion(Precision.INT8), cbuf=CbufUse(1, 1))
    return replace(
        layer,
        src=ImageSurface(layout, (0x1000,)),
        weights=WeightSurface(weights, 0x3000),
        dst=surface((2, 1, output), 0x2000),
        params=conv_params(pad_right=kernel - 7 + output - 1),
    )


def test_a_single_output_is_refused_with_its_field() -> None:
    rows = [entry for entry in TABLE if isinstance(entry, Row) and entry.attribute == "shape.width"]
    fields = [name for entry in rows for name in entry.fields]
    changes = dict.fromkeys(fields, 0) | {"CDMA.D_ZERO_PADDING.pad_right": 0, "CSC.D_ATOMICS.atomics": 0}
    message = (
        f"{fields[0]}: shape.width must not be 1 more than a multiple of 16 with rows of 28 elements in atoms of 8, "
        "not 1: CSC loses its place in a row of an image's kernels where it computes a single output, and reads the "
        "wrong pixels"
    )
    check_refused(wide_conv(7, 2), changes, message)


def test_a_row_with_one_element_after_two_atoms_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"^kernel\.channels must not be 1 more than 2 atoms of 8, not 17: CSC counts one step too few in a row "
        r"of an image's kernels and reads the wrong pixels$",
    ):
        wide_conv(17, 4, channels=1)
