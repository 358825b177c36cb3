"""The catalogue of causes, a file for each kind."""

from nvdla_tb.explain.cause import Cause
from nvdla_tb.explain.causes import (
    arithmetic,
    control,
    convolution,
    history,
    layout,
    movement,
    operands,
    pooling,
    tables,
    values,
)

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

COMMON: tuple[Cause, ...] = (
    history.INHERITED,
    *(cause for cause in (*layout.CAUSES, *control.CAUSES, *values.CAUSES) if not cause.reruns),
)
"""Causes that layers of any system may have: they only move what is known about."""
