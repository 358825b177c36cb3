"""``.dimg``: tensors as the public runtime dumps them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.precision import Precision
from models.reading import read_bytes
from tb.stimulus.network.errors import NetworkError
from tb.stimulus.network.tensors import Tensor

_HEADER = struct.Struct("<4s8I")
_MAGIC = b"DIMG"
_FORMATS = {40: Precision.INT8, 41: Precision.INT16, 42: Precision.FP16}
"""Numbers of surfaces with atoms of 32 bytes; newer runtimes count INT8 in atoms of 8 bytes in as 41."""
_NEWER = {41: Precision.INT8, 42: Precision.INT16, 43: Precision.FP16}
_MAX_BYTES = 1 << 28


def read_dimg(path: Path) -> NDArray[Any]:
    """Return the elements of a file, (C, H, W).

    The number of elements decides between the two numberings of formats.

    Raises:
        NetworkError: for a file that is no dump of a feature surface.
    """
    data = read_bytes(path, _MAX_BYTES, NetworkError)
    if len(data) < _HEADER.size or data[:4] != _MAGIC:
        raise NetworkError(f"{path} must begin with a header of {_HEADER.size} bytes and {_MAGIC.decode()}")
    _, version, number, width, height, channels, *_ = _HEADER.unpack_from(data)
    if version != 0:
        raise NetworkError(f"{path}: version must be 0, not {version}")
    body = len(data) - _HEADER.size
    count = channels * height * width
    fitting = [
        formats[number]
        for formats in (_FORMATS, _NEWER)
        if number in formats and count * formats[number].nbytes == body
    ]
    if not fitting or not count:
        raise NetworkError(
            f"{path}: format {number} of {channels} x {height} x {width} elements must fit its {body} bytes"
        )
    return np.frombuffer(data, fitting[0].dtype, count, _HEADER.size).reshape(channels, height, width)


def write_dimg(path: Path, tensor: Tensor, values: NDArray[Any]) -> None:
    """Write the elements of a tensor; negative zeros and NaN of FP16 become one pattern each, as in the runtime."""
    formats = _NEWER if tensor.atom_bytes == 8 else _FORMATS
    channels, height, width = tensor.shape
    header = _HEADER.pack(
        _MAGIC,
        0,
        next(number for number, precision in formats.items() if precision is tensor.precision),
        width,
        height,
        channels,
        tensor.line_stride_bytes,
        tensor.surface_stride_bytes,
        tensor.surfaces * tensor.surface_stride_bytes,
    )
    path.write_bytes(header + unique(values).tobytes())


def unique(values: NDArray[Any]) -> NDArray[Any]:
    """Return FP16 with one pattern for zero and one for NaN; integers as they are."""
    if values.dtype.kind != "f":
        return values
    result = values.copy()
    result[result == 0] = 0.0
    result[np.isnan(result)] = np.nan
    return result
