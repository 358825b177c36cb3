"""What CDP's tables carry on: a pipeline that rounds once, at the end, stays within it, and little more does not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.cdp import CdpParams, run
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.fp16 import FP16, FP32
from nvdla_models.lut import LE_ENTRIES, LO_ENTRIES, HybridLut, LutChoice, LutTable, Slope
from nvdla_models.precision import Precision
from nvdla_models.tolerance.cdp import carried, cdp, channel_window_maximum
from tests.unit.models.precision.compared import compare
from tests.unit.models.precision.reference import normalised

PLAIN_IN = Converter(0, 1, 0, ConverterEncoding.CDP_INPUT)
PLAIN_OUT = Converter(0, 1, 0, ConverterEncoding.CDP_OUTPUT)


def pattern32(value: float) -> int:
    return int(FP32.encode(np.array([value]))[0])


def random_table(rng: np.random.Generator, count: int, *, exponent: bool) -> LutTable:
    """Draw a table of arbitrary entries, so that neighbours nearly cancel here and there."""
    entries = rng.normal(size=count) * 2.0 ** float(rng.integers(-4, 8))
    start, select = float(rng.choice([0.0, 1.0, -1.0])), int(rng.integers(-6, 4))
    slopes = (Slope(int(FP16.encode(rng.normal(size=1))[0]), 0) for _ in range(2))
    return LutTable(
        FP16.encode(entries),
        pattern32(start),
        pattern32(start + 2.0**select * (count - 1)),
        select,
        exponent,
        select if exponent else 0,
        *slopes,
    )


def random_layer(rng: np.random.Generator) -> CdpParams:
    """Draw a layer of arbitrary tables."""
    lut = HybridLut(
        random_table(rng, LE_ENTRIES, exponent=bool(rng.random() < 0.5)),
        random_table(rng, LO_ENTRIES, exponent=False),
        *(LutChoice(int(rng.integers(2))) for _ in range(3)),
    )
    size = (3, 5, 7, 9, None)[int(rng.integers(5))]
    return CdpParams(size, bool(rng.random() < 0.7), PLAIN_IN, PLAIN_OUT, lut, Precision.FP16)


def layer_and_cube(seed: int) -> tuple[CdpParams, NDArray[np.uint16], NDArray[np.float64]]:
    """Draw a layer and a cube of 16 channels, whose padding channels are none."""
    rng = np.random.default_rng(seed)
    cube = FP16.encode(rng.normal(size=(16, 3, 4)) * 2.0 ** float(rng.integers(-2, 3))).astype(np.uint16)
    return random_layer(rng), cube, FP16.decode(cube)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_a_pipeline_that_rounds_only_once_stays_within_what_the_tables_carry(seed: int) -> None:
    params, cube, values = layer_and_cube(seed)
    expected = FP16.decode(run(params, cube, 16))
    once = FP16.decode(FP16.encode(np.clip(normalised(params, values), -FP16.max_value, FP16.max_value)))
    allowance = np.maximum(carried(params, cube, 16), 2.0**-24)
    assert (np.abs(once - expected) <= allowance).all()


@pytest.mark.slow
def test_arbitrary_tables_leave_the_thresholds_that_know_nothing_of_them() -> None:
    outside = 0
    for seed in range(60):
        params, cube, values = layer_and_cube(seed)
        expected = FP16.decode(run(params, cube, 16))
        once = FP16.encode(np.clip(normalised(params, values), -FP16.max_value, FP16.max_value)).astype(np.uint16)
        largest = channel_window_maximum(values, params.local_size or 1)
        outside += not compare(expected, once, cdp(largest, expected)).passed
    assert outside >= 10


def test_an_output_just_beyond_what_its_tables_carry_is_caught() -> None:
    entries = np.zeros(LE_ENTRIES)
    entries[:2] = 4096.0, -4096.0
    start, end = pattern32(0.0), pattern32(64.0)
    steep = LutTable(FP16.encode(entries), start, end)
    other = LutTable(FP16.encode(np.zeros(LO_ENTRIES)), pattern32(100.0), pattern32(356.0))
    lut = HybridLut(steep, other, LutChoice.LE, LutChoice.LE, LutChoice.LE)
    params = CdpParams(None, False, PLAIN_IN, PLAIN_OUT, lut, Precision.FP16)
    cube = FP16.encode(np.array([[[0.5]]])).astype(np.uint16)
    # Half way down: the difference of 8192, its half and the fraction are rounded, and what is cut off 16 bits.
    limit = 8192 * (2.0**-24 * 0.5 + 2.0**-16 + 3 * 2.0**-11 * 0.5)
    assert carried(params, cube, 1).item() == pytest.approx(limit)
    expected = FP16.decode(run(params, cube, 1))
    tolerance = cdp(np.array([[[0.5]]]), expected, carried=carried(params, cube, 1))
    for output, passes in ((limit - 0.01, True), (limit + 0.01, False)):
        actual = FP16.encode(np.array([[[output]]])).astype(np.uint16)
        assert compare(expected, actual, tolerance).passed is passes
