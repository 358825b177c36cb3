"""Limits, rounding and saturation of one element of each precision."""

from __future__ import annotations

import pytest

from nvdla_models.precision import Precision


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
