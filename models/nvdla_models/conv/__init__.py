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

from nvdla_models.arithmetic import HARDWARE, Rules
from nvdla_models.conv.exact import AtomOrder, run_exact
from nvdla_models.conv.floating import run_float64, threshold
from nvdla_models.conv.integer import accumulate, truncate
from nvdla_models.conv.params import ConvParams


def run(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], rules: Rules = HARDWARE) -> NDArray[np.int32]:
    """Return the output of :func:`accumulate`, int32 (K, H_out, W_out).

    Raises:
        InputError: as there.
    """
    return accumulate(params, cube, weights, rules).output
