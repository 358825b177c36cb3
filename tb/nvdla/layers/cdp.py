"""CDP layers from memory to memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from models.cdp import CdpParams
from models.errors import InputError
from tb.nvdla.layers.checks import check_configs
from tb.nvdla.surfaces import Surface


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
        check_configs(self.src, {"dst": self.dst.layout})
        if self.dst.layout.shape != self.src.layout.shape:
            raise InputError(f"dst must have the shape {self.src.layout.shape} of src, not {self.dst.layout.shape}")
        for end in ("src", "dst"):
            got = getattr(self, end).layout.precision
            if got is not self.params.precision:
                raise InputError(f"{end} must have the precision {self.params.precision.name}, not {got.name}")
