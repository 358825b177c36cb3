"""Batches: several cubes that a convolution multiplies with the same weights, one layer for all of them."""

from __future__ import annotations

from dataclasses import dataclass

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError, LackingError
from nvdla_tb.nvdla.layers.stages import strides_are_ignored
from nvdla_tb.nvdla.surfaces import Surface

DST_ATOMS = 2
"""SDP writes this many atoms of a cube before it takes those of the next."""


@dataclass(frozen=True)
class Batch:
    """How many cubes a layer has, and how far apart they lie; operands and weights are the same for all.

    Attributes:
        cubes: at least 2.
        src_stride_bytes: from one cube of the input to the next.
        dst_stride_bytes: from one cube of the output to the next.

    Source: measured on the public nv_full RTL.
    """

    cubes: int
    src_stride_bytes: int
    dst_stride_bytes: int

    def check(self, src: Surface, dst: Surface) -> None:
        """Check the cubes that begin with those of ``src`` and ``dst``.

        Raises:
            InputError: when the configuration does not take them, they leave memory, or overlap in the output.
        """
        config = dst.layout.config
        if not config.batch_enable:
            raise LackingError(f"batch.cubes must be 1 on {config.name}, which has no batches, not {self.cubes}")
        if not 2 <= self.cubes <= config.max_batch_size:
            raise InputError(f"batch.cubes must be 2 to {config.max_batch_size}, not {self.cubes}")
        _check_destination(dst, config)
        atom = config.memory_atomic_bytes
        for end, surface, stride, unit in (
            ("src", src, self.src_stride_bytes, atom),
            ("dst", dst, self.dst_stride_bytes, DST_ATOMS * atom),
        ):
            name, bits = f"batch.{end}_stride_bytes", config.memif_address_width_bits
            if stride < 0 or stride % unit:
                raise InputError(f"{name} must be a multiple of {unit} bytes, not {stride}")
            if surface.address + (self.cubes - 1) * stride + surface.layout.nbytes > 1 << bits:
                raise InputError(
                    f"{name} must leave room for {self.cubes} cubes in the {bits}-bit address space, not {stride}"
                )
        written = dst.layout.written_mask()
        for number in range(1, self.cubes):
            behind = number * self.dst_stride_bytes
            if behind < len(written) and (written[behind:] & written[: len(written) - behind]).any():
                raise InputError(
                    f"batch.dst_stride_bytes must keep the {self.cubes} cubes of dst apart, not {self.dst_stride_bytes}"
                )


def _check_destination(dst: Surface, config: HwConfig) -> None:
    unit = DST_ATOMS * config.memory_atomic_bytes
    values = {"address": dst.address}
    if not strides_are_ignored(dst.layout.shape):
        values |= {
            "line_stride_bytes": dst.layout.line_stride_bytes,
            "surface_stride_bytes": dst.layout.surface_stride_bytes,
        }
    for name, value in values.items():
        if value % unit:
            raise InputError(f"dst.{name} must be a multiple of {unit} bytes in a batch, not {value:#x}")
