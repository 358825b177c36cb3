"""CDP layers from memory to memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nvdla_models.cdp import CdpParams
from nvdla_tb.nvdla.layers.checks import check_configs, check_precision, check_shape
from nvdla_tb.nvdla.surfaces import Surface


@dataclass(frozen=True)
class CdpLayer:
    """One CDP layer from memory to memory.

    Raises:
        InputError: when the sizes or precisions of source, destination and parameters do not fit each other.
    """

    unit: ClassVar[str] = "CDP"
    src: Surface
    dst: Surface
    params: CdpParams

    def __post_init__(self) -> None:
        src, dst = self.src.layout, self.dst.layout
        check_configs(src, {"dst": dst})
        check_shape("dst", dst.shape, src.shape, " of src")
        for name, layout in (("src", src), ("dst", dst)):
            check_precision(name, layout.precision, self.params.precision)
