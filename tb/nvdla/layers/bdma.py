"""BDMA layers: copies of lines within and between both memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from models.errors import InputError
from tb.nvdla.surfaces import LinesSurface


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
        if dst.config != src.config:
            raise InputError(f"dst must be laid out for {src.config.name} as src, not {dst.config.name}")
        if dst.shape != src.shape:
            raise InputError(f"dst must have the shape {src.shape} of src, not {dst.shape}")
