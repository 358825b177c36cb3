"""The catalogue of causes, a file for each kind."""

from tb.explain.cause import Cause
from tb.explain.causes import (
    arithmetic,
    control,
    convolution,
    element_wise,
    floats,
    history,
    joint,
    layout,
    movement,
    operands,
    pooling,
    program,
    tables,
    values,
)

CAUSES: tuple[Cause, ...] = (
    *history.CAUSES,
    *layout.CAUSES,
    *joint.CAUSES,
    *movement.CAUSES,
    *operands.CAUSES,
    *arithmetic.CAUSES,
    *element_wise.CAUSES,
    *pooling.CAUSES,
    *tables.CAUSES,
    *convolution.CAUSES,
    *program.CAUSES,
    *control.CAUSES,
    *values.CAUSES,
    *floats.CAUSES,
)
"""All causes; of two that fit equally well the earlier one is named first."""

__all__ = ["CAUSES"]
