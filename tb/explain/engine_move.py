"""RUBIK and BDMA: cubes that are moved as they are, or contracted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from models.arithmetic import Rules
from models.errors import InputError
from tb.explain.memory import Bytes
from tb.explain.walk import Cube, Walk


class ChannelOrder(Enum):
    """Where contract finds channel c of row y and column x of a stride."""

    ROWS = "(y * stride_x + x) * C' + c"
    COLUMNS = "(x * stride_y + y) * C' + c"
    CHANNELS = "(c * stride_y + y) * stride_x + x"


_AXES = {ChannelOrder.ROWS: (0, 1, 2), ChannelOrder.COLUMNS: (1, 0, 2), ChannelOrder.CHANNELS: (1, 2, 0)}
"""Where y, x and c stand among the parts of a channel number."""


@dataclass(frozen=True)
class MoveRun:
    """A movement of a cube.

    Attributes:
        src: walk through the input.
        moved: channels and columns of the output that are moved.
        padded: channels and columns that are written: those after the moved ones are 0.
        stride: rows and columns that contract makes of one, (1, 1) for anything else.
        order: order of the channels that become rows and columns.
    """

    src: Walk
    moved: tuple[int, int]
    padded: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    order: ChannelOrder = ChannelOrder.ROWS
    work: ClassVar[int] = 1

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding.

        Raises:
            InputError: when the channels cannot be divided by the stride.
        """
        del rules
        down = self.stride[0]
        first = rows.start // down
        cube = self._contracted(self.src.rows(slice(first, -(-rows.stop // down))).read(memory))
        lines = cube[: self.moved[0], rows.start - first * down : rows.stop - first * down, : self.moved[1]]
        missing = [size - got for size, got in zip(self.padded, (lines.shape[0], lines.shape[2]), strict=True)]
        return np.pad(lines, ((0, missing[0]), (0, 0), (0, missing[1])))

    def _contracted(self, cube: Cube) -> Cube:
        """Return a cube whose channels of one stride became rows and columns."""
        parts, (channels, height, width) = self.stride[0] * self.stride[1], cube.shape
        if channels % parts:
            raise InputError(f"channels must be a multiple of {parts} for the stride {self.stride}, not {channels}")
        sizes = (*self.stride, channels // parts)
        axes = _AXES[self.order]
        stored = [0, 0, 0]
        for size, axis in zip(sizes, axes, strict=True):
            stored[axis] = size
        split = cube.reshape(*stored, height, width)
        turned = split.transpose(axes[2], 3, axes[0], 4, axes[1])
        return turned.reshape(sizes[2], height * self.stride[0], width * self.stride[1])
