"""Files of tensors, images and memory: ``.npy``, ``.png``, ``.bin``, and the traces' ``.dat``."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from models.errors import InputError
from models.layout.raw import Array, ByteArray
from models.limits import MEMORY_BYTES
from tb.array_files import read_array
from tb.stimulus.trace.data import format_data, read_data

MEMORY_SUFFIXES = (".bin", ".dat")


def check_suffix(path: Path, allowed: Sequence[str]) -> None:
    """Refuse a file whose kind is not one of those allowed.

    Raises:
        InputError: naming the file and the kinds.
    """
    if path.suffix not in allowed:
        raise InputError(f"{path}: the file must be {' or '.join(allowed)}, not {path.suffix or 'without suffix'}")


def read_tensor(path: Path) -> Array:
    """Return the array of a ``.npy`` file, mapped and not copied.

    Raises:
        InputError: naming the file, when it is missing or no plain array.
    """
    return read_array(path)


def write_tensor(path: Path, tensor: Array) -> str:
    """Write a ``.npy`` file and return one line about it.

    Raises:
        InputError: when the file cannot be written.
    """
    try:
        np.save(path, np.ascontiguousarray(tensor), allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    return f"{path}: {tensor.dtype.name} {tensor.shape}"


def read_memory(path: Path, limit: int, fill: int | None) -> ByteArray:
    """Return the first bytes of a memory image.

    Args:
        path: ``.bin`` or ``.dat``.
        limit: most bytes that are read; later ones are left alone.
        fill: byte for all that a ``.dat`` has no packet for, up to ``limit``; None refuses holes.

    Returns:
        uint8, as many as the file has and at most ``limit``.

    Raises:
        InputError: when the file cannot be read, or has a hole that ``fill`` does not answer.
    """
    check_suffix(path, MEMORY_SUFFIXES)
    if limit > MEMORY_BYTES:
        raise InputError(f"{path}: at most {MEMORY_BYTES} bytes can be read, not {limit}")
    if path.suffix == ".dat":
        return _read_dat(path, limit, fill)
    if fill is not None:
        raise InputError(f"--fill must only be given for .dat files, which can have holes, not for {path}")
    try:
        return np.fromfile(path, dtype=np.uint8, count=limit)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def write_memory(path: Path, data: ByteArray) -> str:
    """Write a ``.bin`` or ``.dat`` file and return one line about it, with the CRC-32 as in ``check_crc``.

    Raises:
        InputError: when the file cannot be written.
    """
    check_suffix(path, MEMORY_SUFFIXES)
    try:
        if path.suffix == ".bin":
            path.write_bytes(data.data)
        else:
            with path.open("w", encoding="ascii") as file:
                file.writelines(format_data(((0, data.tobytes()),)))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    return f"{path}: {data.size} bytes, CRC-32 {zlib.crc32(data.data):#010x}"


def _read_dat(path: Path, limit: int, fill: int | None) -> ByteArray:
    """Load the packets in their order, as a player of traces does."""
    chunks = [(offset, data[: limit - offset]) for offset, data in read_data(path) if offset < limit]
    end = max((offset + len(data) for offset, data in chunks), default=0) if fill is None else limit
    image = np.full(end, fill or 0, dtype=np.uint8)
    known = np.zeros(end, dtype=np.bool_)
    for offset, data in chunks:
        image[offset : offset + len(data)] = np.frombuffer(data, dtype=np.uint8)
        known[offset : offset + len(data)] = True
    if fill is None and not known.all():
        first = int(np.argmin(known))
        count = int(np.argmax(known[first:]))
        raise InputError(f"{path}: no packet has bytes {first:#x} to {first + count - 1:#x}: give --fill for all such")
    return image
