"""Operands of the SDP stages: bias, PReLU, batch normalisation and element-wise data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout.alignment import Alignment, DataFormat, alignment_of
from nvdla_models.layout.atom_cube import AtomCube, check_cube
from nvdla_models.layout.atoms import atoms_to_planes, planes_to_atoms
from nvdla_models.layout.raw import Array, ByteArray, BytesLike, check_array, checked_bytes, round_up
from nvdla_models.precision import Precision

#: What one element can hold; a pair is always (ALU operand, multiplier operand).
COMPONENTS: tuple[tuple[str, ...], ...] = (("alu",), ("mul",), ("alu", "mul"))


class Operand(NamedTuple):
    """Coordinates of one component of an operand; ``c`` is a padding channel when it is not below C."""

    component: str
    c: int
    h: int
    w: int


@dataclass(frozen=True)
class OperandLayout(AtomCube):
    """How the operands of one SDP stage lie in memory.

    ::

        layout = OperandLayout.packed(config, Precision.INT8, (33, 1, 1), ("alu",), component_bytes=2)
        data = layout.pack({"alu": np.zeros((33, 1, 1), np.int16)})

    ``shape`` is (C, 1, 1) per channel or (C, H, W) per element. Atoms hold as many elements as a
    feature atom of ``precision``; each element holds its components side by side.

    Args:
        config: the build.
        precision: processing precision of SDP; it decides the elements of an atom.
        shape: real sizes (C, 1, 1) or (C, H, W).
        components: what each element holds, one of ``COMPONENTS``.
        component_bytes: 1 or 2; FP16 has only 2.
        line_stride_bytes: distance of two lines.
        surface_stride_bytes: distance of two surfaces.

    Raises:
        InputError: for components or sizes that do not exist, or strides that are unaligned or too small.

    Source: format document, "Bias Data Format", "PReLU Data Format", "Batch Normalization Data
        Format", "Element-Wise Data Format" and the BytesPerAtom tables; the order of a pair, and
        per-element operands of every use, measured on the public nv_full RTL.
    """

    config: HwConfig
    precision: Precision
    shape: tuple[int, int, int]
    components: tuple[str, ...]
    component_bytes: int
    line_stride_bytes: int
    surface_stride_bytes: int

    def __post_init__(self) -> None:
        check_cube(self.config, self.precision, self.shape)
        if self.components not in COMPONENTS:
            raise InputError(f"components must be one of {COMPONENTS}, not {self.components}")
        if self.component_bytes not in (1, 2):
            raise InputError(f"component_bytes must be 1 or 2, not {self.component_bytes}")
        if self.component_bytes == 1 and self.precision is Precision.FP16:
            raise InputError("component_bytes must be 2 for FP16, not 1")
        if not self.contiguous:
            self.alignment.check(
                line_stride_bytes=self.line_stride_bytes, surface_stride_bytes=self.surface_stride_bytes
            )
        self._check_strides()

    @classmethod
    def packed(
        cls,
        config: HwConfig,
        precision: Precision,
        shape: tuple[int, int, int],
        components: tuple[str, ...],
        component_bytes: int,
    ) -> OperandLayout:
        """Return the layout with the smallest aligned strides.

        A 1x1xC cube has none: its atoms are contiguous. Per element, one-byte operands of INT16 have
        atoms of half the alignment, so lines of an odd width end in a gap.

        Raises:
            InputError: as the constructor.
        """
        if len(shape) != 3:
            raise InputError(f"shape must be (C, H, W), not {shape}")
        atom = config.atom_elements(precision) * len(components) * component_bytes
        line = shape[2] * atom
        if shape[1:] != (1, 1):
            line = round_up(line, config.memory_atomic_bytes)
        return cls(config, precision, shape, components, component_bytes, line, shape[1] * line)

    @property
    def contiguous(self) -> bool:
        """Whether this is a 1x1xC cube of adjacent atoms, for which no stride is programmed."""
        return self.shape[1:] == (1, 1) and self.surface_stride_bytes == self.atom_bytes

    @property
    def alignment(self) -> Alignment:
        """Alignment of its start address and strides."""
        return alignment_of(self.config, DataFormat.OPERAND)

    @property
    def element_bytes(self) -> int:
        """Bytes of one element with all its components."""
        return len(self.components) * self.component_bytes

    @property
    def component_dtype(self) -> np.dtype[Any]:
        """The little-endian dtype of one component."""
        if self.precision is Precision.FP16:
            return Precision.FP16.dtype
        return np.dtype("i1" if self.component_bytes == 1 else "<i2")

    def pack(self, operands: Mapping[str, Array]) -> ByteArray:
        """Return the memory bytes; gaps and padding channels are 0.

        Args:
            operands: one (C, H, W) array of ``component_dtype`` per component.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: when components are missing or left over, or a shape or dtype is wrong.
        """
        if tuple(operands) != self.components:
            raise InputError(f"operands must be {self.components}, not {tuple(operands)}")
        height, width = self.shape[1:]
        number = len(self.components)
        planes = np.zeros((self.padded_channels, number, height, width), dtype=self.component_dtype)
        for index, component in enumerate(self.components):
            check_array(component, operands[component], self.shape, self.component_dtype)
            planes[: self.shape[0], index] = operands[component]
        raw = np.zeros(self.nbytes, dtype=np.uint8)
        planes_to_atoms(planes.reshape(self.surfaces, self.atom_elements * number, height, width), self._atoms(raw))
        return raw

    def unpack(self, data: BytesLike) -> dict[str, Array]:
        """Return the operands by component, (C, H, W) each; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        return {name: cube[: self.shape[0]] for name, cube in self.unpack_padded(data).items()}

    def unpack_padded(self, data: BytesLike) -> dict[str, Array]:
        """Return the operands by component with the padding channels, (padded_channels, H, W) each.

        Raises:
            InputError: when ``data`` is too short.
        """
        height, width = self.shape[1:]
        number = len(self.components)
        planes = np.empty((self.surfaces, self.atom_elements * number, height, width), dtype=self.component_dtype)
        atoms_to_planes(self._atoms(checked_bytes(data, self.nbytes)), planes)
        cubes = planes.reshape(self.padded_channels, number, height, width)
        return {component: cubes[:, index] for index, component in enumerate(self.components)}

    def offset(self, component: str, c: int, h: int, w: int) -> int:  # type: ignore[override]
        """Return the byte offset of one component of an element; padding channels have one too.

        Raises:
            InputError: for a component that the layout lacks or coordinates outside it.
        """
        if component not in self.components:
            raise InputError(f"component must be one of {self.components}, not {component}")
        return super().offset(c, h, w) + self.components.index(component) * self.component_bytes

    def element_at(self, offset_bytes: int) -> Operand | None:  # type: ignore[override]
        """Return the component that the byte at ``offset_bytes`` belongs to, or None in a stride gap.

        Raises:
            InputError: for an offset outside the layout.
        """
        found = self._element_of(offset_bytes)
        if found is None:
            return None
        c, h, w, byte = found
        return Operand(self.components[byte // self.component_bytes], c, h, w)

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        c, h, w = self.shape
        mode = "per channel" if (h, w) == (1, 1) else "per element"
        return "\n".join(
            (
                f"operands {' and '.join(self.components)} {mode}, {self.precision.name}, {self.config.name}: "
                f"C={c} H={h} W={w}",
                f"atom: {self.atom_bytes} bytes, {self.atom_elements} channels, {self.component_bytes} bytes each",
                f"line stride: {self.line_stride_bytes} bytes, surface stride: {self.surface_stride_bytes} bytes",
                f"bytes: {self.nbytes}",
            )
        )

    def _atoms(self, raw: ByteArray) -> Array:
        """Return the atoms of ``raw`` as a strided view (surfaces, H, W, components of an atom)."""
        return self._atom_bytes_view(raw).view(self.component_dtype)
