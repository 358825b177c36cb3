"""How hardware steps through a cube in memory: a layout without its rules, so that wrong ones fit too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.layout import AtomGrid, Element, OperandLayout
from nvdla_models.layout.atoms import atoms_to_planes, planes_to_atoms
from nvdla_tb.explain.memory import ByteArray, Bytes, MaskArray, Patch
from nvdla_tb.judge.beats import addresses_at

Cube = NDArray[Any]

CubeMap = Callable[[Cube], Cube]
"""A change of the values of a whole cube (C, H, W), lines in their places."""


class CubeLayout(Protocol):
    """The layout of a cube that layers write."""

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the end of the last element."""

    @property
    def grid(self) -> AtomGrid:
        """Where its atoms lie."""

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that a byte belongs to, or None in padding and gaps."""

    def written_mask(self) -> MaskArray:
        """Return which bytes are written."""


_MOST_BYTES = 1 << 28
"""A walk that spans more than that is not followed: only wild strides do."""


_SPARSE = 4
"""How much further than its atoms a walk must reach before they are picked one by one."""


class WildWalk(InputError):
    """A walk that spans more memory than is worth following."""


def in_atoms(cube: Cube, per_atom: int) -> Cube:
    """Return a cube (C, H, W) as (atoms, channels of one, H, W), without a copy.

    Raises:
        InputError: when its channels are no whole atoms, as in a pair with a cause that changes the atom.
    """
    if len(cube) % per_atom:
        raise InputError(f"channels must be a multiple of {per_atom}, not {len(cube)}")
    return cube.reshape(-1, per_atom, *cube.shape[1:])


@dataclass(frozen=True)
class Walk:
    """A cube of (C, H, W) elements in memory, channels in atoms.

    Attributes:
        address: address of the first atom.
        shape: (C, H, W); C in whole atoms of the right layout.
        steps: bytes from a surface, a line and a column to the next; any sign, 0 too.
        atom_elements: channels of an atom.
        dtype: type of an element.
        twist: what else happens to a cube that is read, None for nothing.
    """

    address: int
    shape: tuple[int, int, int]
    steps: tuple[int, int, int]
    atom_elements: int
    dtype: np.dtype[Any]
    twist: CubeMap | None = None

    @classmethod
    def of(cls, layout: CubeLayout, address: int) -> Walk:
        """Return the walk of a cube with everything that is written with it: padding channels, ends of lines."""
        return cls(address, *layout.grid)

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

    def offset(self, c: int, h: int, w: int) -> int:
        """Return the bytes from the start to an element."""
        surface, lane = divmod(c, self.atom_elements)
        at = surface * self.steps[0] + h * self.steps[1] + w * self.steps[2]
        return at + lane * self.dtype.itemsize

    def in_steps(self, nbytes: int) -> str:
        """Return a distance in words, in the largest of surfaces, lines and atoms that it is a multiple of."""
        for step, count, name in zip(self.steps, self.counts, ("surface", "line", "atom"), strict=True):
            if count > 1 and step > 0 and nbytes % step == 0:
                number = nbytes // step
                return f"{number} {name}{'s' * (number > 1)} ({nbytes} bytes)"
        return f"{nbytes} bytes"

    @property
    def surfaces(self) -> int:
        """Number of surfaces."""
        return -(-self.shape[0] // self.atom_elements)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of surfaces, lines and columns."""
        return self.surfaces, *self.shape[1:]

    @property
    def span(self) -> tuple[int, int]:
        """First address touched, and the one after the last.

        Raises:
            WildWalk: when they are too far apart, or below address 0.
        """
        ends = [step * (count - 1) for step, count in zip(self.steps, self.counts, strict=True)]
        low = self.address + sum(min(end, 0) for end in ends)
        high = self.address + sum(max(end, 0) for end in ends) + self.atom_bytes
        if low < 0 or high - low > _MOST_BYTES:
            raise WildWalk(f"walk must stay within {_MOST_BYTES} bytes above 0, not {low:#x} to {high:#x}")
        return low, high

    @property
    def overlaps(self) -> bool:
        """Whether atoms may lie on each other."""
        return self._overlap((0, 1, 2))

    def _overlap(self, axes: tuple[int, ...]) -> bool:
        """Return whether atoms that differ in some of surface, line and column may lie on each other."""
        covered = self.atom_bytes
        for step, count in sorted((abs(self.steps[axis]), self.counts[axis]) for axis in axes):
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

    def with_step(self, axis: int, step: int) -> Walk:
        """Return the walk with another step of one axis: surface, line or column."""
        return self.stepped(*(step if number == axis else None for number in range(3)))

    def moved(self, nbytes: int) -> Walk:
        """Return the walk from another address."""
        return replace(self, address=self.address + nbytes)

    def marks(self, mask: MaskArray) -> MaskArray:
        """Return the marks of all atoms, (surfaces, H, W, bytes), from a mask that begins at the walk's address."""
        return self._atoms(mask.view(np.uint8), self.address).view(np.bool_)

    def any_byte(self, mask: MaskArray) -> MaskArray:
        """Return which elements hold a marked byte, (C, H, W); the mask begins at the walk's address."""
        bytes_ = self.marks(mask).reshape(*self.counts, self.atom_elements, -1)
        elements: MaskArray = np.logical_or.reduce(bytes_, axis=4)
        return elements.transpose(0, 3, 1, 2).reshape(-1, *self.shape[1:])[: self.shape[0]]

    def read_patch(self, patch: Patch) -> Cube:
        """Return the cube that lies in a patch, (C, H, W)."""
        return self.read(Bytes((patch.address,), (len(patch.data),), patch.data, patch.mask))

    def read(self, memory: Bytes) -> Cube:
        """Return the cube that the walk finds, (C, H, W); unknown bytes are poison."""
        low, high = self.span
        if high - low > _SPARSE * self.surfaces * self.shape[1] * self.shape[2] * self.atom_bytes:
            atoms = memory.gather(self.addresses())[0].view(self.dtype)
        else:
            atoms = self._atoms(memory.read(low, high - low).data, low).view(self.dtype)
        planes = np.empty((self.surfaces, self.atom_elements, *self.shape[1:]), dtype=self.dtype)
        atoms_to_planes(atoms, planes)
        cube = planes.reshape(-1, *self.shape[1:])[: self.shape[0]]
        return cube if self.twist is None else self.twist(cube)

    def addresses(self) -> NDArray[np.uint64]:
        """Return the address of every byte of every atom, (surfaces, H, W, bytes)."""
        sizes = zip((*self.counts, self.atom_bytes), (*self.steps, 1), strict=True)
        parts = np.ix_(*(np.arange(n, dtype=np.int64) * step for n, step in sizes))
        return addresses_at(self.address, parts[0] + parts[1] + parts[2] + parts[3])

    def write(self, cube: Cube, touched: MaskArray | None = None) -> Patch:
        """Return the memory that the walk writes; atoms that overlap are written in their order.

        Args:
            cube: (C, H, W) of the walk's shape.
            touched: bool (C, H, W), elements that are written at all; None for every one.
        """
        low, high = self.span
        patch = Patch(low, np.zeros(high - low, dtype=np.uint8), np.zeros(high - low, dtype=np.bool_))
        cube = cube.astype(self.dtype, copy=False)
        if self.overlaps:
            self._put(self.to_atoms(cube), self._atoms(patch.data, low))
        else:
            planes_to_atoms(self._planes(cube), self._atoms(patch.data, low).view(self.dtype))
        if touched is None:
            self._atoms(patch.mask.view(np.uint8), low)[...] = 1
            return patch
        wide = np.repeat(self.to_atoms(touched), self.dtype.itemsize, axis=3)
        self._put(wide, self._atoms(patch.mask.view(np.uint8), low))
        return patch

    def to_atoms(self, cube: Cube) -> Cube:
        """Return (surfaces, H, W, elements of an atom); missing channels are 0."""
        return np.ascontiguousarray(self._planes(cube).transpose(0, 2, 3, 1))

    def _planes(self, cube: Cube) -> Cube:
        """Return (surfaces, elements of an atom, H, W); missing channels are 0."""
        missing = self.surfaces * self.atom_elements - cube.shape[0]
        if missing:
            cube = np.pad(cube, ((0, missing), (0, 0), (0, 0)))
        return cube.reshape(self.surfaces, self.atom_elements, *self.shape[1:])

    def _put(self, atoms: Cube, view: ByteArray) -> None:
        """Write atoms one after the other, as far as they lie on each other."""
        raw = atoms.view(np.uint8)
        if not self.overlaps:
            view[...] = raw
            return
        for axis, others in ((0, (1, 2)), (1, (0, 2)), (2, (0, 1))):
            if not self._overlap(others):
                for index in range(raw.shape[axis]):
                    np.moveaxis(view, axis, 0)[index] = np.moveaxis(raw, axis, 0)[index]
                return
        for place in np.ndindex(raw.shape[:3]):
            view[place] = raw[place]

    def _atoms(self, buffer: ByteArray, low: int) -> ByteArray:
        """Return the atoms of a buffer that begins at address ``low``: (surfaces, H, W, bytes)."""
        axes = (*self.counts, self.atom_bytes)
        return np.lib.stride_tricks.as_strided(buffer[self.address - low :], axes, (*self.steps, 1))
