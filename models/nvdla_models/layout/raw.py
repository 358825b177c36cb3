"""Checks and byte views that all layouts share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models.errors import InputError

Array = npt.NDArray[Any]
ByteArray = npt.NDArray[np.uint8]
MaskArray = npt.NDArray[np.bool_]
BytesLike = bytes | bytearray | memoryview | ByteArray

#: Largest width, height and channel count of a data cube: 13-bit size fields that hold size - 1.
MAX_CUBE_ELEMENTS = 1 << 13

#: Strides are programmed in 32-bit byte fields.
MAX_STRIDE_BYTES = (1 << 32) - 1


def round_up(value: int, multiple: int) -> int:
    """Return the smallest multiple of ``multiple`` that is not below ``value``."""
    return -(-value // multiple) * multiple


def checked_bytes(data: BytesLike, nbytes: int) -> ByteArray:
    """Return the first ``nbytes`` of ``data`` as a contiguous uint8 array, without a copy where possible.

    Args:
        data: a bytes-like object, or a one-dimensional uint8 array.
        nbytes: the bytes that the caller will read.

    Raises:
        InputError: when ``data`` is an array of another type, or shorter than ``nbytes``.
    """
    if isinstance(data, np.ndarray):
        if data.dtype != np.uint8 or data.ndim != 1:
            raise InputError(
                f"data must be a one-dimensional uint8 array, not {data.ndim}-dimensional {data.dtype.name}"
            )
        raw = data
    else:
        raw = np.frombuffer(data, dtype=np.uint8)
    if raw.size < nbytes:
        raise InputError(f"data must hold at least {nbytes} bytes, not {raw.size}")
    return np.ascontiguousarray(raw[:nbytes])


def check_array(name: str, array: Array, shape: Sequence[int], dtype: np.dtype[Any]) -> None:
    """Refuse an array whose dtype or shape is not the expected one.

    Raises:
        InputError: naming the array, the rule and the value.
    """
    if array.dtype != dtype:
        raise InputError(f"{name} must have dtype {dtype}, not {array.dtype}")
    if array.shape != tuple(shape):
        raise InputError(f"{name} must have shape {tuple(shape)}, not {array.shape}")


def check_size(name: str, value: int, maximum: int) -> None:
    """Refuse a size outside 1 to ``maximum``.

    Raises:
        InputError: naming the size, the rule and the value.
    """
    if not 1 <= value <= maximum:
        raise InputError(f"{name} must be 1 to {maximum}, not {value}")


def check_index(name: str, value: int, end: int) -> None:
    """Refuse an index outside 0 to ``end`` - 1: negative indices do not count from the end.

    Raises:
        InputError: naming the index, the rule and the value.
    """
    if not 0 <= value < end:
        raise InputError(f"{name} must be 0 to {end - 1}, not {value}")


def check_aligned(name: str, value: int, multiple: int, what: str) -> None:
    """Refuse a byte count or address that is not a multiple of ``multiple``.

    Args:
        name: the quantity, as in the message.
        value: its value in bytes.
        multiple: the alignment in bytes.
        what: what the alignment comes from, as in "the 8-byte atom".

    Raises:
        InputError: naming the quantity, the rule and the value.
    """
    if value % multiple:
        raise InputError(f"{name} must be a multiple of {what}, not {value}")


def check_stride(name: str, value: int, minimum: int, what: str) -> None:
    """Refuse a stride that makes its units overlap, or that its 32-bit field cannot hold.

    Args:
        name: the stride, as in the message.
        value: its value in bytes.
        minimum: the bytes of one unit.
        what: the unit, as in "line".

    Raises:
        InputError: naming the stride, the rule and the value.
    """
    if value < minimum:
        raise InputError(f"{name} must be at least the {minimum} bytes of a {what}, not {value}")
    if value > MAX_STRIDE_BYTES:
        raise InputError(f"{name} must be at most {MAX_STRIDE_BYTES}, not {value}")
