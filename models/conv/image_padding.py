"""How much padding CDMA can put beside the lines of an image: it counts atoms of padding in few bits."""

from __future__ import annotations

from models.config import HwConfig
from models.layout import PixelFormat

_MOST_ATOMS = (15, 7)
"""Atoms of padding at one side of a line, of the first plane and of the second."""


def overflowing_padding(
    config: HwConfig, pixels: PixelFormat, width: int, before: int, after: int, x_offset: int
) -> str | None:
    """Say which padding of an image's lines the hardware cannot count.

    Args:
        config: the build.
        pixels: format of the image.
        width: pixels of a line.
        before: padding before a line, in pixels.
        after: padding after a line, in pixels.
        x_offset: where the first pixel lies in its atom.

    Returns:
        The padding that must be smaller and the rule, or None when both sides fit.

    Source: counters of 4 and 3 bits in the public nv_small RTL; 39 layers at their limits measured on it.
    """
    for number, (plane, most) in enumerate(zip(pixels.planes, _MOST_ATOMS, strict=False)):
        each = config.memory_atomic_bytes // plane.pixel_bytes
        offset = x_offset % each
        atoms_before = before // each + (offset < before % each)
        fetched = (width - 1 + offset) // each + 1
        atoms_after = (before + width - 1 + after) // each + 2 - atoms_before - fetched
        for side, atoms in (("pad_left", atoms_before), ("pad_right", atoms_after)):
            if atoms > most:
                return (
                    f"{side} must take at most {most} atoms in plane {number} of {pixels.name}, as CDMA counts it, "
                    f"not {atoms}"
                )
    return None
