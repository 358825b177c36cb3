"""Operands of the SDP stages: bias, PReLU, batch normalisation and element-wise data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models.config import HwConfig
from models.layout.raw import (
    Array,
    ByteArray,
    BytesLike,
    check_aligned,
    check_array,
    check_index,
    check_size,
    checked_bytes,
)
from models.precision import Precision

COMPONENTS = (("alu",), ("mul",), ("alu", "mul"))
"""What one element can hold; a pair is always (ALU operand, multiplier operand)."""


@dataclass(frozen=True)
class OperandLayout:
    """How the operands of one SDP stage lie in memory.

    ``shape`` is (C, 1, 1) per channel or (C, H, W) per element. Atoms hold as many elements as a
    feature atom of ``precision``; each element holds its components side by side.

    Raises:
        ValueError: for components or sizes that do not exist, or strides that are unaligned or too small.

    Source: format document, "Bias Data Format", "PReLU Data Format", "Batch Normalization Data
        Format", "Element-Wise Data Format"; the order of a pair measured on the public nv_full RTL.
    """

    config: HwConfig
    precision: Precision
    shape: tuple[int, int, int]
    components: tuple[str, ...]
    component_bytes: int
    line_stride_bytes: int
    surface_stride_bytes: int

    def __post_init__(self) -> None:
        for name, value in zip(("channels", "height", "width"), self.shape, strict=True):
            check_size(name, value, 1 << 13)
        if self.components not in COMPONENTS:
            raise ValueError(f"components must be one of {COMPONENTS}, not {self.components}")
        if self.component_bytes not in (1, 2):
            raise ValueError(f"component_bytes must be 1 or 2, not {self.component_bytes}")
        if self.component_bytes == 1 and self.precision is not Precision.INT8:
            raise ValueError(f"component_bytes must be 2 for {self.precision.name}, not 1")
        alignment = self.config.memory_atomic_bytes
        line = self.shape[2] * self.atom_bytes
        for name, value, least in (
            ("line_stride_bytes", self.line_stride_bytes, line),
            ("surface_stride_bytes", self.surface_stride_bytes, (self.shape[1] - 1) * self.line_stride_bytes + line),
        ):
            check_aligned(name, value, alignment, f"the {alignment}-byte atom")
            if value < least:
                raise ValueError(f"{name} must be at least {least}, not {value}")

    @classmethod
    def packed(
        cls,
        config: HwConfig,
        precision: Precision,
        shape: tuple[int, int, int],
        components: tuple[str, ...],
        component_bytes: int,
    ) -> OperandLayout:
        """Return the layout without gaps."""
        atom = config.atom_elements(precision) * len(components) * component_bytes
        return cls(
            config, precision, shape, components, component_bytes, shape[2] * atom, shape[1] * shape[2] * atom
        )

    @property
    def atom_elements(self) -> int:
        """Elements in one atom."""
        return self.config.atom_elements(self.precision)

    @property
    def element_bytes(self) -> int:
        """Bytes of one element with all its components."""
        return len(self.components) * self.component_bytes

    @property
    def atom_bytes(self) -> int:
        """Bytes of one operand atom."""
        return self.atom_elements * self.element_bytes

    @property
    def surfaces(self) -> int:
        """Number of surfaces: C in atoms, rounded up."""
        return -(-self.shape[0] // self.atom_elements)

    @property
    def padded_channels(self) -> int:
        """C rounded up to whole atoms."""
        return self.surfaces * self.atom_elements

    @property
    def nbytes(self) -> int:
        """Bytes from the first atom to the end of the last."""
        _, height, width = self.shape
        return (
            (self.surfaces - 1) * self.surface_stride_bytes
            + (height - 1) * self.line_stride_bytes
            + width * self.atom_bytes
        )

    def pack(self, operands: Mapping[str, Array]) -> ByteArray:
        """Return the memory bytes; gaps and padding channels are 0.

        Args:
            operands: One (C, H, W) array per component, of the signed dtype of ``component_bytes``.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            ValueError: when components are missing or left over, or a shape or dtype is wrong.
        """
        if tuple(operands) != self.components:
            raise ValueError(f"operands must be {self.components}, not {tuple(operands)}")
        raw = np.zeros(self.nbytes, dtype=np.uint8)
        view = self._view(raw)
        padded = np.zeros((self.padded_channels, *self.shape[1:]), dtype=self._dtype)
        for number, component in enumerate(self.components):
            check_array(component, operands[component], self.shape, self._dtype)
            padded[: self.shape[0]] = operands[component]
            view[..., number] = padded.reshape(
                self.surfaces, self.atom_elements, *self.shape[1:]
            ).transpose(0, 2, 3, 1)
        return raw

    def unpack(self, data: BytesLike) -> dict[str, Array]:
        """Return the operands by component, (C, H, W) each; later bytes are not read.

        Raises:
            ValueError: when ``data`` is too short.
        """
        return {name: cube[: self.shape[0]] for name, cube in self.unpack_padded(data).items()}

    def unpack_padded(self, data: BytesLike) -> dict[str, Array]:
        """Return the operands by component with the padding channels, (padded_channels, H, W) each.

        Raises:
            ValueError: when ``data`` is too short.
        """
        view = self._view(checked_bytes(data, self.nbytes))
        return {
            component: view[..., number].transpose(0, 3, 1, 2).reshape(self.padded_channels, *self.shape[1:])
            for number, component in enumerate(self.components)
        }

    def offset(self, component: str, c: int, h: int, w: int) -> int:
        """Return the byte offset of one component of an element.

        Raises:
            ValueError: for a component that the layout lacks or coordinates outside it.
        """
        if component not in self.components:
            raise ValueError(f"component must be one of {self.components}, not {component}")
        for name, value, end in zip("chw", (c, h, w), (self.padded_channels, *self.shape[1:]), strict=True):
            check_index(name, value, end)
        surface, element = divmod(c, self.atom_elements)
        return (
            surface * self.surface_stride_bytes
            + h * self.line_stride_bytes
            + w * self.atom_bytes
            + element * self.element_bytes
            + self.components.index(component) * self.component_bytes
        )

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        c, h, w = self.shape
        return "\n".join(
            (
                f"operand data {' and '.join(self.components)}, {self.component_bytes} bytes each: C={c} H={h} W={w}",
                f"atom: {self.atom_bytes} bytes, {self.atom_elements} channels",
                f"line stride: {self.line_stride_bytes} bytes, surface stride: {self.surface_stride_bytes} bytes",
                f"bytes: {self.nbytes}",
            )
        )

    @property
    def _dtype(self) -> np.dtype[np.signedinteger]:
        return np.dtype("i1" if self.component_bytes == 1 else "<i2")

    def _view(self, raw: ByteArray) -> Array:
        """Return ``raw`` as (surfaces, H, W, atom_elements, components)."""
        return np.ndarray(
            (self.surfaces, self.shape[1], self.shape[2], self.atom_elements, len(self.components)),
            dtype=self._dtype,
            buffer=raw,
            strides=(
                self.surface_stride_bytes,
                self.line_stride_bytes,
                self.atom_bytes,
                self.element_bytes,
                self.component_bytes,
            ),
        )
