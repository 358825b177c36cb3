"""Files of tensors, images and memory: ``.npy``, ``.png``, ``.bin``, and the traces' ``.dat``."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from nvdla_models.errors import InputError
from nvdla_models.layout import PixelFormat
from nvdla_models.layout.raw import Array, ByteArray
from nvdla_models.limits import DATA_BYTES, IMAGE_BYTES, MEMORY_BYTES, PIXELS
from nvdla_models.reading import opened, read_bytes
from nvdla_tb.counting import counted
from nvdla_tb.stimulus.trace.data import format_data
from nvdla_tb.stimulus.trace.lines import read_memory_file

MEMORY_SUFFIXES = (".bin", ".dat")


def check_suffix(path: Path, allowed: Sequence[str]) -> None:
    """Refuse a file whose kind is not one of those allowed.

    Raises:
        InputError: naming the file and the kinds.
    """
    if path.suffix not in allowed:
        raise InputError(f"{path}: the file must be {' or '.join(allowed)}, not {path.suffix or 'without suffix'}")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def write_tensor(path: Path, tensor: Array) -> str:
    """Write a ``.npy`` file and return one line about it.

    Raises:
        InputError: when the file cannot be written.
    """
    with _writing(path):
        np.save(path, np.ascontiguousarray(tensor), allow_pickle=False)
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
    with opened(path, DATA_BYTES) as file:
        return np.fromfile(file, dtype=np.uint8, count=limit)


def write_memory(path: Path, data: ByteArray) -> str:
    """Write a ``.bin`` or ``.dat`` file and return one line about it, with the CRC-32 as in ``check_crc``.

    Raises:
        InputError: when the file cannot be written.
    """
    check_suffix(path, MEMORY_SUFFIXES)
    with _writing(path):
        if path.suffix == ".bin":
            path.write_bytes(data.data)
        else:
            with path.open("w", encoding="ascii") as file:
                file.writelines(format_data(((0, data.tobytes()),)))
    return f"{path}: {counted(data.size, 'byte')}, CRC-32 {zlib.crc32(data.data):#010x}"


def _read_dat(path: Path, limit: int, fill: int | None) -> ByteArray:
    """Load the packets in their order, as a player of traces does."""
    chunks = [(offset, data[: limit - offset]) for offset, data in read_memory_file(path) if offset < limit]
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


# What PNG and Pillow hold without loss: mode by type and channels of an element.
_MODES = {("uint8", 1): "L", ("uint8", 3): "RGB", ("uint8", 4): "RGBA", ("uint16", 1): "I;16"}

# Place of the bit depth in a PNG file: signature, length and name of IHDR, width, height.
_BIT_DEPTH_AT = 24

_DEFLATE_RATIO = 8 * 1032
"""Pixels of one bit that a byte of a PNG file can unpack to."""


def png_mode(pixels: PixelFormat) -> str:
    """Return the Pillow mode that holds images of a pixel format bit by bit.

    Raises:
        InputError: when there is none.
    """
    mode = _MODES.get((pixels.element_dtype.name, pixels.channels))
    if mode is None:
        raise InputError(
            f".png must hold 8-bit elements, or one channel of 16 unsigned bits; {pixels.name} has "
            f"{pixels.channels} of {pixels.element_dtype.name}: use .npy"
        )
    return mode


def read_png(path: Path, pixels: PixelFormat, alpha: int | None) -> Array:
    """Return an image; colours are not converted: R is also Y, G is U, B is V.

    Args:
        path: the file.
        pixels: the format that the image will get.
        alpha: value of the fourth channel for a file that has three, or None.

    Returns:
        (C, H, W) of the format's dtype.

    Raises:
        InputError: when the file cannot be read, or its elements are not those of the format.
    """
    wanted = png_mode(pixels)
    if alpha is not None and wanted != "RGBA":
        raise InputError(f"--alpha must only be given for formats of four channels, not for {pixels.name}")
    needed = "RGB" if alpha is not None else wanted
    from_file, mode = _load(path)
    if mode != needed:
        raise InputError(f"{path}: the image must be {_name(needed)} for {pixels.name}, not {_name(mode)}")
    planes = from_file.reshape(*from_file.shape[:2], -1).transpose(2, 0, 1)
    if alpha is not None:
        if not 0 <= alpha <= 255:
            raise InputError(f"--alpha must be 0 to 255, not {alpha}")
        planes = np.concatenate([planes, np.full((1, *planes.shape[1:]), alpha, dtype=planes.dtype)])
    return np.ascontiguousarray(planes, dtype=pixels.element_dtype)


def write_png(path: Path, image: Array, pixels: PixelFormat) -> str:
    """Write an image of a pixel format and return one line about it.

    Args:
        path: the file.
        image: (C, H, W) of the format's dtype.
        pixels: the format.

    Raises:
        InputError: when PNG cannot hold the format, or the file cannot be written.
    """
    mode = png_mode(pixels)
    lines = np.ascontiguousarray(image.transpose(1, 2, 0))
    with _writing(path):
        Image.fromarray(lines[..., 0] if image.shape[0] == 1 else lines).save(path, format="PNG")
    return f"{path}: {_name(mode)} {image.shape[2]}x{image.shape[1]}"


def _load(path: Path) -> tuple[Array, str]:
    """Return the pixels of a file and their mode; Pillow would halve the bits of 16-bit colours silently."""
    data = read_bytes(path, IMAGE_BYTES)
    depth = data[_BIT_DEPTH_AT : _BIT_DEPTH_AT + 1]
    try:
        # From memory: of a file, Pillow reads as many bytes as the file says that there are.
        with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
            pixels = image.width * image.height
            most = min(PIXELS, len(data) * _DEFLATE_RATIO)
            if pixels > most:
                raise InputError(
                    f"{path}: the image must have at most {most} pixels, not {image.width} x {image.height}"
                )
            mode = image.mode if depth == (b"\x10" if image.mode == "I;16" else b"\x08") else f"{depth[0]}-bit colour"
            return np.asarray(image), mode
    except UnidentifiedImageError as error:
        raise InputError(f"{path}: cannot be read as .png: it must begin with the mark of PNG") from error
    # Whatever Pillow says of a broken file.
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise InputError(f"{path}: cannot be read as .png: {error}") from error


def _name(mode: str) -> str:
    """Return a mode in words."""
    words = {"L": "8-bit grey", "P": "palette", "RGB": "8-bit RGB", "RGBA": "8-bit RGBA", "I;16": "16-bit grey"}
    return words.get(mode, mode)
