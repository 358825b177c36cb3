"""Convolution core: what CDMA's buffer, CSC, CMAC and CACC make of a cube and of kernels.

Direct convolution, images and Winograd, in INT8, INT16 and FP16. The input is the cube that lies in the
convolution buffer: after the input converter, without the padding channels of the last atom. An image is no
special case for integers: pre- and post-extension change only the order in memory, and so, in FP16, the
order of the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.arithmetic import HARDWARE, Rules
from models.conv import exact, integer
from models.conv.exact import AtomOrder
from models.conv.floating import reference, tolerance
from models.conv.integer import OUTPUT_BITS, Accumulation, truncate
from models.conv.params import (
    MAX_DILATION,
    MAX_KERNEL_BYTES,
    MAX_PAD_AFTER,
    MAX_PAD_BEFORE,
    MAX_PRE_TRUNCATE,
    MAX_STRIDE,
    MAX_TRUNCATE,
    ConvParams,
    check_arrays,
)
from models.errors import InputError
from models.fp16 import BitsArray
from models.tolerance import Float64Array, Tolerance

__all__ = [
    "MAX_DILATION",
    "MAX_KERNEL_BYTES",
    "MAX_PAD_AFTER",
    "MAX_PAD_BEFORE",
    "MAX_PRE_TRUNCATE",
    "MAX_STRIDE",
    "MAX_TRUNCATE",
    "OUTPUT_BITS",
    "Accumulation",
    "AtomOrder",
    "ConvParams",
    "accumulate",
    "run",
    "run_exact",
    "run_float64",
    "threshold",
    "truncate",
]


def run(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], rules: Rules = HARDWARE) -> NDArray[np.int32]:
    """Compute what an integer convolution hands to SDP.

    Args:
        params: the layer.
        cube: (C, H, W) of the precision's dtype.
        weights: (K, C, R, S) of the precision's dtype; (K, C, 4, 4) transformed ones for Winograd.
        rules: rules of rounding and saturation.

    Returns:
        int32 (K, H_out, W_out).

    Raises:
        InputError: when types, shapes or sizes do not fit each other or the hardware, or for FP16.

    Source: unit description, "Convolution Pipeline"; measured on the public nv_small and nv_full RTL.
    """
    return accumulate(params, cube, weights, rules).output


def accumulate(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], rules: Rules = HARDWARE) -> Accumulation:
    """Compute as ``run`` does, and tell which outputs were saturated.

    Raises:
        InputError: as ``run``.
    """
    if params.is_float:
        raise InputError("precision must be INT8 or INT16 for integer sums, not FP16")
    check_arrays(params, cube, weights)
    return integer.accumulate(params, cube, weights, rules)


def run_exact(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], order: AtomOrder) -> BitsArray:
    """Compute what an FP16 convolution hands to SDP, bit by bit.

    Args:
        params: the layer.
        cube: (C, H, W) uint16 patterns.
        weights: (K, C, R, S) uint16 patterns; (K, C, 4, 4) transformed ones for Winograd.
        order: in which the build multiplies; nothing for Winograd.

    Returns:
        uint32 (K, H_out, W_out), FP32 patterns.

    Raises:
        InputError: when types, shapes or sizes do not fit each other or the hardware, or for integers.

    Source: measured on the public nv_full RTL.
    """
    _check_float(params, cube, weights)
    return exact.run(params, cube, weights, order)


def run_float64(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> Float64Array:
    """Compute the mathematics of an FP16 convolution, which thresholds refer to.

    Args:
        params: the layer.
        cube: (C, H, W) uint16 patterns.
        weights: (K, C, R, S) uint16 patterns; (K, C, 4, 4) transformed ones for Winograd.

    Returns:
        float64 (K, H_out, W_out), not clipped.

    Raises:
        InputError: as ``run_exact``.

    Source: precision document, "FP16 error threshold".
    """
    _check_float(params, cube, weights)
    return reference(params, cube, weights)


def threshold(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], expected: Float64Array) -> Tolerance:
    """Return the allowed difference of FP16 outputs from a float64 reference; arguments as ``run_float64``.

    Args:
        params: the layer.
        cube: cube of the layer.
        weights: weights of the layer.
        expected: (K, H_out, W_out) reference.

    Raises:
        InputError: as ``run_exact``, or for a reference of another shape.

    Source: precision document, "FP16 error threshold".
    """
    _check_float(params, cube, weights)
    return tolerance(params, cube, weights, expected)


def _check_float(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> None:
    if not params.is_float:
        raise InputError(f"precision must be FP16 for floating sums, not {params.precision.name}")
    check_arrays(params, cube, weights)
