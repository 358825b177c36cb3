"""Deconvolution (transposed convolution): convolutions with sets of kernels, whose outputs are interleaved.

The hardware has no deconvolution: software runs one direct convolution of stride 1 for each set, and RUBIK
contracts what they leave.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import conv
from models.conv import ConvParams
from models.errors import InputError
from models.layout import DeconvolutionWeightLayout
from models.precision import Precision


def set_params(layout: DeconvolutionWeightLayout, truncate: int = 0) -> ConvParams:
    """Return the convolution of each set: as much zero padding as lets every tap meet every element.

    Args:
        layout: layout of the kernels.
        truncate: right shift of CACC.

    Raises:
        InputError: when the padding does not fit its register.
    """
    _, _, height, width = layout.set_layout.shape
    return ConvParams(
        stride_x=1,
        stride_y=1,
        dilation_x=1,
        dilation_y=1,
        pad_left=width - 1,
        pad_right=width - 1,
        pad_top=height - 1,
        pad_bottom=height - 1,
        pad_value=0,
        truncate=truncate,
        precision=layout.precision,
    )


def interleave(outputs: NDArray[Any], stride: tuple[int, int]) -> NDArray[Any]:
    """Return the cube whose rows and columns modulo the stride (y, x) are the outputs of the sets.

    Args:
        outputs: (sets, K, H', W').
        stride: stride of the deconvolution.

    Returns:
        (K, H' * stride y, W' * stride x).
    """
    _, kernels, height, width = outputs.shape
    parts = outputs.reshape(*stride, kernels, height, width).transpose(2, 3, 0, 4, 1)
    return parts.reshape(kernels, height * stride[0], width * stride[1])


def run(
    layout: DeconvolutionWeightLayout, cube: NDArray[Any], weights: NDArray[Any], truncate: int = 0
) -> NDArray[np.int32]:
    """Compute what the convolution core hands to SDP for a whole integer deconvolution.

    Args:
        layout: layout of the kernels.
        cube: (C, H, W) of the precision's dtype.
        weights: (K, C, R, S) of the precision's dtype.
        truncate: right shift of CACC.

    Returns:
        int32 (K, H_out, W_out): (H + ceil(R / stride) - 1) * stride rows, and columns likewise. Those after
        (H - 1) * stride + R, which a transposed convolution does not have, are 0.

    Raises:
        InputError: for FP16, or when shapes do not fit each other.

    Source: unit description, "Deconvolution"; formats document, "Weight Format".
    """
    if layout.precision is Precision.FP16:
        raise InputError("precision must be INT8 or INT16 for integer sums, not FP16")
    params = set_params(layout, truncate)
    sets = layout.split(weights)
    return interleave(np.stack([conv.run(params, cube, kernels) for kernels in sets]), layout.stride)
