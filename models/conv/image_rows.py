"""How CSC walks along the lines of an image, and where it goes wrong.

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

from models.config import HwConfig


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
