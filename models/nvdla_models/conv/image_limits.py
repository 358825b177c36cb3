"""Images that the hardware cannot take: padding that CDMA cannot count, and rows in which CSC goes wrong.

CDMA counts atoms of padding beside the lines of an image in few bits.

A row of an image's kernels, ``width * channels`` elements side by side, is read in steps of the atom that CMAC takes:
the first step ends with the atom, the last takes what is left. The outputs of a line are computed in stripes. Two
counts of the public RTL are wrong:

- The steps of a row are counted one too few when a single element is left after whole atoms. With three steps
  or more, the last but one is then taken for the last.
- The counter of steps also runs while CSC waits, when the stripe is one output wide. From the third step on it
  then moves by the size of the last step instead of a whole atom.

Both read other pixels of the line than they should unless the steps still end in the right entries.
"""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.layout import PixelFormat

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


def stripe_outputs(config: HwConfig) -> int:
    """Return how many outputs of an image's line CSC computes at a time.

    Source: stripe lengths of the public nv_small and nv_large RTL, 16 and 64.
    """
    ratio = config.mac_atomic_c_size // config.mac_atomic_k_size
    return (4 if ratio == 4 else 2) * config.mac_atomic_k_size


def misread_rows(config: HwConfig, row_elements: int, output_width: int) -> str | None:
    """Say why the hardware misreads the pixels of a convolution of an image.

    Args:
        config: the build.
        row_elements: width of the kernels times channels.
        output_width: elements.

    Returns:
        The size that must differ and the rule, or None when all pixels are right.

    Source: read off the public nv_small RTL and measured on it.
    """
    atom, stripe = config.mac_atomic_c_size, stripe_outputs(config)
    steps = -(-row_elements // atom)
    last = row_elements - (steps - 1) * atom
    if steps > 2 and last == 1:
        return (
            f"kernel.channels must not be 1 more than {steps - 1} atoms of {atom}, not {row_elements}: "
            "CSC counts one step too few in a row of an image's kernels and reads the wrong pixels"
        )
    if output_width % stripe == 1 and (steps - 2) * (atom - last) >= atom:
        return (
            f"shape.width must not be 1 more than a multiple of {stripe} with rows of {row_elements} elements in "
            f"atoms of {atom}, not {output_width}: CSC loses its place in a row of an image's kernels where it "
            "computes a single output, and reads the wrong pixels"
        )
    return None
