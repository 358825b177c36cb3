"""How hardware steps through a cube in memory: a layout without its rules, so that wrong ones fit too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.layout import FeatureLayout, OperandLayout
from tb.explain.memory import ByteArray, Bytes, Patch

Cube = NDArray[Any]

_MOST_BYTES = 1 << 28
"""A walk that spans more than that is not followed: only wild strides do."""


class WildWalk(ValueError):
    """A walk that spans more memory than is worth following."""


@dataclass(frozen=True)
class Walk:
    """A cube of (C, H, W) elements in memory, channels in atoms.

    Attributes:
        address: of the first atom.
        shape: (C, H, W); C in whole atoms of the right layout.
        steps: bytes from a surface, a line and a column to the next; any sign, 0 too.
        atom_elements: channels of an atom.
        dtype: of an element.
        twist: what else happens to a cube that is read, None for nothing.
    """

    address: int
    shape: tuple[int, int, int]
    steps: tuple[int, int, int]
    atom_elements: int
    dtype: np.dtype[Any]
    twist: Callable[[Cube], Cube] | None = None

    @classmethod
    def of(cls, layout: FeatureLayout, address: int) -> Walk:
        """Return the walk of a feature cube with its padding channels."""
        shape = (layout.padded_channels, *layout.shape[1:])
        steps = (layout.surface_stride_bytes, layout.line_stride_bytes, layout.atom_bytes)
        return cls(address, shape, steps, layout.atom_elements, layout.precision.dtype)

    @classmethod
    def of_operands(cls, layout: OperandLayout, address: int) -> Walk:
        """Return the walk of operands; the components of an element count as channels."""
        number = len(layout.components)
        shape = (layout.padded_channels * number, *layout.shape[1:])
        steps = (layout.surface_stride_bytes, layout.line_stride_bytes, layout.atom_bytes)
        return cls(address, shape, steps, layout.atom_elements * number, layout.component_dtype)

    @property
    def atom_bytes(self) -> int:
        """Bytes of an atom."""
        return self.atom_elements * self.dtype.itemsize

    @property
    def surfaces(self) -> int:
        """Number of surfaces."""
        return -(-self.shape[0] // self.atom_elements)

    @property
    def span(self) -> tuple[int, int]:
        """First address touched, and the one behind the last.

        Raises:
            WildWalk: when they are too far apart, or below address 0.
        """
        counts = (self.surfaces, self.shape[1], self.shape[2])
        ends = [step * (count - 1) for step, count in zip(self.steps, counts, strict=True)]
        low = self.address + sum(min(end, 0) for end in ends)
        high = self.address + sum(max(end, 0) for end in ends) + self.atom_bytes
        if low < 0 or high - low > _MOST_BYTES:
            raise WildWalk(f"walk must stay within {_MOST_BYTES} bytes above 0, not {low:#x} to {high:#x}")
        return low, high

    @property
    def overlaps(self) -> bool:
        """Whether atoms may lie on each other."""
        covered = self.atom_bytes
        counts = (self.surfaces, self.shape[1], self.shape[2])
        for step, count in sorted((abs(step), count) for step, count in zip(self.steps, counts, strict=True)):
            if count > 1:
                if step < covered:
                    return True
                covered += step * (count - 1)
        return False

    def rows(self, rows: slice) -> Walk:
        """Return the walk through some lines alone."""
        return replace(
            self,
            address=self.address + rows.start * self.steps[1],
            shape=(self.shape[0], rows.stop - rows.start, self.shape[2]),
        )

    def stepped(self, surface: int | None = None, line: int | None = None, column: int | None = None) -> Walk:
        """Return the walk with other steps."""
        given = (surface, line, column)
        steps = tuple(old if new is None else new for old, new in zip(self.steps, given, strict=True))
        return replace(self, steps=(steps[0], steps[1], steps[2]))

    def moved(self, nbytes: int) -> Walk:
        """Return the walk from another address."""
        return replace(self, address=self.address + nbytes)

    def mask_rows(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count the bytes of each line, over all surfaces, that a mask of the whole surface marks: (H,)."""
        atoms = self._atoms(mask.view(np.uint8), self.address)
        counts: NDArray[np.int64] = atoms.sum(axis=(0, 2, 3), dtype=np.int64)
        return counts

    def atoms_with(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which atoms hold a marked byte, (surfaces, H, W); the mask begins at the walk's address."""
        marked: NDArray[np.bool_] = np.not_equal(self._atoms(mask.view(np.uint8), self.address).max(axis=3), 0)
        return marked

    def any_byte(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which elements hold a marked byte, (C, H, W); the mask begins at the walk's address."""
        atoms = self._atoms(mask.view(np.uint8), self.address)
        per_element = atoms.reshape(*atoms.shape[:3], self.atom_elements, -1).max(axis=4)
        cube = per_element.transpose(0, 3, 1, 2).reshape(-1, *self.shape[1:])
        marked: NDArray[np.bool_] = np.not_equal(cube[: self.shape[0]], 0)
        return marked

    def read_patch(self, patch: Patch) -> Cube:
        """Return the cube that lies in a patch, (C, H, W)."""
        return self.read(Bytes((patch.address,), (len(patch.data),), patch.data, patch.mask))

    def read(self, memory: Bytes) -> Cube:
        """Return the cube that the walk finds, (C, H, W); unknown bytes are poison."""
        low, high = self.span
        found = memory.read(low, high - low).data
        atoms = np.ascontiguousarray(self._atoms(found, low)).view(self.dtype)
        cube = atoms.transpose(0, 3, 1, 2).reshape(-1, *self.shape[1:])
        cube = np.ascontiguousarray(cube[: self.shape[0]])
        return cube if self.twist is None else self.twist(cube)

    def write(self, cube: Cube, touched: NDArray[np.bool_] | None = None) -> Patch:
        """Return what the walk leaves in memory; atoms that overlap are written in their order.

        Args:
            cube: (C, H, W) of the walk's shape.
            touched: bool (C, H, W), elements that are written at all; None for every one.
        """
        low, high = self.span
        patch = Patch(low, np.zeros(high - low, dtype=np.uint8), np.zeros(high - low, dtype=np.bool_))
        self._put(self._to_atoms(cube.astype(self.dtype, copy=False)), self._atoms(patch.data, low))
        if touched is None:
            self._atoms(patch.mask.view(np.uint8), low)[...] = 1
            return patch
        wide = np.repeat(self._to_atoms(touched), self.dtype.itemsize, axis=3)
        self._put(wide.view(np.uint8), self._atoms(patch.mask.view(np.uint8), low))
        return patch

    def _to_atoms(self, cube: Cube) -> Cube:
        """Return (surfaces, H, W, elements of an atom); missing channels are 0."""
        missing = self.surfaces * self.atom_elements - cube.shape[0]
        if missing:
            cube = np.pad(cube, ((0, missing), (0, 0), (0, 0)))
        atoms = cube.reshape(self.surfaces, self.atom_elements, *self.shape[1:]).transpose(0, 2, 3, 1)
        return np.ascontiguousarray(atoms)

    def _put(self, atoms: Cube, view: ByteArray) -> None:
        raw = atoms.view(np.uint8)
        if not self.overlaps:
            view[...] = raw
            return
        columns = abs(self.steps[2]) < self.atom_bytes
        for index in np.ndindex(raw.shape[:3] if columns else raw.shape[:2]):
            view[index] = raw[index]

    def _atoms(self, buffer: ByteArray, low: int) -> ByteArray:
        """Return the atoms of a buffer that begins at address ``low``: (surfaces, H, W, bytes)."""
        axes = (self.surfaces, self.shape[1], self.shape[2], self.atom_bytes)
        return np.lib.stride_tricks.as_strided(buffer[self.address - low :], axes, (*self.steps, 1))
