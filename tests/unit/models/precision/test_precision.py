"""Limits, rounding and saturation of one element of each precision."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import InputError
from models.fp16 import FP16
from models.precision import Precision
from tests.unit.models.precision import oracle


@pytest.mark.parametrize(
    ("precision", "dtype", "bits", "limits"),
    [
        (Precision.INT8, "int8", 8, (-128, 127)),
        (Precision.INT16, "int16", 16, (-32768, 32767)),
        (Precision.FP16, "float16", 16, (-65504, 65504)),
    ],
)
def test_dtype_bits_and_limits(precision: Precision, dtype: str, bits: int, limits: tuple[int, int]) -> None:
    assert (precision.dtype.name, precision.bits, precision.nbytes * 8, precision.limits) == (dtype, bits, bits, limits)


@pytest.mark.parametrize(
    ("value", "int8", "int16", "fp16"),
    [
        (0.5, 1, 1, 0.5),
        (-0.5, -1, -1, -0.5),
        (math.nextafter(0.5, 0), 0, 0, 0.5),
        (2.5, 3, 3, 2.5),
        (-2.5, -3, -3, -2.5),
        (127.4, 127, 127, 127.375),
        (127.5, 127, 128, 127.5),
        (-128.5, -128, -129, -128.5),
        (32767.5, 127, 32767, 32768.0),
        (1e9, 127, 32767, 65504.0),
        (-math.inf, -128, -32768, -65504.0),
        (2.0**-24, 0, 0, 2.0**-24),
        (2.0**-25, 0, 0, 0.0),
    ],
)
def test_integers_round_half_away_and_fp16_to_even_and_all_saturate(
    value: float, int8: int, int16: int, fp16: float
) -> None:
    for precision, expected in ((Precision.INT8, int8), (Precision.INT16, int16), (Precision.FP16, fp16)):
        result = precision.quantise(np.array([value]))
        np.testing.assert_array_equal(result, np.array([expected], precision.dtype), strict=True)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(list(Precision)))
def test_quantising_agrees_with_the_literal_rounding(value: float, precision: Precision) -> None:
    result = precision.quantise(np.array([value]))
    if precision is Precision.FP16:
        expected = oracle.encode(Fraction(value), FP16, math.copysign(1.0, value) < 0)
        assert int(result.view(np.uint16)[0]) == expected
    else:
        low, high = precision.limits
        assert int(result[0]) == min(max(oracle.half_away(Fraction(value)), low), high)


@pytest.mark.parametrize("precision", list(Precision))
def test_nan_is_refused(precision: Precision) -> None:
    with pytest.raises(InputError, match=rf"^values to round to {precision.name} must not be NaN$"):
        precision.quantise(np.array([0.0, math.nan]))
