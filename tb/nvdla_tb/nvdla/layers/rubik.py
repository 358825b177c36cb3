"""RUBIK layers: contract, split and merge, from memory to memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout, PlanarLayout, contracted_shape
from nvdla_tb.nvdla.layers.checks import check_configs, check_precision, check_shape
from nvdla_tb.nvdla.surfaces import PlanarSurface, Surface


class RubikMode(Enum):
    """The operation of RUBIK on a cube."""

    CONTRACT = "contract"
    SPLIT = "split"
    MERGE = "merge"


_Kind = type[FeatureLayout] | type[PlanarLayout]
_LAYOUTS: dict[RubikMode, tuple[_Kind, _Kind]] = {
    RubikMode.CONTRACT: (FeatureLayout, FeatureLayout),
    RubikMode.SPLIT: (FeatureLayout, PlanarLayout),
    RubikMode.MERGE: (PlanarLayout, FeatureLayout),
}
_NAMES: dict[_Kind, str] = {FeatureLayout: "a feature cube", PlanarLayout: "planes"}


@dataclass(frozen=True)
class RubikLayer:
    """One movement of a cube by RUBIK.

    Attributes:
        mode: its operation.
        src: a feature cube, or planes for merge.
        dst: a feature cube, or planes for split; split may leave out the last channels.
        stride_y: rows that contract makes of one; 1 otherwise.
        stride_x: columns that contract makes of one; 1 otherwise.

    Raises:
        InputError: when mode, strides, source and destination do not fit each other.

    Source: unit description, "RUBIK"; programming guide, "Rubik programming" and "Limitation".
    """

    unit: ClassVar[str] = "RBK"
    mode: RubikMode
    src: Surface | PlanarSurface
    dst: Surface | PlanarSurface
    stride_y: int = 1
    stride_x: int = 1

    def __post_init__(self) -> None:
        src, dst = self.src.layout, self.dst.layout
        for end, layout, kind in zip(("src", "dst"), (src, dst), _LAYOUTS[self.mode], strict=True):
            if type(layout) is not kind:
                raise InputError(f"{end} must be {_NAMES[kind]} for {self.mode.value}, not {_NAMES[type(layout)]}")
        check_configs(src, {"dst": dst})
        check_precision("dst", dst.precision, src.precision, " of src")
        if self.mode is RubikMode.CONTRACT:
            assert isinstance(src, FeatureLayout)
            expected = contracted_shape(src, (self.stride_y, self.stride_x))
        else:
            for name in ("stride_y", "stride_x"):
                if getattr(self, name) != 1:
                    raise InputError(f"{name} must be 1 for {self.mode.value}, not {getattr(self, name)}")
            expected = src.shape
        if self.mode is RubikMode.SPLIT and dst.shape[0] < src.shape[0]:
            expected = (dst.shape[0], *src.shape[1:])
        check_shape("dst", dst.shape, expected)
