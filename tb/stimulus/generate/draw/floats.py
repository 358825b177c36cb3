"""Random SDP processing of FP16, on its own and after a convolution."""

from __future__ import annotations

import numpy as np

from models.config import HwConfig
from models.lut import LutUnit
from models.precision import Precision
from tb.stimulus.generate.draw.numbers import Description, draw_gaps, draw_numbers, stages_of
from tb.stimulus.generate.draw.tables import draw_lut

_OPERATIONS = ("max", "min", "sum")
_ELEMENT_WISE = 0.4
_LOOKED_UP = 0.4
_FLUSHED = 0.2


def draw_float_processing(rng: np.random.Generator, config: HwConfig, shape: tuple[int, int, int]) -> Description:
    """Draw the stages X1, X2 and Y of FP16.

    Args:
        rng: Randomness.
        config: The build.
        shape: (C, H, W) of the cube.
    """
    processing: Description = {"nan_to_zero": bool(rng.random() < _FLUSHED)}
    for stage in stages_of(config):
        if rng.random() < 0.6:
            processing[stage] = {**_stage(rng, shape), "relu": bool(rng.random() < 0.3)}
    if config.sdp_ew_enable and rng.random() < _ELEMENT_WISE:
        processing["y"] = _stage(rng, shape)
        if config.sdp_lut_enable and rng.random() < _LOOKED_UP:
            processing["y"]["lut"] = draw_lut(rng, LutUnit.SDP, Precision.FP16, 0)
    return processing


def _stage(rng: np.random.Generator, shape: tuple[int, int, int]) -> Description:
    memory = str(rng.choice(["channel", "element"]))
    stage: Description = {"numbers": draw_numbers(rng)}
    if rng.random() < 0.7:
        stage |= {"alu": str(rng.choice(_OPERATIONS)), "alu_operand": str(rng.choice([memory, "register"]))}
    if rng.random() < 0.7:
        stage |= {"mul": True, "prelu": bool(rng.random() < 0.3), "mul_operand": str(rng.choice([memory, "register"]))}
    if memory == "element":
        stage["operand_gaps"] = list(draw_gaps(rng, shape))
    return stage
