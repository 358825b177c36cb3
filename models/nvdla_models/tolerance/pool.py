"""Allowances of PDP in FP16: absolute, and relative to the largest value in a window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import check_range
from nvdla_models.fp16 import FP16
from nvdla_models.tolerance import Float64Array, Module, Tolerance
from nvdla_models.tolerance.conv import Window

ABSOLUTE = 1e-4
RELATIVE = 1e-3
EITHER = "|a-b| <= 1e-4 || |a-b|/max_value <= 1e-3"


def planar_window_maximum(cube: Float64Array, kernel_height: int, kernel_width: int, window: Window) -> Float64Array:
    """Return ``max_value`` of PDP: the largest magnitude in each pooling window.

    Args:
        cube: (C, H, W) float64; NaN is ignored, and infinity counts as 65504: a larger value would
            allow any finite output.
        kernel_height: rows of the window.
        kernel_width: columns of the window.
        window: stride and padding; dilation is not used by PDP.

    Returns:
        (C, H', W').

    Source: precision document, "FP16 error threshold".
    """
    check_range("kernel_height", kernel_height, 1, 8)
    check_range("kernel_width", kernel_width, 1, 8)
    padding = ((0, 0), (window.pad_top, window.pad_bottom), (window.pad_left, window.pad_right))
    padded = np.pad(magnitude(cube), padding)
    views = np.lib.stride_tricks.sliding_window_view(padded, kernel_width, axis=2)[:, :, :: window.stride_x]
    rows = views.max(axis=-1)
    views = np.lib.stride_tricks.sliding_window_view(rows, kernel_height, axis=1)[:, :: window.stride_y]
    largest: Float64Array = views.max(axis=-1)
    return largest


def padding_maximum(
    pad_values: Float64Array, missing_columns: NDArray[np.int64], missing_rows: NDArray[np.int64]
) -> Float64Array:
    """Return the largest magnitude of a padding element in each window of an average.

    Elements in the padding belong to the window like any others; an entry of the table is the sum of so many.

    Args:
        pad_values: (7,) what stands for 1 to 7 missing elements.
        missing_columns: (W',) of each window.
        missing_rows: (H',) of each window.

    Returns:
        (H', W'); 0 where nothing is missing.

    Source: precision document, "FP16 error threshold"; register map of PDP.
    """
    one = np.append(0.0, magnitude(pad_values) / np.arange(1, len(pad_values) + 1))
    largest: Float64Array = np.maximum(one[missing_rows][:, np.newaxis], one[missing_columns])
    return largest


def cancelling_infinities(
    cube: Float64Array, kernel_height: int, kernel_width: int, window: Window
) -> NDArray[np.bool_]:
    """Tell which pooling windows hold infinities of both signs.

    Infinity counts as nearly 2^32, beside which FP17 keeps nothing below 2^21: what an average leaves of two that
    cancel depends on the order of the additions, and may be any FP16 number.

    Args:
        cube: (C, H, W) float64.
        kernel_height: rows of the window.
        kernel_width: columns of the window.
        window: as in :func:`planar_window_maximum`.

    Returns:
        (C, H', W').

    Source: formats document, "INF converted values"; measured on the public nv_full RTL.
    """
    signs = ((cube == side).astype(np.float64) for side in (np.inf, -np.inf))
    positive, negative = (planar_window_maximum(sign, kernel_height, kernel_width, window) > 0.0 for sign in signs)
    return positive & negative


def pdp(max_value: Float64Array) -> Tolerance:
    """Return the allowance of average pooling; maximum and minimum are bit-identical.

    Absolute or relative error must hold. The document asks for both, which rejects the hardware's correct
    averages of large numbers, because half an FP16 step exceeds 1e-4 from 0.25 on.

    Args:
        max_value: (C, H', W') from :func:`planar_window_maximum`.

    Source: precision document, "FP16 error threshold", PDP; measured on the public nv_full RTL.
    """
    return Tolerance(Module.PDP, EITHER, np.maximum(ABSOLUTE, RELATIVE * max_value))


def magnitude(cube: Float64Array) -> Float64Array:
    """Return magnitudes: that of NaN is 0, and that of infinity 65504."""
    return np.minimum(np.abs(np.nan_to_num(cube, nan=0.0, posinf=np.inf, neginf=-np.inf)), FP16.max_value)
