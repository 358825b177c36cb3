"""SDP layers from memory to memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nvdla_models.errors import InputError
from nvdla_models.sdp import SdpParams
from nvdla_tb.nvdla.layers.checks import check_configs, check_precision, check_shape
from nvdla_tb.nvdla.layers.stages import StageSource, check_one_pixel, check_stages, operand_layouts
from nvdla_tb.nvdla.surfaces import Surface


@dataclass(frozen=True)
class SdpLayer:
    """One SDP layer from memory to memory.

    Raises:
        InputError: when surfaces, parameters and operand sources do not fit each other.
    """

    unit: ClassVar[str] = "SDP"
    src: Surface
    dst: Surface
    params: SdpParams
    x1: StageSource | None = None
    x2: StageSource | None = None
    y: StageSource | None = None

    def __post_init__(self) -> None:
        src, dst = self.src.layout, self.dst.layout
        check_shape("dst", dst.shape, src.shape, " of src")
        sources = (self.x1, self.x2, self.y)
        check_configs(src, {"dst": dst, **operand_layouts(*sources)})
        check_precision("src", src.precision, self.params.input_precision, " of params")
        check_precision("dst", dst.precision, self.params.output_precision, " of params")
        if dst.padded_channels != src.padded_channels:
            # What the hardware takes for channels that only one side has in memory is not known.
            raise InputError(
                f"dst must have the {src.padded_channels} channels of src with padding, not {dst.padded_channels}"
            )
        for name, layout in (("src", src), ("dst", dst)):
            check_one_pixel(name, layout)
        check_stages(self.params, sources, src.shape)
