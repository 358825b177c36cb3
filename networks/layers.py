"""Layers that learn, in numpy: what ``train_digits`` needs and nothing more.

Each layer keeps what its own gradient needs: ``forward`` first, then ``backward`` with the gradient of its output.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Parameters:
    """Weights and bias with Adam's running averages of their gradients."""

    def __init__(self, *values: Array) -> None:
        """Start with values."""
        self.values = list(values)
        self._first = [np.zeros_like(value) for value in values]
        self._second = [np.zeros_like(value) for value in values]
        self._steps = 0

    def step(self, gradients: tuple[Array, ...], rate: float) -> None:
        """Move against the gradients."""
        self._steps += 1
        for number, gradient in enumerate(gradients):
            self._first[number] += 0.1 * (gradient - self._first[number])
            self._second[number] += 0.001 * (gradient * gradient - self._second[number])
            first = self._first[number] / (1 - 0.9**self._steps)
            second = self._second[number] / (1 - 0.999**self._steps)
            self.values[number] -= rate * first / (np.sqrt(second) + 1e-8)


class Conv:
    """A convolution with stride 1 that keeps the sides: (N, C, H, W) to (N, K, H, W)."""

    def __init__(self, kernels: int, channels: int, side: int, rng: np.random.Generator) -> None:
        """Start with random weights."""
        weights = rng.standard_normal((kernels, channels, side, side)) * np.sqrt(2 / (channels * side * side))
        self.parameters = Parameters(weights, np.zeros(kernels))
        self._pad = side // 2

    def forward(self, images: Array) -> Array:
        """Return the result."""
        weights, bias = self.parameters.values
        around = ((0, 0), (0, 0), (self._pad, self._pad), (self._pad, self._pad))
        self._windows = sliding_window_view(np.pad(images, around), weights.shape[2:], axis=(2, 3))
        result: Array = np.einsum("nchwrs,kcrs->nkhw", self._windows, weights, optimize=True)
        return result + bias[:, np.newaxis, np.newaxis]

    def backward(self, gradient: Array, rate: float) -> Array:
        """Return the gradient of the input, and learn."""
        weights, _ = self.parameters.values
        of_weights = np.einsum("nchwrs,nkhw->kcrs", self._windows, gradient, optimize=True)
        around = ((0, 0), (0, 0), (self._pad, self._pad), (self._pad, self._pad))
        windows = sliding_window_view(np.pad(gradient, around), weights.shape[2:], axis=(2, 3))
        of_input: Array = np.einsum("nkhwrs,kcrs->nchw", windows, weights[:, :, ::-1, ::-1], optimize=True)
        self.parameters.step((of_weights, gradient.sum(axis=(0, 2, 3))), rate)
        return of_input


class Dense:
    """A matrix and a bias: (N, C) to (N, K)."""

    def __init__(self, columns: int, rows: int, rng: np.random.Generator) -> None:
        """Start with random weights."""
        self.parameters = Parameters(rng.standard_normal((columns, rows)) * np.sqrt(1 / rows), np.zeros(columns))

    def forward(self, vectors: Array) -> Array:
        """Return the result."""
        self._vectors = vectors
        weights, bias = self.parameters.values
        return np.asarray(vectors @ weights.T + bias)

    def backward(self, gradient: Array, rate: float) -> Array:
        """Return the gradient of the input, and learn."""
        of_input = np.asarray(gradient @ self.parameters.values[0])
        self.parameters.step((gradient.T @ self._vectors, gradient.sum(axis=0)), rate)
        return of_input


class Relu:
    """Negative elements become 0."""

    def forward(self, values: Array) -> Array:
        """Return the result."""
        self._is_positive = values > 0
        return values * self._is_positive

    def backward(self, gradient: Array) -> Array:
        """Return the gradient of the input."""
        return gradient * self._is_positive


class MaxPool:
    """The largest of each 2 x 2 elements."""

    def forward(self, images: Array) -> Array:
        """Return the result."""
        count, channels, height, width = images.shape
        tiles = images.reshape(count, channels, height // 2, 2, width // 2, 2)
        result: Array = tiles.max(axis=(3, 5))
        self._is_largest: Any = tiles == result[:, :, :, np.newaxis, :, np.newaxis]
        return result

    def backward(self, gradient: Array) -> Array:
        """Return the gradient of the input; equal elements share it."""
        shares = self._is_largest / self._is_largest.sum(axis=(3, 5), keepdims=True)
        wide: Array = shares * gradient[:, :, :, np.newaxis, :, np.newaxis]
        count, channels, height, _, width, _ = wide.shape
        return wide.reshape(count, channels, 2 * height, 2 * width)
