"""Fast movement between planes, atoms and kernels, in blocks that stay in the processor's cache."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from nvdla_models.layout.raw import Array, ByteArray

# Measured: smaller blocks pay for numpy's calls, larger ones leave the second-level cache.
_BLOCK_WORDS = 65536

#: Elements that are moved together.
BLOCK_ELEMENTS = 262144

_WORD_BYTES = 8


def atom_view(raw: ByteArray, axes: tuple[int, int, int, int], line_stride: int, surface_stride: int) -> ByteArray:
    """Return the atoms of ``raw`` as a strided view, without a copy.

    Args:
        raw: at least the bytes to the end of the last atom.
        axes: surfaces, H, W and bytes of an atom.
        line_stride: distance of two lines in bytes.
        surface_stride: distance of two surfaces in bytes.

    Returns:
        uint8 of shape ``axes``.
    """
    return np.lib.stride_tricks.as_strided(raw, axes, (surface_stride, line_stride, axes[3], 1))


def planes_to_atoms(planes: Array, atoms: Array, fill: Array | None = None) -> None:
    """Copy (S, C, H, W) planes into (S, H, W, A) atoms of the same dtype.

    Numpy's own transposed assignment runs its inner loop over the few channels of an atom; here it
    runs over pixels, and elements are gathered to 8-byte words before they are spread over memory.

    Args:
        planes: source, any strides; it may have fewer channels than an atom.
        atoms: destination, any strides but a contiguous last axis.
        fill: the element of missing channels; 0 when None.
    """
    count, channels, height, width = planes.shape
    per_atom = atoms.shape[3]
    word = _WORD_BYTES // planes.itemsize
    missing = np.zeros((), dtype=planes.dtype) if fill is None else fill
    if height * width < per_atom or per_atom % word:
        atoms[..., :channels] = planes.transpose(0, 2, 3, 1)
        atoms[..., channels:] = missing
        return
    blank = np.full(word, missing, dtype=planes.dtype)
    scratch = np.empty(_block_pixels(count, height, width), dtype=np.uint64)
    for surfaces, lines in _blocks(count, height, width):
        source, target = planes[surfaces, :, lines], atoms[surfaces, lines]
        if source.shape[0] > 1:
            source = np.ascontiguousarray(source.swapaxes(0, 1)).swapaxes(0, 1)
        words = scratch[: math.prod(target.shape[:3])].reshape(target.shape[:3])
        elements = target if per_atom == word else words.view(planes.dtype).reshape(*words.shape, word)
        target_words = target.view(np.uint64)
        for first in range(0, per_atom, word):
            if first >= channels:
                target_words[..., first // word] = blank.view(np.uint64)[0]
                continue
            for element in range(word):
                inside = first + element < channels
                elements[..., element] = source[:, first + element] if inside else missing
            if per_atom != word:
                target_words[..., first // word] = words


def atoms_to_planes(atoms: Array, planes: Array) -> None:
    """Copy (S, H, W, A) atoms into (S, C, H, W) planes of the same dtype; the inverse of planes_to_atoms.

    Args:
        atoms: source, any strides but a contiguous last axis.
        planes: destination, any strides; it may have fewer channels than an atom, the rest is not read.
    """
    count, channels, height, width = planes.shape
    per_atom = atoms.shape[3]
    word = _WORD_BYTES // planes.itemsize
    if height * width < per_atom or per_atom % word:
        planes[...] = atoms[..., :channels].transpose(0, 3, 1, 2)
        return
    scratch = np.empty(_block_pixels(count, height, width), dtype=np.uint64)
    for surfaces, lines in _blocks(count, height, width):
        source, target = atoms[surfaces, lines], planes[surfaces, :, lines]
        words = scratch[: math.prod(source.shape[:3])].reshape(source.shape[:3])
        elements = source if per_atom == word else words.view(planes.dtype).reshape(*words.shape, word)
        source_words = source.view(np.uint64)
        for first in range(0, channels, word):
            if per_atom != word:
                words[...] = source_words[..., first // word]
            for element in range(min(word, channels - first)):
                target[:, first + element] = elements[..., element]


def cube_to_atoms(cube: Array, atoms: Array, channels: int, fill: Array | None = None) -> None:
    """Copy a cube (C, H, W) into (S, H, W, A) atoms, each of which takes so many channels; see planes_to_atoms."""
    full = len(cube) // channels
    planes_to_atoms(cube[: full * channels].reshape(full, channels, *cube.shape[1:]), atoms[:full], fill)
    if full < len(atoms):
        planes_to_atoms(cube[None, full * channels :], atoms[full:], fill)


def atoms_to_cube(atoms: Array, cube: Array, channels: int) -> None:
    """Copy (S, H, W, A) atoms, each with so many channels, into a contiguous cube; the inverse of cube_to_atoms."""
    full = len(cube) // channels
    atoms_to_planes(atoms[:full], cube[: full * channels].reshape(full, channels, *cube.shape[1:]))
    if full * channels < len(cube):
        atoms_to_planes(atoms[full:], cube[None, full * channels :])


def kernels_to_planes(kernels: Array) -> Array:
    """Return (K, C, R, S) kernels as (R, S, K, C): one plane per place of the kernel.

    Args:
        kernels: any strides.

    Returns:
        A new array, or a view of kernels whose channels are contiguous already.
    """
    count, channels, height, width = kernels.shape
    planes = kernels.transpose(2, 3, 0, 1)
    if height * width == 1 or planes.strides[3] == planes.itemsize:
        return planes
    planes = np.empty((1, height * width, count * channels), dtype=kernels.dtype)
    rows = np.ascontiguousarray(kernels).reshape(1, -1, height * width)
    for tall, wide in transposed_runs(rows, planes):
        wide[...] = tall
    return planes.reshape(height, width, count, channels)


def planes_to_kernels(planes: Array, kernels: Array) -> None:
    """Copy (R, S, K, C) planes into contiguous (K, C, R, S) kernels; the inverse of kernels_to_planes."""
    height, width, count, channels = planes.shape
    rows = kernels.reshape(1, -1, height * width)
    for tall, wide in transposed_runs(rows, planes.reshape(1, height * width, count * channels)):
        tall[...] = wide


def transposed_runs(rows: Array, columns: Array) -> Iterator[tuple[Array, Array]]:
    """Yield matching views of (count, n, m) rows and (count, m, n) columns that are quick to copy.

    The views go along the longer of n and m, in blocks that stay in the processor's cache.
    """
    count, length, places = rows.shape
    if places > length:
        for wide, tall in transposed_runs(columns, rows):
            yield tall, wide
        return
    step = max(1, BLOCK_ELEMENTS // places)
    items = max(1, step // length)
    for item in range(0, count, items):
        for first in range(0, length, step):
            for place in range(places):
                run = slice(item, item + items), slice(first, first + step)
                yield rows[*run, place], columns[run[0], place, run[1]]


def as_words(elements: Array) -> Array:
    """View the contiguous last axis as one word per row: fewer, longer moves.

    Numpy moves words of up to 8 bytes with a loop of their own, and any other length as void.
    """
    nbytes = elements.shape[-1] * elements.itemsize
    return elements.view(f"u{nbytes}" if nbytes in (1, 2, 4, 8) else f"V{nbytes}")


def _block_pixels(count: int, height: int, width: int) -> int:
    """Return the pixels of the largest block of ``_blocks``."""
    return min(count * height * width, max(_BLOCK_WORDS, width))


def _blocks(count: int, height: int, width: int) -> Iterator[tuple[slice, slice]]:
    """Cut (count, height, width) into blocks of about ``_BLOCK_WORDS`` pixels: slices of the first two axes."""
    lines = max(1, _BLOCK_WORDS // width)
    if lines >= height:
        step = max(1, _BLOCK_WORDS // (height * width))
        for first in range(0, count, step):
            yield slice(first, first + step), slice(None)
        return
    for surface in range(count):
        for line in range(0, height, lines):
            yield slice(surface, surface + 1), slice(line, line + lines)
