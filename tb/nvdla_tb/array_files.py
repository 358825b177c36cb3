"""``.npy`` and ``.npz`` files from outside: plain arrays of stated size alone, checked before any memory is taken."""

from __future__ import annotations

import ast
import io
import lzma
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.limits import ARRAY_BYTES, ARRAYS, MEMORY_BYTES
from nvdla_models.reading import opened, shown

_KINDS = "biufU"
_AXES = 8
_SIDE_LIMIT = 1 << 62
_HEADERS = {(1, 0): ("<H", 2), (2, 0): ("<I", 4)}
_HEADER_BYTES = 10_000
_BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    KeyError,
    ValueError,
    # What zipfile says of a compression or version that it lacks, and of encrypted files.
    NotImplementedError,
    RuntimeError,
)


def read_arrays(path: Path, most: int = ARRAY_BYTES, error: type[InputError] = InputError) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file by name.

    Args:
        path: the file.
        most: bytes that they may have together.
        error: type of the exceptions to raise.

    Raises:
        InputError: of the type ``error``, for another file, other than plain arrays, or more of them.
    """
    arrays: dict[str, NDArray[Any]] = {}
    try:
        # Packed, no arrays take more room than in memory but for their names.
        with opened(path, 2 * most, error) as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            if len(entries) > ARRAYS:
                raise error(f"{shown(path)}: the file must hold at most {ARRAYS} arrays, not {len(entries)}")
            if sum(entry.file_size for entry in entries) > most:
                raise error(f"{shown(path)}: the arrays must have at most {most} bytes together")
            for entry in entries:
                with archive.open(entry) as member:
                    raw = member.read(entry.file_size)
                name = entry.filename.removesuffix(".npy")
                arrays[name] = _array(raw, f"{shown(path)}: {shown(name)}", error)
    except _BAD_ZIP as why:
        raise error(f"{shown(path)}: cannot be read as .npz: {shown(why)}") from why
    return arrays


def read_array(path: Path, error: type[InputError] = InputError) -> NDArray[Any]:
    """Return the array of a ``.npy`` file, mapped and not copied.

    Raises:
        InputError: of the type ``error``, for another file, or other than a plain array.
    """
    with opened(path, 2 * MEMORY_BYTES, error) as file:
        dtype, shape, order = _header(file, shown(path), error)
        start, end = file.tell(), file.seek(0, io.SEEK_END)
        _check_size(end - start, dtype, shape, shown(path), error)
        if 0 in shape:
            return np.empty(shape, dtype)
        # Of the open file: another one may have come to the place of the name.
        return np.memmap(file, dtype, mode="r", offset=start, shape=shape, order=order)


def text_of(array: NDArray[Any], where: str, error: type[InputError] = InputError) -> str:
    """Return the text that an array holds.

    Raises:
        InputError: of the type ``error``, when it is no single text.
    """
    if array.dtype.kind != "U" or array.size != 1:
        raise error(f"{where} must be a text, not {array.dtype} {array.shape}")
    try:
        # numpy makes invalid texts of characters that Unicode lacks.
        return array.astype("<U").tobytes().decode("utf-32-le").rstrip("\0")
    except UnicodeDecodeError as why:
        raise error(f"{where} must be a text: {why}") from why


def _array(raw: bytes, where: str, error: type[InputError]) -> NDArray[Any]:
    file = io.BytesIO(raw)
    dtype, shape, order = _header(file, where, error)
    start = file.tell()
    _check_size(len(raw) - start, dtype, shape, where, error)
    array: NDArray[Any] = np.frombuffer(raw, dtype, math.prod(shape), start).reshape(shape, order=order)
    return array


def _header(file: BinaryIO, where: str, error: type[InputError]) -> tuple[np.dtype[Any], tuple[int, ...], Any]:
    """Return type, shape and order, and leave the file at the first element."""
    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY" or len(magic) != 8 or (magic[6], magic[7]) not in _HEADERS:
        raise error(f"{where}: cannot be read as .npy: it must begin with the mark of version 1.0 or 2.0")
    form, size = _HEADERS[magic[6], magic[7]]
    length = file.read(size)
    nbytes = struct.unpack(form, length)[0] if len(length) == size else _HEADER_BYTES + 1
    text = file.read(nbytes) if nbytes <= _HEADER_BYTES else b""
    if len(text) != nbytes:
        raise error(f"{where}: cannot be read as .npy: the header must have at most {_HEADER_BYTES} bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the header's style
            found = ast.literal_eval(text.decode("latin-1").strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError) as why:
        raise error(f"{where}: cannot be read as .npy: the header must be a Python dictionary") from why
    if not isinstance(found, dict) or set(found) != {"descr", "fortran_order", "shape"}:
        raise error(f"{where}: cannot be read as .npy: the header must hold descr, fortran_order and shape")
    descr, fortran, shape = found["descr"], found["fortran_order"], found["shape"]
    if (
        not isinstance(shape, tuple)
        or len(shape) > _AXES
        or any(type(n) is not int or not 0 <= n < _SIDE_LIMIT for n in shape)
    ):
        raise error(f"{where}: shape must be at most {_AXES} natural numbers, not {shown(shape)}")
    if not isinstance(descr, str) or type(fortran) is not bool:
        raise error(
            f"{where}: descr must be a plain type and fortran_order a truth value, not {shown((descr, fortran))}"
        )
    try:
        dtype = np.dtype(descr)
    except (TypeError, ValueError, SyntaxError) as why:
        raise error(f"{where}: descr must be a plain type, not {shown(descr)}") from why
    if dtype.kind not in _KINDS or not dtype.itemsize:
        raise error(f"{where}: elements must be numbers or text, not {dtype}")
    return dtype, shape, "F" if fortran else "C"


def _check_size(nbytes: int, dtype: np.dtype[Any], shape: tuple[int, ...], where: str, error: type[InputError]) -> None:
    """Refuse a shape that the bytes do not hold, and one that is only possible because a side is 0."""
    needed = math.prod(shape) * dtype.itemsize
    if needed > nbytes or math.prod(max(side, 1) for side in shape) > MEMORY_BYTES:
        raise error(f"{where}: shape {shape} of {dtype} must fit the {nbytes} bytes that follow, not need {needed}")
