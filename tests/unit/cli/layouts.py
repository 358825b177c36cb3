"""One small layout of every format: the words of the command line beside the class that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dlhdl_models.layout import ConvolutionDataLayout, DlhdlType, FullyConnectedDataLayout
from nvdla_models.config import HwConfig
from nvdla_models.layout import (
    DeconvolutionWeightLayout,
    FeatureLayout,
    ImageWeightLayout,
    OperandLayout,
    PixelLayout,
    PlanarLayout,
    WeightLayout,
    WinogradWeightLayout,
)
from nvdla_models.layout.raw import Array, ByteArray
from nvdla_models.precision import Precision
from tests.unit.conftest import Run

SMALL, FULL = HwConfig.load("nv_small"), HwConfig.load("nv_full")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


@dataclass(frozen=True)
class Sample:
    """A layout in words, the tensor's shape and dtype, and its bytes by the layout class."""

    words: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pack: Callable[[Array], ByteArray]
    most: int | None = None

    @property
    def of_memory(self) -> str:
        """The words for commands that read memory, in which kernels are converted already."""
        return self.words.replace(" --converted", "")

    def tensor(self) -> Array:
        """Return random bit patterns, or values up to ``most``."""
        rng = np.random.default_rng(11)
        if self.most is not None:
            return rng.integers(0, self.most + 1, self.shape, dtype=self.dtype)
        size = int(np.prod(self.shape)) * self.dtype.itemsize
        return rng.integers(0, 256, size, dtype=np.uint8).view(self.dtype).reshape(self.shape)


def _pair(tensor: Array) -> ByteArray:
    layout = OperandLayout.packed(FULL, INT16, (18, 2, 3), ("alu", "mul"), 2)
    return layout.pack({"alu": tensor[0], "mul": tensor[1]})


def _image_weights(tensor: Array) -> ByteArray:
    layout = ImageWeightLayout(SMALL, INT8, (9, 1, 5, 3), 2)
    return layout.pack(layout.pre_extend(tensor))


SAMPLES = {
    "feature": Sample(
        "--format feature --precision int8 --shape 11,2,3", (11, 2, 3), INT8.dtype,
        FeatureLayout.packed(SMALL, INT8, (11, 2, 3)).pack,
    ),
    "feature with strides": Sample(
        "--format feature --config nv_full --precision fp16 --shape 20,2,3 --line-stride 128 --surface-stride 512",
        (20, 2, 3), FP16.dtype, FeatureLayout(FULL, FP16, (20, 2, 3), 128, 512).pack,
    ),
    "feature with a line stride": Sample(
        "--format feature --precision int8 --shape 9,2,3 --line-stride 0x20", (9, 2, 3), INT8.dtype,
        FeatureLayout(SMALL, INT8, (9, 2, 3), 32, 64).pack,
    ),
    "pixel": Sample(
        "--format pixel --pixel-format T_A8R8G8B8 --shape 4,2,3 --x-offset 1", (4, 2, 3), np.dtype("u1"),
        PixelLayout.packed(SMALL, "T_A8R8G8B8", (4, 2, 3), 1).pack,
    ),
    "pixel of two planes": Sample(
        "--format pixel --pixel-format T_Y8___V8U8_N444 --shape 3,2,3 --line-stride 16,24", (3, 2, 3), np.dtype("u1"),
        PixelLayout(SMALL, "T_Y8___V8U8_N444", (3, 2, 3), (16, 24)).pack,
    ),
    "pixel of 12 bits": Sample(
        "--format pixel --config nv_full --pixel-format T_R12 --shape 1,2,3", (1, 2, 3), np.dtype("<u2"),
        PixelLayout.packed(FULL, "T_R12", (1, 2, 3)).pack, most=4095,
    ),
    "weight": Sample(
        "--format weight --precision int8 --shape 9,10,2,3", (9, 10, 2, 3), INT8.dtype,
        WeightLayout(SMALL, INT8, (9, 10, 2, 3)).pack,
    ),
    "image-weight": Sample(
        "--format image-weight --precision int8 --shape 9,1,5,3 --post-extension 2", (9, 1, 5, 3), INT8.dtype,
        _image_weights,
    ),
    "winograd": Sample(
        "--format winograd --config nv_full --precision int16 --shape 2,3,3,3 --converted", (2, 16, 4, 4), INT16.dtype,
        WinogradWeightLayout(FULL, INT16, (2, 3, 3, 3)).pack,
    ),
    "deconvolution": Sample(
        "--format deconvolution --precision int8 --shape 2,3,3,3 --stride 2,2", (2, 3, 3, 3), INT8.dtype,
        DeconvolutionWeightLayout(SMALL, INT8, (2, 3, 3, 3), (2, 2)).pack,
    ),
    "operand": Sample(
        "--format operand --precision int8 --shape 11,1,1 --components alu --component-bytes 2", (11, 1, 1),
        np.dtype("<i2"), lambda t: OperandLayout.packed(SMALL, INT8, (11, 1, 1), ("alu",), 2).pack({"alu": t}),
    ),
    "operand pair": Sample(
        "--format operand --config nv_full --precision int16 --shape 18,2,3 --components alu,mul --component-bytes 2",
        (2, 18, 2, 3), np.dtype("<i2"), _pair,
    ),
    "planar": Sample(
        "--format planar --config nv_full --precision int16 --shape 3,2,5 --planar-stride 192", (3, 2, 5), INT16.dtype,
        PlanarLayout(FULL, INT16, (3, 2, 5), 64, 192).pack,
    ),
    "dlhdl": Sample(
        "--format dlhdl --module convolution --precision single --conv-thread-number 9 --shape 4,2,3", (4, 2, 3),
        np.dtype("<f4"), ConvolutionDataLayout(DlhdlType.SINGLE, (4, 2, 3), 3).pack,
    ),
    "dlhdl fully connected": Sample(
        "--format dlhdl --module fully-connected --precision int8 --conv-thread-number 16 --shape 10", (10,),
        np.dtype("i1"), FullyConnectedDataLayout(DlhdlType.INT8, 10, 4).pack,
    ),
}  # fmt: skip


def check_damage(tb: Run, whole: bytes, words: str, header: int, rounds: int) -> None:
    """Check that whatever is wrong with a file in place of ``in`` in some words is one line.

    Args:
        tb: the command.
        whole: a sound file.
        words: take it from a file whose name they begin with.
        header: of so many bytes one is damaged, and at times the end is cut off.
        rounds: how many damaged files are tried, most of which must be refused.
    """
    rng = np.random.default_rng(9)
    refused = 0
    for _ in range(rounds):
        damaged = bytearray(whole)
        damaged[int(rng.integers(0, header))] = int(rng.integers(0, 256))
        end = int(rng.integers(0, len(whole) + 1)) if rng.random() < 0.3 else len(whole)
        Path(words.split()[0]).write_bytes(damaged[:end])
        ran = tb("pack", words)
        assert ran.code == 0 or (ran.code, ran.err.count("\n"), ran.err[:7]) == (2, 1, "error: ")
        refused += ran.code == 2
    assert refused > rounds // 2
