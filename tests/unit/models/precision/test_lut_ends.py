"""Where lookup tables end, the ranges of their index fields, and what the hardware counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from nvdla_models.arithmetic import limits
from nvdla_models.cdp import CdpParams
from nvdla_models.fp16 import FP32
from nvdla_models.lut import (
    INDEX_OFFSET_RANGE,
    INDEX_SELECT_RANGE,
    LE_ENTRIES,
    LO_ENTRIES,
    LutUnit,
    exponent_end,
    linear_end,
)
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams
from tests.measured import Measured
from tests.unit.models.precision.reference import played
from tests.unit.models.support import refused


def test_every_measured_table_has_the_derived_end(measured: Measured) -> None:
    compared = 0
    for layer in [*measured("sdp_lut_*"), *measured("cdp_*")]:
        params = played(layer).started.layer.params
        if isinstance(params, CdpParams):
            unit, precision, lut = LutUnit.CDP, params.precision, params.lut
        else:
            assert isinstance(params, SdpParams)
            assert params.y is not None
            assert params.y.lut is not None
            unit, precision, lut = LutUnit.SDP, params.input_precision, params.y.lut
        for table in (lut.le, lut.lo):
            edges: list[Fraction | int] = [table.start, table.end]
            if precision is Precision.FP16:
                edges = [Fraction(float(v)) for v in FP32.decode(np.array(edges, dtype=np.uint32))]
            if table.exponent:
                wanted = exponent_end(edges[0], table.index_offset, unit, precision)
            else:
                wanted = linear_end(edges[0], table.index_select, len(table.entries), unit, precision)
            assert FP32.encode(np.array([float(wanted)])) == FP32.encode(np.array([float(edges[1])])), layer.name
            compared += 1
    assert compared == 52


@pytest.mark.parametrize(("unit", "largest"), [(LutUnit.SDP, 2**31 - 1), (LutUnit.CDP, 2**37 - 1)])
def test_an_exponent_end_beyond_the_register_becomes_the_largest_number(unit: LutUnit, largest: int) -> None:
    assert exponent_end(0, 0, unit, Precision.INT16) == largest
    assert exponent_end(5, -60, unit, Precision.INT16) == 21
    assert exponent_end(0, 127, unit, Precision.FP16) == Fraction(FP32.max_value)


# Unit, precision, INDEX_SELECT of LE and of LO, INDEX_OFFSET, as printed.
RANGES = [
    (LutUnit.SDP, Precision.INT8, (-6, 25), (-8, 23), (-64, 31)),
    (LutUnit.SDP, Precision.INT16, (-6, 25), (-8, 23), (-64, 31)),
    (LutUnit.SDP, Precision.FP16, (-128, 121), (-128, 119), (-126, 127)),
    (LutUnit.CDP, Precision.INT8, (-6, 15), (-8, 13), (-64, 20)),
    (LutUnit.CDP, Precision.INT16, (-6, 31), (-8, 29), (-64, 36)),
    (LutUnit.CDP, Precision.FP16, (-128, 121), (-128, 119), (-126, 127)),
]


@pytest.mark.parametrize(("unit", "precision", "le", "lo", "offsets"), RANGES)
def test_index_fields_are_held_to_the_published_ranges(
    unit: LutUnit, precision: Precision, le: tuple[int, int], lo: tuple[int, int], offsets: tuple[int, int]
) -> None:
    of_unit = f"{unit.name} {precision.name}"
    for entries, (low, high) in ((LE_ENTRIES, le), (LO_ENTRIES, lo)):
        assert INDEX_SELECT_RANGE[unit, precision, entries] == (low, high)
        for select in (low, high):
            assert linear_end(0, select, entries, unit, precision) == (entries - 1) * Fraction(2) ** select
        for select in (low - 1, high + 1):
            with refused(f"index select must be from {low} to {high} for {of_unit}, not {select}"):
                linear_end(0, select, entries, unit, precision)
    low, high = offsets
    assert INDEX_OFFSET_RANGE[unit, precision] == offsets
    for offset in (low - 1, high + 1):
        with refused(f"index offset must be from {low} to {high} for {of_unit}, not {offset}"):
            exponent_end(0, offset, unit, precision)


def test_an_fp16_start_so_large_that_its_end_equals_it_is_refused() -> None:
    with refused("start must be below 1073741824 in magnitude, not 1073741824: FP32 cannot tell the ends apart"):
        linear_end(2**30, 0, 65, LutUnit.SDP, Precision.FP16)
    assert linear_end(2**30 - 1, 0, 65, LutUnit.SDP, Precision.FP16) == 2**30 + 63


def test_the_widths_of_the_lut_input_are_those_of_the_pipelines() -> None:
    assert [limits(unit.input_bits)[1] for unit in LutUnit] == [2**31 - 1, 2**37 - 1]


def test_the_hardware_counts_hits_at_least_as_often_as_the_model(measured: Measured) -> None:
    compared = 0
    for layer in measured("sdp_lut_*"):
        for name, count in played(layer).counts.items():
            if "PERF_LUT" in name:
                surplus = layer.meta["status_read_after_done"][name] - count.value
                # The surplus is idle slots of the 16-wide pipeline, far fewer than the inputs.
                assert 0 <= surplus <= 400, (layer.name, name, surplus)
                compared += 1
    assert compared == 40
