"""The window that convolution and pooling move over an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import check_range

Array = NDArray[Any]


@dataclass(frozen=True)
class Window:
    """Size, stride and padding of a window; ``Window(3, 3, left=1, top=1, right=1, bottom=1)`` keeps an image's size.

    Args:
        width: pixels of a row, S.
        height: rows, R.
        stride_x: step along a row.
        stride_y: step from row to row.
        left: padding in front of a row, and so on.

    Raises:
        InputError: for what eight bits cannot hold.

    Source: ``docs/dlhdl.md``, "Instruction list", words 8 and 9.
    """

    width: int
    height: int
    stride_x: int = 1
    stride_y: int = 1
    left: int = 0
    top: int = 0
    right: int = 0
    bottom: int = 0

    def __post_init__(self) -> None:
        for name in ("width", "height", "stride_x", "stride_y"):
            check_range(name, getattr(self, name), 1, 255)
        for name in ("left", "top", "right", "bottom"):
            check_range(name, getattr(self, name), 0, 255)

    @property
    def positions(self) -> int:
        """Positions of the window, R * S."""
        return self.width * self.height

    def output(self, rows: int, pixels: int) -> tuple[int, int]:
        """Return rows and row pixels of the result.

        Raises:
            InputError: when the window does not fit into the padded image.
        """
        padded_rows, padded_pixels = self.top + rows + self.bottom, self.left + pixels + self.right
        check_range("height", self.height, 1, padded_rows)
        check_range("width", self.width, 1, padded_pixels)
        return (padded_rows - self.height) // self.stride_y + 1, (padded_pixels - self.width) // self.stride_x + 1

    def views(self, image: Array, fill: float = 0) -> Array:
        """Return what the window sees at each place.

        Args:
            image: (Z, Y, X).
            fill: value of padding.

        Returns:
            (Z, rows, pixels, R, S) of the same dtype.

        Raises:
            InputError: when the window does not fit into the padded image.
        """
        rows, pixels = self.output(*image.shape[1:])
        edges = ((0, 0), (self.top, self.bottom), (self.left, self.right))
        padded = np.pad(image, edges, constant_values=fill)
        views = np.lib.stride_tricks.sliding_window_view(padded, (self.height, self.width), axis=(1, 2))
        return views[:, :: self.stride_y, :: self.stride_x][:, :rows, :pixels]
