"""Data of a test in memory: pack and write arrays, reserve results, and read them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import (
    BDMA_UNIT_BYTES,
    FeatureLayout,
    ImageWeightLayout,
    KernelLayout,
    LinesLayout,
    OperandLayout,
    PixelLayout,
    PlanarLayout,
    WeightLayout,
    WinogradWeightLayout,
)
from nvdla_models.layout.alignment import WEIGHT_START_ALIGNMENT_BYTES
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.compressed_weights import store_compressed
from nvdla_tb.nvdla.layers import Layer, LinesSurface, OperandSurface, PlanarSurface, Surface
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.placing_checks import (
    check_array,
    check_extension,
    check_format,
    check_kernels,
    check_layers,
    check_precision,
    check_ram,
    check_readable,
    check_scale,
    checked_shape,
    precision_of,
)
from nvdla_tb.nvdla.surfaces import ImageSurface, WeightSurface, tight_weight_bytes

Array = NDArray[Any]
_Masked = Surface | OperandSurface | PlanarSurface | LinesSurface


class Placing:
    """Writes arrays to the memories of a configuration, each to an allocation of its own.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (33, 14, 14), dtype=np.int8))
        dst = bench.reserve((16, 14, 14))
        ...
        got = bench.read_back(dst)      # int8, (16, 14, 14)
    """

    config: HwConfig
    memories: Mapping[Ram, MemoryImage]

    def place(
        self,
        cube: Array,
        *,
        ram: Ram = Ram.MC,
        line_stride_bytes: int | None = None,
        surface_stride_bytes: int | None = None,
    ) -> Surface:
        """Write a feature cube to memory and return its surface.

        ::

            src = bench.place(bench.rng.integers(-128, 128, (33, 4, 5), dtype=np.int8))

        Args:
            cube: Cube (C, H, W) of int8, int16 or float16. Channels that fill the last atom become 0.
            ram: Memory port.
            line_stride_bytes: Distance between lines; W atoms by default.
            surface_stride_bytes: Distance between surfaces; H lines by default. Gaps are not written.

        Raises:
            InputError: for other axes, another dtype, impossible strides, or a memory that the configuration lacks.
        """
        check_array("cube", cube)
        if cube.ndim != 3:
            raise InputError(f"cube must have the axes (C, H, W), not the shape {cube.shape}")
        surface = self.reserve(
            (cube.shape[0], cube.shape[1], cube.shape[2]),
            precision_of("cube", cube),
            ram=ram,
            line_stride_bytes=line_stride_bytes,
            surface_stride_bytes=surface_stride_bytes,
        )
        self._write(surface, surface.layout.pack(cube), surface.layout.written_mask())
        return surface

    def reserve(
        self,
        shape: tuple[int, int, int],
        precision: Precision = Precision.INT8,
        *,
        ram: Ram = Ram.MC,
        line_stride_bytes: int | None = None,
        surface_stride_bytes: int | None = None,
    ) -> Surface:
        """Allocate memory for a feature cube that a layer will write, and return its surface.

        ::

            dst = bench.reserve((16, 14, 14))

        Args:
            shape: Shape (C, H, W) of the cube.
            precision: Precision of the cube, such as ``Precision.FP16``.
            ram: Memory port.
            line_stride_bytes: Distance between lines; W atoms by default.
            surface_stride_bytes: Distance between surfaces; H lines by default.

        Raises:
            InputError: for a shape, strides, a precision or a memory that the configuration does not support.
        """
        check_precision(precision)
        shape = checked_shape(shape, "(C, H, W)")
        layout = FeatureLayout.packed(self.config, precision, shape)
        if line_stride_bytes is not None or surface_stride_bytes is not None:
            line = layout.line_stride_bytes if line_stride_bytes is None else line_stride_bytes
            surface = shape[1] * line if surface_stride_bytes is None else surface_stride_bytes
            layout = FeatureLayout(self.config, precision, shape, line, surface)
        return Surface(layout, self._allocate(ram, layout.nbytes, "cube"), ram)

    def place_image(self, image: Array, pixel_format: str, *, x_offset: int = 0, ram: Ram = Ram.MC) -> ImageSurface:
        """Write an image to memory and return its surface.

        ::

            src = bench.place_image(bench.rng.integers(0, 256, (4, 20, 20), dtype=np.uint8), "T_A8B8G8R8")

        Args:
            image: Image (C, H, W) of the format's elements: uint8, uint16, int16 or float16. Channels are R, G, B, A or
                Y, U, V, A, whatever their order in memory.
            pixel_format: Name of the format in the register map, such as ``T_R8`` (one channel), ``T_A8B8G8R8`` (four)
                or ``T_Y8___U8V8_N444`` (a plane of Y, and one of U and V, all of one size: NVDLA has no 4:2:0). No
                packed format has three channels: give RGB a fourth one, and zeros in the weights for it.
            x_offset: Number of pixels in the first atom of a line before the first pixel.
            ram: Memory port.

        Raises:
            InputError: for a format that the configuration lacks, or an image that does not fit the format.
        """
        check_array("image", image)
        if image.ndim != 3:
            raise InputError(f"image must have the axes (C, H, W), not the shape {image.shape}")
        check_format(self.config, pixel_format)
        shape = (image.shape[0], image.shape[1], image.shape[2])
        layout = PixelLayout.packed(self.config, pixel_format, shape, x_offset)
        data = layout.pack(image)
        address = self._allocate(ram, layout.nbytes, "image")
        self.memories[ram].write(address, data)
        return ImageSurface(layout, tuple(address + offset for offset in layout.plane_offsets), ram)

    def place_weights(
        self,
        weights: Array,
        *,
        image: bool = False,
        post_extension: int = 1,
        winograd: bool = False,
        winograd_scale: float = 1.0,
        compressed: bool = False,
        ram: Ram = Ram.MC,
    ) -> WeightSurface:
        """Write the kernels of a convolution to memory in kernel groups, and return their surface.

        ::

            weights = bench.place_weights(bench.rng.integers(-128, 128, (16, 33, 3, 3), dtype=np.int8))

        Args:
            weights: Kernels (K, C, R, S) of int8, int16 or float16.
            image: Whether the kernels are for an image, whose columns become channels.
            post_extension: Number of lines of an image's kernels that are multiplied at once: 1, 2 or 4.
            winograd: Whether the kernels are for Winograd: 3 x 3, transformed to 4 x 4.
            winograd_scale: Factor that keeps the transformed kernels in the range of the precision; 4/9 does so for
                every kernel.
            compressed: Whether zeros are left out, with a mask of the other weights.
            ram: Memory port.

        Raises:
            InputError: for other axes or sizes, another dtype, or a format that the configuration lacks.
        """
        check_kernels(weights, image=image, winograd=winograd)
        check_extension(post_extension, image=image)
        check_scale(winograd_scale, winograd=winograd)
        config, precision = self.config, precision_of("weights", weights)
        shape = (weights.shape[0], weights.shape[1], weights.shape[2], weights.shape[3])
        layout: KernelLayout
        if image:
            layout = of_image = ImageWeightLayout(config, precision, shape, post_extension)
            weights = of_image.pre_extend(weights)
        elif winograd:
            layout = of_winograd = WinogradWeightLayout(config, precision, shape)
            weights = of_winograd.convert(weights, winograd_scale)
        else:
            layout = WeightLayout(config, precision, shape)
        if compressed:
            memory = self._memory(ram)
            name = f"weights_{len(memory.allocations)}"
            allocate = partial(memory.allocate, alignment_bytes=WEIGHT_START_ALIGNMENT_BYTES)
            return store_compressed(memory, allocate, name, layout, weights, ram)
        nbytes = tight_weight_bytes(layout)
        address = self._allocate(ram, nbytes, "weights", WEIGHT_START_ALIGNMENT_BYTES)
        self.memories[ram].write(address, layout.pack(weights)[:nbytes])
        return WeightSurface(layout, address, ram, whole_bytes=None if nbytes == layout.nbytes else nbytes)

    def place_operands(
        self, values: Array, multipliers: Array | None = None, *, precision: Precision | None = None, ram: Ram = Ram.MC
    ) -> OperandSurface:
        """Write operands of SDP to memory, one for each channel or each element, and return their surface.

        ::

            bias = bench.place_operands(bench.rng.integers(-999, 1000, 16, dtype=np.int16))

        Args:
            values: Operands (C,) or (C, H, W) of int8, int16 or float16.
            multipliers: Factors of the same shape and dtype. One stage of SDP then adds the value and multiplies by the
                factor; pass the surface as both ``bias`` and ``scale``.
            precision: Precision that SDP computes in: INT8 if its input or output is INT8. Defaults to FP16 for float16
                and to INT8 for integers.
            ram: Memory port.

        Raises:
            InputError: for other axes, another dtype, or a precision that the configuration lacks.
        """
        arrays = {"alu": values} if multipliers is None else {"alu": values, "mul": multipliers}
        for name, array in (("values", values), *([] if multipliers is None else [("multipliers", multipliers)])):
            check_array(name, array)
        if values.ndim not in (1, 3):
            raise InputError(f"operands must have the axes (C,) or (C, H, W), not the shape {values.shape}")
        if multipliers is not None and (multipliers.shape, multipliers.dtype) != (values.shape, values.dtype):
            raise InputError(
                f"multipliers must be {values.dtype} of the shape {values.shape} like the values, "
                f"not {multipliers.dtype} of {multipliers.shape}"
            )
        kind = precision_of("values", values)
        computed = precision or (Precision.FP16 if kind is Precision.FP16 else Precision.INT8)
        if (computed is Precision.FP16) != (kind is Precision.FP16):
            allowed = "float16" if computed is Precision.FP16 else "int8 or int16"
            raise InputError(f"values must be {allowed} for {computed.name}, not {values.dtype}")
        shape = (values.shape[0], 1, 1) if values.ndim == 1 else (values.shape[0], values.shape[1], values.shape[2])
        layout = OperandLayout.packed(self.config, computed, shape, tuple(arrays), kind.nbytes)
        surface = OperandSurface(layout, self._allocate(ram, layout.nbytes, "operands"), ram)
        data = layout.pack({name: array.reshape(shape) for name, array in arrays.items()})
        self._write(surface, data, layout.written_mask())
        return surface

    def place_planes(self, cube: Array, *, ram: Ram = Ram.MC) -> PlanarSurface:
        """Write a cube to memory as one plane for each channel, for RUBIK to merge, and return their surface.

        ::

            src = bench.place_planes(bench.rng.integers(-128, 128, (40, 4, 5), dtype=np.int8))

        Args:
            cube: Cube (C, H, W) of int8, int16 or float16.
            ram: Memory port.

        Raises:
            InputError: for other axes, another dtype, or a precision that the configuration lacks.
        """
        check_array("cube", cube)
        if cube.ndim != 3:
            raise InputError(f"cube must have the axes (C, H, W), not the shape {cube.shape}")
        shape = (cube.shape[0], cube.shape[1], cube.shape[2])
        surface = self.reserve_planes(shape, precision_of("cube", cube), ram=ram)
        self._write(surface, surface.layout.pack(cube), surface.layout.written_mask())
        return surface

    def reserve_planes(
        self, shape: tuple[int, int, int], precision: Precision = Precision.INT8, *, ram: Ram = Ram.MC
    ) -> PlanarSurface:
        """Allocate memory for the planes that RUBIK splits a cube into, and return their surface.

        ::

            dst = bench.reserve_planes((40, 4, 5))

        Args:
            shape: Shape (C, H, W) of the cube.
            precision: Precision of the elements.
            ram: Memory port.

        Raises:
            InputError: for a shape, a precision or a memory that the configuration cannot have.
        """
        check_precision(precision)
        shape = checked_shape(shape, "(C, H, W)")
        layout = PlanarLayout.packed(self.config, precision, shape)
        alignment = layout.alignment.start_address_bytes
        return PlanarSurface(layout, self._allocate(ram, layout.nbytes, "planes", alignment), ram)

    def place_lines(self, data: NDArray[np.uint8], *, ram: Ram = Ram.MC) -> LinesSurface:
        """Write lines of bytes to memory, which BDMA copies, and return where they lie.

        ::

            src = bench.place_lines(bench.rng.integers(0, 256, (2, 3, 64), dtype=np.uint8))

        Args:
            data: (surfaces, lines, bytes) of uint8; lines are multiples of 32 bytes.
            ram: Memory port.

        Raises:
            InputError: for other axes or sizes, another dtype, or a configuration without BDMA.
        """
        check_array("data", data)
        if data.ndim != 3 or data.dtype != np.uint8:
            raise InputError(f"data must be uint8 (surfaces, lines, bytes), not {data.dtype} of the shape {data.shape}")
        surface = self.reserve_lines((data.shape[0], data.shape[1], data.shape[2]), ram=ram)
        self._write(surface, surface.layout.pack(data), surface.layout.written_mask())
        return surface

    def reserve_lines(self, shape: tuple[int, int, int], *, ram: Ram = Ram.MC) -> LinesSurface:
        """Return room for the lines that BDMA copies.

        ::

            dst = bench.reserve_lines((2, 3, 64))

        Args:
            shape: (surfaces, lines, bytes of a line).
            ram: Memory port.

        Raises:
            InputError: for a shape or a memory that the configuration cannot have.
        """
        shape = checked_shape(shape, "(surfaces, lines, bytes)")
        layout = LinesLayout(self.config, shape, shape[2], shape[1] * shape[2])
        return LinesSurface(layout, self._allocate(ram, layout.nbytes, "lines"), ram)

    def read_back(self, surface: Surface | PlanarSurface | LinesSurface) -> Array:
        """Return what memory holds where a surface lies.

        ::

            got = bench.read_back(dst)

        Args:
            surface: A cube, planes or lines.

        Returns:
            The cube (C, H, W) of int8, int16 or float16, or lines of uint8.

        Raises:
            InputError: for bytes that nobody has written.
        """
        check_readable(surface)
        memory, layout = self._memory(surface.ram), surface.layout
        unwritten = layout.written_mask() & ~memory.written(surface.address, layout.nbytes)
        if unwritten.any():
            first = surface.address + int(np.flatnonzero(unwritten)[0])
            raise InputError(
                f"surface must be written before it is read back: {int(unwritten.sum())} bytes are not, "
                f"the first at {first:#x} ({memory.describe(first)})"
            )
        return layout.unpack(memory.read_array(surface.address, layout.nbytes))

    def check_placed(self, layers: Sequence[Layer]) -> None:
        """Check that layers write to memory.

        Raises:
            InputError: for one that was made without destination, so that ``Pdp`` takes its result on the fly, and
                for anything but a layer.
        """
        check_layers(self.config, self.memories, layers)

    def _memory(self, ram: Ram) -> MemoryImage:
        check_ram(ram)
        if ram not in self.memories:
            allowed = ", ".join(known.value for known in self.memories)
            raise InputError(f"ram must be {allowed} on {self.config.name}, not {ram.value}")
        return self.memories[ram]

    def _allocate(self, ram: Ram, nbytes: int, what: str, alignment_bytes: int = BDMA_UNIT_BYTES) -> int:
        memory = self._memory(ram)
        return memory.allocate(nbytes, f"{what}_{len(memory.allocations)}", alignment_bytes)

    def _write(self, surface: _Masked, data: NDArray[np.uint8], mask: NDArray[np.bool_]) -> None:
        """Write the bytes that a mask marks; gaps stay unwritten, so that it is seen when they are read."""
        edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            self.memories[surface.ram].write(surface.address + int(start), data[start:stop])
