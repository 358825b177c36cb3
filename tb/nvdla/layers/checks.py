"""Rules that layers of all engines obey."""

from __future__ import annotations

from collections.abc import Mapping

from models.errors import InputError
from models.layout import FeatureLayout, KernelLayout, OperandLayout
from tb.nvdla.surfaces import ImageSurface, Surface


def check_configs(
    src: Surface | ImageSurface, others: Mapping[str, FeatureLayout | OperandLayout | KernelLayout]
) -> None:
    """Check that all layouts are for the configuration of ``src``.

    Raises:
        InputError: naming the layout that is not.
    """
    for name, layout in others.items():
        if layout.config != src.layout.config:
            raise InputError(f"{name} must be laid out for {src.layout.config.name} as src, not {layout.config.name}")
