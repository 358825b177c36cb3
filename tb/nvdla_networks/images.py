"""Images and tensors as inputs, results as files and classes; ``.dimg`` is what the public runtime dumps."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from nvdla_models.precision import Precision
from nvdla_models.reading import read_bytes
from nvdla_networks.errors import NetworkError
from nvdla_networks.sniff import what_else
from nvdla_networks.tensors import ImageTensor, Tensor
from nvdla_tb.array_files import read_array

MAX_FILE_BYTES = 1 << 27
"""The largest file that is read."""

MAX_DUMP_BYTES = 1 << 28

_MOST = 255
_INT8_MOST = 127
_MODES = {1: "L", 3: "RGB"}
_PICTURES = (".pgm", ".png", ".jpg", ".jpeg")
SUFFIXES = (*_PICTURES, ".npy", ".dimg")

_NO_PICTURE = (OSError, SyntaxError, ValueError)
"""Exceptions of Pillow for other files and for broken ones."""

_HEADER = struct.Struct("<4s8I")
_MAGIC = b"DIMG"
_FORMATS = {40: Precision.INT8, 41: Precision.INT16, 42: Precision.FP16}
"""Numbers of surfaces with atoms of 32 bytes; newer runtimes count INT8 in atoms of 8 bytes in as 41."""
_NEWER = {41: Precision.INT8, 42: Precision.INT16, 43: Precision.FP16}


@dataclass(frozen=True)
class Preparation:
    """Processing of the pixels of a picture before they become elements.

    Attributes:
        mean: Subtracted from each pixel, a number for all channels or one for each.
        normalize: Divisor of the difference.
        invert: Whether pixels are subtracted from 255 first: digits black on white become white on black.
        rgb: Whether the first channel is red; the public runtime takes blue first.

    Raises:
        NetworkError: for a divisor of 0, and one that is no finite number.
    """

    mean: tuple[float, ...] = (0.0,)
    normalize: float = 1.0
    invert: bool = False
    rgb: bool = False

    def __post_init__(self) -> None:
        if not 0 < abs(self.normalize) < math.inf:
            raise NetworkError(f"normalize must be a finite number other than 0, not {self.normalize:g}")

    def numbers(self, pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return pixels (C, H, W) as real numbers.

        Raises:
            NetworkError: for means that do not fit the channels.
        """
        channels = len(pixels)
        if len(self.mean) not in (1, channels):
            raise NetworkError(f"mean must be 1 number or {channels}, one for each channel, not {len(self.mean)}")
        numbers = (_MOST - pixels if self.invert else pixels).astype(np.float32)
        mean = np.array(self.mean, dtype=np.float32).reshape(-1, 1, 1)
        return np.asarray((numbers - mean) / np.float32(self.normalize), dtype=np.float32)

    def elements(self, pixels: NDArray[np.uint8], precision: Precision) -> NDArray[Any]:
        """Return pixels (C, H, W) as elements: FP16 as they are, INT8 with 255 as 127, rounded half up.

        Raises:
            NetworkError: for means that do not fit the channels, and for INT16, which no picture becomes.

        Source: the public runtime.
        """
        numbers = self.numbers(pixels)
        match precision:
            case Precision.FP16:
                with np.errstate(over="ignore"):
                    return np.asarray(numbers, dtype=precision.dtype)
            case Precision.INT8:
                scaled = np.floor(numbers.astype(np.float64) * _INT8_MOST / _MOST + 0.5)
                return np.asarray(np.clip(scaled, -_INT8_MOST - 1, _INT8_MOST), dtype=precision.dtype)
            case Precision.INT16:
                raise NetworkError("input must be a .npy or .dimg: how a picture becomes INT16 is not known")


def read_input(path: Path, tensor: Tensor | ImageTensor, preparation: Preparation) -> NDArray[Any]:
    """Return a picture, or elements in ``.npy`` or ``.dimg``, as values for an input, (C, H, W) of its type.

    Raises:
        NetworkError: for a file of another kind, size or type.
    """
    match path.suffix.lower():
        case ".npy":
            values = read_array(path, NetworkError)
            if tensor.scale is not None and values.dtype.kind == "f":
                (sample,) = _samples(path, values, tensor.shape, 1)
                return quantised(sample, tensor)
        case ".dimg":
            values = read_dimg(path)
        case suffix if suffix in _PICTURES:
            pixels = _read_picture(path, tensor.shape, preparation.rgb)
            if tensor.scale is not None:
                return quantised(preparation.numbers(pixels), tensor)
            return preparation.elements(pixels, tensor.precision)
        case suffix:
            raise NetworkError(f"{path} must end in {', '.join(SUFFIXES)}, not {suffix or 'nothing'}")
    dtype = tensor.precision.dtype
    allowed = (dtype, tensor.layout.format.element_dtype) if isinstance(tensor, ImageTensor) else (dtype,)
    if values.shape != tensor.shape or values.dtype not in allowed:
        raise NetworkError(f"{path} must hold {dtype} {tensor.shape}, not {values.dtype} {values.shape}")
    if tensor.range is not None:
        least, most = quantised(np.array(tensor.range), tensor)
        if not ((values >= least) & (values <= most)).all():
            raise NetworkError(f"{path} must hold elements from {least} to {most}, the range of the input")
    return values


def read_samples(path: Path, shape: tuple[int, ...], preparation: Preparation) -> list[NDArray[Any]]:
    """Return a file as real numbers for an input of a shape, such as a cube (C, H, W), for each sample in it.

    It is a picture, or a ``.npy`` of floating-point numbers of the shape, or (N, ...) of it.

    Raises:
        NetworkError: for a file of another kind, size or type.
    """
    match path.suffix.lower():
        case ".npy":
            return _samples(path, read_array(path, NetworkError), shape, None)
        case suffix if suffix in _PICTURES:
            return [preparation.numbers(_read_picture(path, shape, preparation.rgb))]
        case suffix:
            raise NetworkError(f"{path} must end in {', '.join((*_PICTURES, '.npy'))}, not {suffix or 'nothing'}")


def _samples(path: Path, values: NDArray[Any], shape: tuple[int, ...], count: int | None) -> list[NDArray[Any]]:
    """Return the samples of an array; ``count`` says how many there must be."""
    several = values if values.ndim == len(shape) + 1 else values[np.newaxis]
    wanted = "x".join(map(str, ("N" if count is None else count, *shape)))
    if values.dtype.kind != "f" or several.shape[1:] != shape or len(several) < 1 or count not in (None, len(several)):
        raise NetworkError(f"{path} must hold floating-point numbers {wanted}, not {values.dtype} {values.shape}")
    if not np.isfinite(several).all():
        raise NetworkError(f"{path} must hold finite numbers")
    return list(several)


def quantised(values: NDArray[Any], tensor: Tensor | ImageTensor) -> NDArray[Any]:
    """Return real numbers as elements of a tensor with a scale, within its range.

    Where it has no range, the smallest integer is left out.
    """
    least, most = -tensor.precision.limits[1], tensor.precision.limits[1]
    if tensor.range is not None:
        values, least = np.clip(values, *tensor.range), tensor.precision.limits[0]
    steps = values / (tensor.scale or 1.0)
    whole = steps if tensor.precision is Precision.FP16 else np.rint(steps)
    return np.clip(whole, least, most).astype(tensor.precision.dtype)


def _read_picture(path: Path, shape: tuple[int, ...], rgb: bool) -> NDArray[np.uint8]:
    """Return the pixels of a picture, (C, H, W)."""
    if len(shape) != len("CHW") or shape[0] not in _MODES:
        raise NetworkError(f"{path}: a picture has 1 or 3 channels, not the {shape[0]} of the input")
    channels, height, width = shape
    data = BytesIO(read_bytes(path, MAX_FILE_BYTES, NetworkError))
    try:
        image = Image.open(data)
    except UnidentifiedImageError as error:
        other = what_else(data.getvalue()) or "its format is not known"
        raise NetworkError(f"{path} must be a picture: {other}") from error
    except (*_NO_PICTURE, Image.DecompressionBombError) as error:
        raise NetworkError(f"{path} must be a picture: {error}") from error
    if image.size != (width, height):
        raise NetworkError(f"{path} must have {width} x {height} pixels, not {image.width} x {image.height}")
    try:
        # A JPEG decoder hands over grey values of its own.
        image.draft(_MODES[channels], None)
        pixels = image.convert(_MODES[channels])
    except _NO_PICTURE as error:
        raise NetworkError(f"{path} must be a whole picture: {error}") from error
    planes = np.asarray(pixels, dtype=np.uint8).reshape(height, width, channels).transpose(2, 0, 1)
    return planes if rgb else planes[::-1]


def read_dimg(path: Path) -> NDArray[Any]:
    """Return the elements of a file, (C, H, W).

    The number of elements decides between the two numberings of formats.

    Raises:
        NetworkError: for a file that is no dump of a feature surface.
    """
    data = read_bytes(path, MAX_DUMP_BYTES, NetworkError)
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


def read_golden(path: Path) -> NDArray[Any]:
    """Return the elements of an expected result, (C, H, W).

    Raises:
        NetworkError: for a file that holds none.
    """
    match path.suffix.lower():
        case ".npy":
            return read_array(path, NetworkError)
        case ".dimg":
            return read_dimg(path)
        case suffix:
            raise NetworkError(f"{path} must end in .dimg or .npy, not {suffix or 'nothing'}")


def top_classes(values: NDArray[Any], most: int) -> list[tuple[int, float]]:
    """Return the largest elements of a result as (class, value), the largest first and the first of equals first."""
    flat = values.astype(np.float64).ravel()
    order = np.argsort(-np.where(np.isnan(flat), -np.inf, flat), kind="stable")[:most]
    return [(int(number), float(flat[number])) for number in order]


def parse_mean(text: str) -> tuple[float, ...]:
    """Return numbers separated by commas.

    Raises:
        NetworkError: for anything else.
    """
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise NetworkError(f"mean must be numbers separated by commas, not {text}") from None
    if not np.isfinite(values).all():
        raise NetworkError(f"mean must be finite numbers, not {text}")
    return values


def differing(first: NDArray[Any], second: NDArray[Any]) -> int:
    """Return how many elements of two results of one shape differ in a bit."""
    if first.dtype.kind not in "biuf":
        return int((first != second).sum())
    size = first.dtype.itemsize
    bits = [np.ascontiguousarray(a).view(np.uint8).reshape(-1, size) for a in (first, second)]
    return int((bits[0] != bits[1]).any(axis=-1).sum())
