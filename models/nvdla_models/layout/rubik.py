"""RUBIK: the M-planar format, and the data movement of contract, split and merge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout.alignment import PLANAR_STRIDE_ALIGNMENT_BYTES, Alignment, DataFormat, alignment_of
from nvdla_models.layout.atom_cube import AtomCube, AtomGrid, check_cube
from nvdla_models.layout.feature import FeatureLayout
from nvdla_models.layout.raw import (
    Array,
    ByteArray,
    BytesLike,
    MaskArray,
    check_aligned,
    check_array,
    check_size,
    check_stride,
    checked_bytes,
    round_up,
)
from nvdla_models.precision import Precision

#: Largest contract stride: 5-bit fields that hold stride - 1.
MAX_CONTRACT_STRIDE = 32


@dataclass(frozen=True)
class PlanarLayout(AtomCube):
    """How a cube of shape (C, H, W) lies as one pitch-linear plane per channel: as atoms of one element.

    ::

        layout = PlanarLayout.packed(config, Precision.INT8, (40, 4, 5))
        data = layout.pack(np.zeros((40, 4, 5), np.int8))

    Split writes lines in whole atoms: zeros after the last element up to the end of its atom, nothing
    after that.

    Args:
        config: the build.
        precision: type of one element.
        shape: real sizes (C, H, W).
        line_stride_bytes: distance of two lines.
        planar_stride_bytes: distance of two planes.

    Raises:
        InputError: when the build has no RUBIK or no such precision, a size is beyond the hardware, or
            a stride is unaligned or too small.

    Source: public architecture documentation, RUBIK, "Split and Merge"; whole atoms measured on the
        public nv_full RTL.
    """

    config: HwConfig
    precision: Precision
    shape: tuple[int, int, int]
    line_stride_bytes: int
    planar_stride_bytes: int

    def __post_init__(self) -> None:
        self.config.check_has("RUBIK", "rubik_enable")
        check_cube(self.config, self.precision, self.shape)
        self.alignment.check(line_stride_bytes=self.line_stride_bytes)
        alignment = PLANAR_STRIDE_ALIGNMENT_BYTES
        check_aligned("planar_stride_bytes", self.planar_stride_bytes, alignment, f"{alignment} bytes")
        check_stride("line_stride_bytes", self.line_stride_bytes, self.line_bytes, "line")
        check_stride("planar_stride_bytes", self.planar_stride_bytes, self._surface_bytes_needed, "plane")

    @classmethod
    def packed(cls, config: HwConfig, precision: Precision, shape: tuple[int, int, int]) -> PlanarLayout:
        """Return the layout with the smallest aligned strides.

        Raises:
            InputError: as the constructor.
        """
        if len(shape) != 3:
            raise InputError(f"shape must be (C, H, W), not {shape}")
        line = round_up(shape[2] * precision.nbytes, PLANAR_STRIDE_ALIGNMENT_BYTES)
        return cls(config, precision, shape, line, shape[1] * line)

    @property
    def alignment(self) -> Alignment:
        """Alignment of its start address, line and planar strides."""
        return alignment_of(self.config, DataFormat.PLANAR)

    @property
    def grid(self) -> AtomGrid:
        """The planes as a cube with atoms of one element."""
        size = self.precision.nbytes
        shape = (*self.shape[:2], self.line_bytes // size)
        return AtomGrid(shape, (self.planar_stride_bytes, self.line_stride_bytes, size), 1, self.precision.dtype)

    @property
    def line_bytes(self) -> int:
        """Bytes of a line in whole atoms."""
        return round_up(self.shape[2] * self.precision.nbytes, self.config.memory_atomic_bytes)

    @property
    def _line_bytes_needed(self) -> int:
        return self.line_bytes

    @property
    def surface_stride_bytes(self) -> int:  # type: ignore[override]
        """Distance of two planes, each of which is a surface."""
        return self.planar_stride_bytes

    @property
    def atom_elements(self) -> int:
        """Channels in one atom: a plane has one."""
        return 1

    def pack(self, cube: Array) -> ByteArray:
        """Return the memory bytes of a cube; all but its elements are 0.

        Args:
            cube: (C, H, W) of the precision's dtype.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("cube", cube, self.shape, self.precision.dtype)
        raw = np.zeros(self.nbytes, dtype=np.uint8)
        self._elements(raw)[...] = cube
        return raw

    def unpack(self, data: BytesLike) -> Array:
        """Return the cube (C, H, W) that lies in ``data``; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        return self._elements(checked_bytes(data, self.nbytes)).copy()

    def written_mask(self) -> MaskArray:
        """Return which bytes split writes: lines in whole atoms.

        Returns:
            bool of length ``nbytes``.
        """
        mask = np.zeros(self.nbytes, dtype=np.bool_)
        strides = (self.planar_stride_bytes, self.line_stride_bytes, 1)
        np.lib.stride_tricks.as_strided(mask, (*self.shape[:2], self.line_bytes), strides)[...] = True
        return mask

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        c, h, w = self.shape
        return "\n".join(
            (
                f"M-planar data, {self.precision.name}, {self.config.name}: C={c} H={h} W={w}",
                f"line: {self.line_bytes} bytes, stride {self.line_stride_bytes} bytes",
                f"planar stride: {self.planar_stride_bytes} bytes",
                f"bytes: {self.nbytes}",
            )
        )

    def _elements(self, raw: ByteArray) -> Array:
        """Return the elements of ``raw`` as a strided view (C, H, W)."""
        return self._atom_bytes_view(raw).view(self.precision.dtype)[..., 0]


def contracted_shape(source: FeatureLayout, stride: tuple[int, int]) -> tuple[int, int, int]:
    """Return the shape of the cube that contract writes.

    Args:
        source: layout of the input cube (C, H, W).
        stride: deconvolution stride (y, x).

    Returns:
        (C / (y * x), H * y, W * x).

    Raises:
        InputError: when the configuration has no RUBIK, a stride is beyond the hardware, or the channels are not whole
            atoms of each stride.

    Source: public architecture documentation, RUBIK, "Contract".
    """
    source.config.check_has("RUBIK", "rubik_enable")
    for name, value in zip(("stride y", "stride x"), stride, strict=True):
        check_size(name, value, MAX_CONTRACT_STRIDE)
    channels, height, width = source.shape
    multiple = stride[0] * stride[1] * source.atom_elements
    check_aligned("channels", channels, multiple, f"the {multiple} that contract needs with stride {stride}")
    return channels // (stride[0] * stride[1]), height * stride[0], width * stride[1]


def contract(source: FeatureLayout, target: FeatureLayout, stride: tuple[int, int], data: BytesLike) -> ByteArray:
    """Return the bytes that contract writes: channels of one stride become rows and columns.

    Input channel ``(y * stride_x + x) * C' + c`` at (h, w) becomes channel ``c`` at
    ``(h * stride_y + y, w * stride_x + x)``.

    Args:
        source: layout of the input cube (C, H, W).
        target: layout of the output cube (C', H * stride_y, W * stride_x).
        stride: deconvolution stride (y, x).
        data: input bytes.

    Returns:
        uint8 of length ``target.nbytes``; stride gaps are 0 and not written by the hardware.

    Raises:
        InputError: when stride, shapes or precisions do not fit each other, or ``data`` is too short.

    Source: public architecture documentation, RUBIK, "Contract"; measured on the public nv_full RTL.
    """
    _check_pair(source, target)
    stride_y, stride_x = stride
    expected = contracted_shape(source, stride)
    _, height, width = source.shape
    if target.shape != expected:
        raise InputError(f"target must have shape {expected}, not {target.shape}")
    split = source.unpack(data).reshape(stride_y, stride_x, expected[0], height, width)
    return target.pack(split.transpose(2, 3, 0, 4, 1).reshape(expected))


def split(source: FeatureLayout, target: PlanarLayout, data: BytesLike) -> ByteArray:
    """Return the bytes that split writes: a feature cube as one plane per channel.

    Args:
        source: layout of the input cube.
        target: layout of the planes; it may have fewer channels than the cube.
        data: input bytes.

    Returns:
        uint8 of length ``target.nbytes``; ``target.written_mask()`` tells what the hardware writes.

    Raises:
        InputError: when shapes or precisions do not fit each other, or ``data`` is too short.

    Source: public architecture documentation, RUBIK, "Split and Merge"; measured on the public nv_full RTL.
    """
    _check_pair(source, target)
    channels = target.shape[0]
    if channels > source.shape[0] or target.shape[1:] != source.shape[1:]:
        raise InputError(f"target must have the shape {source.shape} of source or fewer channels, not {target.shape}")
    return target.pack(source.unpack(data)[:channels])


def merge(source: PlanarLayout, target: FeatureLayout, data: BytesLike) -> ByteArray:
    """Return the bytes that merge writes: one plane per channel as a feature cube; padding channels are 0.

    Args:
        source: layout of the planes.
        target: layout of the output cube, of the same shape.
        data: input bytes.

    Returns:
        uint8 of length ``target.nbytes``; stride gaps are 0 and not written by the hardware.

    Raises:
        InputError: when shapes or precisions do not fit each other, or ``data`` is too short.

    Source: public architecture documentation, RUBIK, "Split and Merge"; measured on the public nv_full RTL.
    """
    _check_pair(source, target)
    if target.shape != source.shape:
        raise InputError(f"target must have the shape {source.shape} of source, not {target.shape}")
    return target.pack(source.unpack(data))


def _check_pair(source: FeatureLayout | PlanarLayout, target: FeatureLayout | PlanarLayout) -> None:
    if (source.config, source.precision) != (target.config, target.precision):
        raise InputError(
            f"target must be {source.precision.name} of {source.config.name} like source, "
            f"not {target.precision.name} of {target.config.name}"
        )
