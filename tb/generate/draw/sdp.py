"""SDP layers at random, and the stages that SDP has on the fly, too."""

from __future__ import annotations

import numpy as np

from models.config import HwConfig
from tb.generate.draw.numbers import Cube, Description, draw_gaps, draw_shift, draw_wide, source_of

_MOST_ELEMENTS = 3000
"""Elements of one cube, so that a scenario takes seconds."""

_OPERATIONS = ("max", "min", "sum")
_SHIFTS = (0, 1, 4, 8, 15, 20, 31, 48, 63)


def draw_sdp(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw an SDP layer, None where it cannot read what was before it."""
    if before is not None and before.is_one_pixel and any(before.gaps):
        return None
    src, keys = source_of(rng, config, before, _MOST_ELEMENTS)
    dst = Cube(src.shape, draw_gaps(rng, src.shape))
    layer = {"engine": "SDP", **keys, "dst_gaps": list(dst.gaps), **draw_processing(rng, src.shape)}
    if rng.random() < 0.6:
        layer["converter"] = [draw_wide(rng, 32), draw_wide(rng, 16), int(rng.choice(_SHIFTS))]
    return layer, dst


def draw_processing(rng: np.random.Generator, shape: tuple[int, int, int]) -> Description:
    """Draw the stages X1 and X2."""
    return {stage: _stage(rng, shape) for stage in ("x1", "x2") if rng.random() < 0.6}


def _stage(rng: np.random.Generator, shape: tuple[int, int, int]) -> Description:
    stage: Description = {"mul_shift": draw_shift(rng), "relu": bool(rng.random() < 0.4)}
    memory = str(rng.choice(["channel", "element"]))
    if rng.random() < 0.7:
        stage |= {"alu": str(rng.choice(_OPERATIONS)), "alu_shift": draw_shift(rng)}
        stage["alu_operand"] = str(rng.choice(["register", memory]))
    if rng.random() < 0.7:
        stage |= {"mul": True, "prelu": bool(rng.random() < 0.3)}
        stage["mul_operand"] = str(rng.choice(["register", memory]))
    stage["operand_bytes"] = int(rng.integers(1, 3))
    if memory == "element":
        stage["operand_gaps"] = list(draw_gaps(rng, shape))
    return stage
