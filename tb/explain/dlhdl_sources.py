"""Values of a layer of the Deep Learning HDL processor as hardware may have found them in memory.

Source: ``docs/dlhdl-standin.md``, "Memory".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.layout.dlhdl import DlhdlType, FullyConnectedDataLayout, ModuleDataLayout
from tb.explain.memory import Bytes

Array = NDArray[Any]
Beats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Source:
    """Values of a layer's input as beats.

    Attributes:
        address: of the first beat.
        layout: that of the values.
        lanes: features that a beat holds.
        transposed: whether rows and pixels are swapped.
        late_beats: how much later the blocks after the first begin.
        unsigned: whether int8 counts as unsigned.
        loud: whether padding lanes count.
    """

    address: int
    layout: ModuleDataLayout
    lanes: int
    transposed: bool = False
    late_beats: int = 0
    unsigned: bool = False
    loud: bool = False

    @property
    def packed(self) -> bool:
        """Whether it has the format of the fully connected module."""
        return isinstance(self.layout, FullyConnectedDataLayout)

    def beats(self, memory: Bytes) -> Beats:
        """Return the beats as they lie in memory, widened."""
        layout = self.layout
        raw = memory.read(self.address, layout.nbytes).data
        return widened(raw, layout.data_type, self.unsigned).reshape(-1, layout.parallel)

    def mask(self) -> NDArray[np.bool_]:
        """Return the lanes that count."""
        layout = self.layout
        ones = np.ones(layout.shape, dtype=layout.data_type.dtype)
        used = layout.pack(ones).view(layout.data_type.dtype).reshape(-1, layout.parallel) != 0
        return np.ones_like(used) if self.loud else used

    def image(self, memory: Bytes) -> Array:
        """Return the values of an image, (Z, Y, X)."""
        features, rows, pixels = self.layout.shape
        beats = self.beats(memory)
        blocks = -(-features // self.lanes)
        block, y, x = np.ogrid[:blocks, :rows, :pixels]
        place = (block * pixels + x) * rows + y if self.transposed else (block * rows + y) * pixels + x
        place = place + self.late_beats * (block > 0)
        found = np.concatenate([beats, np.zeros((1, beats.shape[1]), beats.dtype)])
        lanes = found[np.where((place >= 0) & (place < len(beats)), place, len(beats))]
        values: Array = np.moveaxis(lanes[..., : self.lanes], 3, 1).reshape(-1, rows, pixels)[:features]
        return values


@dataclass(frozen=True, eq=False)
class Operands:
    """Weights and biases of a layer.

    Attributes:
        address: of the weights.
        bias_address: of the biases.
        first_beat: address of a beat that takes the place of the first one of each block of kernels, None for none.
        transposed: whether rows and pixels of kernels are swapped.
        unsigned: whether int8 weights count as unsigned.
        bias: ``own``, ``lost``, or ``block`` for that of the first feature of each block.
    """

    address: int
    bias_address: int
    first_beat: int | None = None
    transposed: bool = False
    unsigned: bool = False
    bias: str = "own"


def widened(raw: NDArray[np.uint8], data_type: DlhdlType, unsigned: bool) -> Array:
    """Return values as int64 or float64."""
    dtype = np.dtype(np.uint8) if unsigned and data_type is DlhdlType.INT8 else data_type.dtype
    wide: Array = raw.view(dtype).astype(np.int64 if data_type is DlhdlType.INT8 else np.float64)
    return wide
