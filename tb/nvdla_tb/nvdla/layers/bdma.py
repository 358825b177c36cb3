"""BDMA layers: copies of lines within and between both memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nvdla_tb.nvdla.layers.checks import check_configs, check_shape
from nvdla_tb.nvdla.surfaces import LinesSurface


@dataclass(frozen=True)
class BdmaLayer:
    """One copy by BDMA, of lines of a cube.

    Raises:
        InputError: when source and destination do not fit each other.

    Source: programming guide, "BDMA programming".
    """

    unit: ClassVar[str] = "BDMA"
    src: LinesSurface
    dst: LinesSurface

    def __post_init__(self) -> None:
        src, dst = self.src.layout, self.dst.layout
        check_configs(src, {"dst": dst})
        check_shape("dst", dst.shape, src.shape, " of src")
