"""SDP's stage Y at random, for integers."""

from __future__ import annotations

import numpy as np

from models.config import HwConfig
from models.lut import LutUnit
from models.precision import Precision
from tb.stimulus.generate.draw.numbers import Description, draw_converter, draw_gaps, draw_magnitude, draw_wide
from tb.stimulus.generate.draw.tables import draw_lut

_OPERATIONS = ("max", "min", "sum")
_REGISTER_BITS = 32
_MOST_BITS = 31
_LOOKED_UP = 0.4
_TABLE_BITS = 15


def draw_element_wise(
    rng: np.random.Generator,
    config: HwConfig,
    shape: tuple[int, int, int],
    bits: int,
    precision: Precision,
    *,
    wild: bool,
) -> tuple[Description, int]:
    """Draw the stage, and return with it the magnitude of what comes out.

    Args:
        rng: Randomness.
        config: The build.
        shape: (C, H, W) of the cube.
        bits: Magnitude of most of what comes in.
        precision: The one that SDP computes in, INT8 or INT16.
        wild: Whether it does not matter what comes out.
    """
    memory = str(rng.choice(["channel", "element"]))
    stage: Description = {"operand_bytes": int(rng.integers(1, 3)) if precision is Precision.INT8 else 2}
    operand_bits = 8 * int(stage["operand_bytes"]) - 1
    if memory == "element":
        stage["operand_gaps"] = list(draw_gaps(rng, shape))
    if rng.random() < 0.5:
        stage |= {"mul": True, "prelu": bool(rng.random() < 0.3)}
        width = _operand(rng, stage, "mul", memory, operand_bits, wild=wild)
        bits += width
        stage["truncate"] = int(rng.integers(0, 64)) if wild else max(0, bits - int(rng.integers(8, 24)))
        bits = min(max(bits - int(stage["truncate"]), 1), _MOST_BITS)
    if rng.random() < 0.7:
        operation = str(rng.choice(_OPERATIONS))
        stage["alu"] = operation
        bits = min(max(bits, _operand(rng, stage, "alu", memory, operand_bits, wild=wild)) + 1, _MOST_BITS)
    if config.sdp_lut_enable and rng.random() < _LOOKED_UP:
        stage["lut"] = draw_lut(rng, LutUnit.SDP, precision, bits)
        bits = _TABLE_BITS
    return stage, bits


def _operand(
    rng: np.random.Generator, stage: Description, component: str, memory: str, bits: int, *, wild: bool
) -> int:
    """Draw where an operand comes from, add the keys, and return its magnitude."""
    source = str(rng.choice([memory, "register"]))
    stage[f"{component}_operand"] = source
    if source == "register":
        register = draw_wide(rng, _REGISTER_BITS) if wild else draw_magnitude(rng, 16)
        stage[f"{component}_register"] = register
        return abs(register).bit_length()
    if rng.random() < 0.4:
        stage[f"{component}_converter"] = draw_converter(rng, 32, 63, bits, wild=wild, result_bits=16)
        return 15
    return bits
