"""What the layout tests share: refusals with their whole message, and arrays of random bit patterns."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from nvdla_models.errors import InputError


def refused(message: str, error: type[InputError] = InputError) -> AbstractContextManager[Any]:
    """Expect an InputError, or another error, with exactly this message."""
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def random_bits(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> npt.NDArray[Any]:
    """Return an array of random bit patterns: infinities and NaN included."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape)) * dtype.itemsize
    return rng.integers(0, 256, size, dtype=np.uint8).view(dtype).reshape(shape)


def numbered(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return an array whose elements count up modulo a prime, so that neighbours differ."""
    return (np.arange(int(np.prod(shape))) % 113).astype(dtype).reshape(shape)
