"""Attributes that layers of several units have: cubes, converters, answers to yes or no."""

from __future__ import annotations

from nvdla_models.converter import Converter
from nvdla_models.layout import FeatureLayout
from nvdla_tb.nvdla.surfaces import Surface

_BLOCK_BYTES = 64

GAPS = ("line_gap", "surface_gap", "offset", "line_stride", "surface_stride", "carry")
"""Attributes that only a cube in memory has."""

Value = int | str | None
Attributes = dict[str, Value]


def yes(answer: bool) -> str:
    """Return ``yes`` or ``no``."""
    return "yes" if answer else "no"


def size_attributes(layout: FeatureLayout) -> Attributes:
    """Return the sizes of a cube; ``tail`` is how many channels its last atom holds, 0 for a full one."""
    channels, height, width = layout.shape
    return {
        "channels": channels,
        "tail": channels % layout.atom_elements,
        "surfaces": layout.surfaces,
        "height": height,
        "width": width,
    }


def gap_attributes(prefix: str, surface: Surface) -> Attributes:
    """Return the gaps after lines and surfaces in atoms, the strides, the address bits that are reached."""
    layout = surface.layout
    _, height, width = layout.shape
    atom = layout.config.memory_atomic_bytes
    line_gap = layout.line_stride_bytes // atom - width
    behind = layout.surface_stride_bytes - height * layout.line_stride_bytes
    return {
        f"{prefix}.line_gap": line_gap if height > 1 else None,
        f"{prefix}.surface_gap": behind // atom if layout.surfaces > 1 else None,
        f"{prefix}.offset": surface.address % _BLOCK_BYTES,
        f"{prefix}.line_stride": layout.line_stride_bytes if height > 1 else None,
        f"{prefix}.surface_stride": layout.surface_stride_bytes if layout.surfaces > 1 else None,
        f"{prefix}.carry": carry(surface.address, layout.nbytes),
    }


def carry(address: int, nbytes: int) -> int:
    """Return the highest address bit that differs between the bytes of a range."""
    return max((address ^ address + nbytes - 1).bit_length() - 1, 0)


def converter_attributes(prefix: str, converter: Converter) -> Attributes:
    """Return the parameters of a converter."""
    return {f"{prefix}.{name}": value for name, value in numbers(converter, "offset", "scale", "shift").items()}


def numbers(params: object, *names: str) -> Attributes:
    """Return parameters that are attributes by the same names."""
    return {name: getattr(params, name) for name in names}


PADS = ("pad_left", "pad_right", "pad_top", "pad_bottom")
