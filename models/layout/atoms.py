"""Fast movement between channel planes and atoms, in blocks that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from models.layout.raw import Array, ByteArray

# Measured: smaller blocks pay for numpy's calls, larger ones leave the second-level cache.
_BLOCK_WORDS = 32768
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


def planes_to_atoms(planes: Array, atoms: Array) -> None:
    """Copy (S, A, H, W) planes into (S, H, W, A) atoms of the same dtype.

    Numpy's own transposed assignment runs its inner loop over the few channels of an atom; here it
    runs over pixels, and elements are gathered to 8-byte words before they are spread over memory.

    Args:
        planes: source, any strides.
        atoms: destination, any strides but a contiguous last axis.
    """
    count, per_atom, height, width = planes.shape
    word = _WORD_BYTES // planes.itemsize
    if height * width < per_atom or per_atom % word:
        atoms[...] = planes.transpose(0, 2, 3, 1)
        return
    for surfaces, lines in _blocks(count, height, width):
        source, target = planes[surfaces, :, lines], atoms[surfaces, lines]
        if source.shape[0] > 1:
            source = np.ascontiguousarray(source.swapaxes(0, 1)).swapaxes(0, 1)
        if per_atom == word:
            for element in range(word):
                target[..., element] = source[:, element]
            continue
        words = np.empty(target.shape[:3], dtype=np.uint64)
        elements = words.view(planes.dtype).reshape(*words.shape, word)
        target_words = target.view(np.uint64)
        for first in range(0, per_atom, word):
            for element in range(word):
                elements[..., element] = source[:, first + element]
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
    for surfaces, lines in _blocks(count, height, width):
        source, target = atoms[surfaces, lines], planes[surfaces, :, lines]
        if per_atom == word:
            for element in range(channels):
                target[:, element] = source[..., element]
            continue
        words = np.empty(source.shape[:3], dtype=np.uint64)
        elements = words.view(planes.dtype).reshape(*words.shape, word)
        source_words = source.view(np.uint64)
        for first in range(0, channels, word):
            words[...] = source_words[..., first // word]
            for element in range(min(word, channels - first)):
                target[:, first + element] = elements[..., element]


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
