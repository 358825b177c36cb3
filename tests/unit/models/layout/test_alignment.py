"""Table 35, row by row, as a check; and that every layout has the common face."""

from __future__ import annotations

import pytest

from dlhdl_models.layout import ConvolutionDataLayout, DlhdlType, FullyConnectedDataLayout
from nvdla_models.config import HwConfig
from nvdla_models.layout import (
    CompressedWeightLayout,
    DataFormat,
    DeconvolutionWeightLayout,
    FeatureLayout,
    ImageWeightLayout,
    OperandLayout,
    PixelLayout,
    PlanarLayout,
    WeightLayout,
    WinogradWeightLayout,
    alignment_of,
)
from nvdla_models.precision import Precision
from tests.unit.models.support import refused

FULL = HwConfig.load("nv_full")
SMALL = HwConfig.load("nv_small")
INT8 = Precision.INT8

# Start address, line stride, surface stride; as printed but for the strides of operands that the table calls NA
# and the hardware has, and the 256 bytes of weights, of which the hardware needs an atom.
TABLE_35 = [
    (DataFormat.FEATURE, (32, 32, 32)),
    (DataFormat.WEIGHT, (32, None, None)),
    (DataFormat.PIXEL, (32, 32, None)),
    (DataFormat.OPERAND, (32, 32, 32)),
    (DataFormat.PLANAR, (64, 64, None)),
]
QUANTITIES = ("start_address", "line_stride_bytes", "surface_stride_bytes")


@pytest.mark.parametrize(("data_format", "alignments"), TABLE_35)
def test_each_row_of_table_35_is_checked(data_format: DataFormat, alignments: tuple[int | None, ...]) -> None:
    rule = alignment_of(FULL, data_format)
    for name, alignment in zip(QUANTITIES, alignments, strict=True):
        if alignment is None:
            with refused(f"{name} does not exist for {data_format.value} data, so it must not be 256"):
                rule.check(**{name: 256})
            continue
        rule.check(**{name: 3 * alignment})
        rule.check(**{name: 0})
        what = "the 32-byte atom" if alignment == 32 else f"{alignment} bytes for {data_format.value} data"
        for wrong in (1, alignment // 2, alignment + 8):
            with refused(f"{name} must be a multiple of {what}, not {wrong}"):
                rule.check(**{name: wrong})
        with refused(f"{name} must not be negative, not {-alignment}"):
            rule.check(**{name: -alignment})


def test_the_table_has_a_row_for_each_format() -> None:
    assert [row[0] for row in TABLE_35] == list(DataFormat)


def test_the_atom_of_nv_small_takes_the_place_of_the_32_bytes() -> None:
    alignment_of(SMALL, DataFormat.FEATURE).check(start_address=8, line_stride_bytes=24, surface_stride_bytes=40)
    with refused("start_address must be a multiple of the 8-byte atom, not 12"):
        alignment_of(SMALL, DataFormat.PIXEL).check(start_address=12)
    alignment_of(SMALL, DataFormat.WEIGHT).check(start_address=8)
    with refused("start_address must be a multiple of the 8-byte atom, not 12"):
        alignment_of(SMALL, DataFormat.WEIGHT).check(start_address=12)


WEIGHTS = WeightLayout(FULL, INT8, (2, 3, 1, 1))
LAYOUTS = [
    FeatureLayout.packed(FULL, INT8, (1, 1, 1)),
    PixelLayout.packed(FULL, "T_R8", (1, 1, 1)),
    WEIGHTS,
    ImageWeightLayout(FULL, INT8, (2, 3, 1, 1)),
    WinogradWeightLayout(FULL, INT8, (2, 3, 3, 3)),
    DeconvolutionWeightLayout(FULL, INT8, (2, 3, 3, 3), (2, 2)),
    CompressedWeightLayout(WEIGHTS),
    OperandLayout.packed(FULL, INT8, (1, 1, 1), ("alu",), 1),
    PlanarLayout.packed(FULL, INT8, (1, 1, 1)),
    ConvolutionDataLayout(DlhdlType.INT8, (1, 1, 1), 1),
    FullyConnectedDataLayout(DlhdlType.INT8, 1, 1),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: type(layout).__name__)
def test_every_layout_has_the_common_face(layout: object) -> None:
    for method in ("pack", "unpack", "offset", "describe"):
        assert callable(getattr(layout, method))
    assert isinstance(layout.nbytes, int)  # type: ignore[attr-defined]
    text = layout.describe()  # type: ignore[attr-defined]
    assert str(layout.nbytes) in text  # type: ignore[attr-defined]
    hash(layout)


@pytest.mark.parametrize("layout", LAYOUTS[:9], ids=lambda layout: type(layout).__name__)
def test_every_layout_of_nvdla_knows_the_alignment_of_its_start_address(layout: object) -> None:
    rule = layout.alignment  # type: ignore[attr-defined]
    assert rule.start_address_bytes == (64 if isinstance(layout, PlanarLayout) else 32)
