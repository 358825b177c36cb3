"""PDP layers from memory to memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.pdp import PdpParams
from nvdla_tb.nvdla.layers.checks import check_configs, check_precision, check_shape
from nvdla_tb.nvdla.surfaces import Surface

LINE_BUFFER_ELEMENTS = 128
"""Output columns that PDP's line buffer holds when no two windows share a row."""


@dataclass(frozen=True)
class WidthSplit:
    """How PDP cuts a cube along its width.

    ::

        WidthSplit(parts=3, first_in=4, middle_in=4, last_in=2, first_out=2, middle_out=2, last_out=1)

    is a width of 10 that windows of 2 make 5 of. Columns that windows share with the part before are read again by the
    hardware, and are not counted again.

    Attributes:
        parts: Number of parts, 2 to 256.
        first_in: Input columns of the first part, in elements.
        middle_in: Those of each part between the first and the last; 0 with 2 parts.
        last_in: Those of the last part.
        first_out: Output columns of the first part, in elements.
        middle_out: Those of each part between the first and the last; 0 with 2 parts.
        last_out: Those of the last part.

    Raises:
        InputError: for a number of parts out of range, and a middle with 2 parts.

    Source: unit description, "Planar Data Processor".
    """

    parts: int
    first_in: int
    middle_in: int
    last_in: int
    first_out: int
    middle_out: int
    last_out: int

    def __post_init__(self) -> None:
        if not 2 <= self.parts <= 256:
            raise InputError(f"parts must be 2 to 256, not {self.parts}")
        for name in ("middle_in", "middle_out"):
            if self.parts == 2 and getattr(self, name):
                raise InputError(f"{name} must be 0 with 2 parts, not {getattr(self, name)}")

    @property
    def total_in(self) -> int:
        """Input elements of all parts."""
        return self.first_in + (self.parts - 2) * self.middle_in + self.last_in

    @property
    def total_out(self) -> int:
        """Output elements of all parts."""
        return self.first_out + (self.parts - 2) * self.middle_out + self.last_out

    @property
    def begins(self) -> list[int]:
        """The first output column of each part."""
        return [0, *(self.first_out + number * self.middle_out for number in range(self.parts - 1))]


@dataclass(frozen=True)
class PdpLayer:
    """One PDP layer from memory to memory.

    Raises:
        InputError: when the sizes of source, destination, pooling and split do not fit each other.
    """

    unit: ClassVar[str] = "PDP"
    src: Surface
    dst: Surface
    params: PdpParams
    split: WidthSplit | None = None

    def __post_init__(self) -> None:
        src, dst = self.src.layout, self.dst.layout
        check_configs(src, {"dst": dst})
        channels, height, width = src.shape
        expected = (channels, self.params.output_height(height), self.params.output_width(width))
        check_shape("dst", dst.shape, expected)
        for name, layout in (("src", src), ("dst", dst)):
            check_precision(name, layout.precision, self.params.precision)
        if self.split is not None and (self.split.total_in, self.split.total_out) != (width, expected[2]):
            raise InputError(
                f"split must add up to the widths {width} in and {expected[2]} out, "
                f"not {self.split.total_in} and {self.split.total_out}"
            )
        if self.split is not None and self.split.first_out * self.params.stride_x < self.params.pad_left:
            # Measured on the public nv_small RTL: the columns that a part shares with the one before are read
            # again, in the padding, too, which lies in front of the cube's memory.
            raise InputError(
                f"split must begin every part inside the cube: its first {self.split.first_out} output columns with "
                f"the stride of {self.params.stride_x} do not pass the left padding of {self.params.pad_left}"
            )

        widest = dst.shape[2]
        if self.split is not None:
            widest = max(self.split.first_out, self.split.middle_out, self.split.last_out)
        check_line_buffer("split", self.params, src.config, widest)


def split_width(params: PdpParams, width: int, parts: int, first: int, middle: int) -> WidthSplit | None:
    """Return how to cut a cube into ``parts``; None for one part.

    Each part reads up to the end of its last window; the columns that windows share with the part
    before are read again by the hardware.

    Args:
        params: The pooling.
        width: Input width in elements.
        parts: Number of parts.
        first: Output columns of the first part.
        middle: Output columns of each part that is neither the first nor the last, which gets the rest.

    Raises:
        InputError: when there are fewer output columns than parts, or a part would read nothing.
    """
    if parts == 1:
        return None
    out = params.output_width(width)
    if parts < 1 or out < parts:
        raise InputError(f"split must be 1 to the output width {out}, not {parts}")
    last = out - first - middle * (parts - 2)
    if min(first, middle, last) < 1:
        raise InputError(f"split must leave every part at least one output column, not {first}, {middle} and {last}")
    first_in = (first - 1) * params.stride_x + params.kernel_width - params.pad_left
    middle_in = middle * params.stride_x
    last_in = width - first_in - (parts - 2) * middle_in
    if min(first_in, last_in) < 1:
        raise InputError(f"split must leave every part at least one input column, not {parts} parts")
    return WidthSplit(
        parts,
        first_in=first_in,
        middle_in=middle_in if parts > 2 else 0,
        last_in=last_in,
        first_out=first,
        middle_out=middle if parts > 2 else 0,
        last_out=last,
    )


def check_line_buffer(name: str, params: PdpParams, config: HwConfig, widest: int) -> None:
    """Refuse more output columns than the line buffer holds at a time.

    Raises:
        InputError: calling what decides the columns ``name``.
    """
    most = line_buffer_elements(params, config)
    if most is not None and widest > most:
        raise InputError(
            f"{name} must leave parts of at most {most} output columns, which the line buffer of "
            f"{config.name} holds for this pooling, not {widest}"
        )


def line_buffer_elements(params: PdpParams, config: HwConfig) -> int | None:
    """Return how many output columns the line buffer of PDP holds, None where it was not measured.

    Source: unit description, share line buffer; measured on the public nv_small RTL, which hangs or
        writes wrong data beyond: ``LINE_BUFFER_ELEMENTS`` columns, divided by the rows of windows that
        overlap, rounded up to a power of two.
    """
    if config.pdp_throughput != 1:
        return None
    rows = -(-params.kernel_height // params.stride_y)
    return LINE_BUFFER_ELEMENTS >> (rows - 1).bit_length()
