"""Planar data processor: pooling along width and height, integer and FP16.

The hardware reduces a window in two steps: first along the width, then the row results along the height.
For the average, elements of the window that lie outside the cube are replaced by table values, one table
for both directions: a row that lacks n elements gets ``pad_values[n - 1]`` added, and a window that lacks
n rows ``pad_values[n - 1] * kernel_width``. So an entry is n times the padding value, but any table works.
Maximum and minimum ignore elements outside the cube.

Padding channels: the hardware processes whole atoms. The channels between C and the end of the last atom
are read from memory, pooled and written like any other, so pass a cube padded to whole atoms, with the
bytes as they are in memory, to get every byte that is written.

Split width: the result is that of the whole cube; the parts only order the reads and writes. That holds as
long as the hardware's line buffer holds a part's output width. nv_small was measured to work up to 128
elements when no two windows share a row, up to 64, 32 and 16 for 2, 3 to 4 and more windows
(kernel_height / stride_y, rounded up), and to hang or to write wrong data beyond.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import HARDWARE, Rules, channel_blocks
from nvdla_models.config import HwConfig
from nvdla_models.pdp import floating, integer
from nvdla_models.pdp.params import (
    MAX_KERNEL,
    MAX_STRIDE,
    PAD_VALUE_BITS,
    RECIPROCAL_BITS,
    PdpParams,
    PoolMethod,
    padding_sums,
    reciprocal,
)
from nvdla_models.precision import check_cube_array


def run(params: PdpParams, cube: NDArray[Any], config: HwConfig, rules: Rules = HARDWARE) -> NDArray[Any]:
    """Compute what the PDP writes for one cube.

    Args:
        params: the layer.
        cube: (C, H, W), int8, int16 or uint16 FP16 patterns. C may include padding channels; see the
            module's description.
        config: the build, which decides how wide sums of INT8 are.
        rules: rules of integer rounding.

    Returns:
        (C, H_out, W_out) of the cube's dtype.

    Raises:
        InputError: when the cube's type, shape or size does not fit the layer.

    Source: unit description, "Planar Data Processor"; register map; measured on the public nv_small
        and nv_full RTL.
    """
    check_cube_array(cube, params.precision.pattern_dtype)
    channels, height, width = cube.shape
    out_width, out_height = params.output_width(width), params.output_height(height)
    result = np.empty((channels, out_height, out_width), cube.dtype)
    for block in channel_blocks(cube.shape):
        if params.is_float:
            result[block] = floating.pool(params, cube[block], out_width, out_height)
        else:
            result[block] = integer.pool(params, cube[block], out_width, out_height, config, rules)
    return result
