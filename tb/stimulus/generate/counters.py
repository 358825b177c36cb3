"""Statistics of layers in programs: what enables them, and what reads them once a layer has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tb.nvdla.program.ops import RegRead, RegWrite

_LUT = ("UFLOW", "OFLOW", "HYBRID", "LE_HIT", "LO_HIT")
_ENABLES = {"SDP": 0b1110, "SDP_RDMA": 0b10}
"""Words of ``D_PERF_ENABLE``: all but the stall counters, which depend on timing."""

COUNTERS = {
    "CDMA": tuple(f"D_{what}_INPUT_{of}_NUM" for what in ("NAN", "INF") for of in ("DATA", "WEIGHT")),
    "CACC": ("D_OUT_SATURATION",),
    "SDP_RDMA": ("D_STATUS_NAN_INPUT_NUM", "D_STATUS_INF_INPUT_NUM"),
    "SDP": (
        "D_STATUS_NAN_INPUT_NUM",
        "D_STATUS_INF_INPUT_NUM",
        "D_STATUS_NAN_OUTPUT_NUM",
        "D_PERF_OUT_SATURATION",
        *(f"D_PERF_LUT_{count}" for count in _LUT),
    ),
    "CDP": ("D_NAN_INPUT_NUM", "D_INF_INPUT_NUM", "D_NAN_OUTPUT_NUM", "D_OUT_SATURATION"),
}
"""Registers that do not depend on timing, by unit."""


def enables(units: Iterable[str]) -> list[RegWrite]:
    """Return what lets units count; some do so without being told."""
    return [RegWrite(f"{unit}.D_PERF_ENABLE", _ENABLES[unit]) for unit in units if unit in _ENABLES]


def reads(unit: str) -> Iterator[RegRead]:
    """Yield reads of what a unit has counted."""
    return (RegRead(f"{unit}.{register}") for register in COUNTERS[unit])
