"""The layers of a deconvolution against the literal transposed convolution."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import DeconvolutionWeightLayout, FeatureLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, output_converter
from nvdla_tb.nvdla.layers import Surface
from nvdla_tb.nvdla.layers.deconvolution import deconvolve
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckNothing, MemInit, MemLoad, Op, SyncWait
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.scenario import Scenario

FULL = HwConfig.load("nv_full")
IDENTITY = SdpParams(None, None, output_converter(0, 1, 0), Precision.INT8, Precision.INT8)


def transposed(cube: NDArray[Any], weights: NDArray[Any], stride: tuple[int, int]) -> NDArray[np.int64]:
    """Let every element add its multiple of the kernel around its place, one product at a time."""
    kernels, channels, rows, columns = weights.shape
    _, height, width = cube.shape
    result = np.zeros((kernels, (height - 1) * stride[0] + rows, (width - 1) * stride[1] + columns), np.int64)
    for k, c, y, x, r, s in np.ndindex(kernels, channels, height, width, rows, columns):
        result[k, y * stride[0] + r, x * stride[1] + s] += int(cube[c, y, x]) * int(weights[k, c, r, s])
    return result


def test_the_layers_of_a_deconvolution_leave_the_transposed_convolution_in_memory() -> None:
    rng = np.random.default_rng(14)
    layout = DeconvolutionWeightLayout(FULL, Precision.INT8, (32, 7, 4, 3), (2, 2))
    cube = rng.integers(-3, 4, (7, 5, 6), dtype=np.int8)
    weights = rng.integers(-3, 4, layout.shape, dtype=np.int8)
    src = Surface(FeatureLayout.packed(FULL, Precision.INT8, cube.shape), 0x1000)
    layers = deconvolve(layout, 0x10000, src, 0x40000, 0x80000, IDENTITY)
    assert len(layers) == 5
    ops: list[Op] = [
        MemLoad(Ram.MC, 0x1000, ((0, src.layout.pack(cube).tobytes()),), "cube.dat"),
        MemLoad(Ram.MC, 0x10000, ((0, layout.pack(weights).tobytes()),), "weights.dat"),
        MemInit(Ram.MC, 0x40000, 0x20000),
        MemInit(Ram.MC, 0x80000, 0x20000),
    ]
    for number, layer in enumerate(layers):
        if number:
            ops += [
                SyncWait(unit, f"{number - 1}") for unit in ("SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA", "RBK")
            ]
        group = number % 2 if number < len(layers) - 1 else 0
        ops += [*encode(layer, FULL, group, f"{number}"), CheckNothing(f"{number}")]
    played = play_model(Scenario("t", "nv_full", tuple(ops), 0), FULL)
    assert played.verdict.findings == []
    last = played.expectations[-1]
    assert isinstance(last.layout, FeatureLayout)
    expected = transposed(cube, weights, layout.stride)
    result = last.layout.unpack(last.data)
    assert result.shape == (32, 12, 14)
    np.testing.assert_array_equal(result[:, :, : expected.shape[2]], np.clip(expected, -128, 127))
    assert not result[:, :, expected.shape[2] :].any()


def test_kernels_that_leave_an_atom_open_are_refused() -> None:
    layout = DeconvolutionWeightLayout(FULL, Precision.INT8, (33, 7, 4, 3), (2, 2))
    src = Surface(FeatureLayout.packed(FULL, Precision.INT8, (7, 5, 6)), 0x1000)
    message = "kernels must be a multiple of the 32 elements of an atom, not 33"
    with pytest.raises(InputError, match=rf"^{re.escape(message)}$"):
        deconvolve(layout, 0x10000, src, 0x40000, 0x80000, IDENTITY)
