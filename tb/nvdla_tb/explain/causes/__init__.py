"""The catalogue of causes, a file for each kind."""

from dlhdl_models.layout import ModuleDataLayout
from nvdla_tb.explain.cause import Cause
from nvdla_tb.explain.causes import (
    arithmetic,
    control,
    convolution,
    dlhdl,
    history,
    layout,
    movement,
    operands,
    pooling,
    tables,
    values,
)
from nvdla_tb.explain.evidence import Evidence

CAUSES: tuple[Cause, ...] = (
    *history.CAUSES,
    *layout.CAUSES,
    *movement.CAUSES,
    *operands.CAUSES,
    *arithmetic.CAUSES,
    *tables.Y_CAUSES,
    *pooling.CAUSES,
    *tables.CAUSES,
    *convolution.CAUSES,
    history.STALE_REGISTER,
    *control.CAUSES,
    *values.CAUSES,
    *values.FLOAT_CAUSES,
)
"""All causes of NVDLA; of two that fit equally well the earlier one is named first."""

DLHDL_CAUSES: tuple[Cause, ...] = (
    *dlhdl.CAUSES,
    history.INHERITED,
    *(cause for cause in (*layout.CAUSES, *control.CAUSES, *values.CAUSES) if not cause.reruns),
)
"""All causes of the Deep Learning HDL processor: its own, and those that only move what is known about."""


def catalogue(evidence: Evidence) -> tuple[Cause, ...]:
    """Return the causes that a surface may have."""
    return DLHDL_CAUSES if isinstance(evidence.layout, ModuleDataLayout) else CAUSES
