"""SDP layers at random, and the stages that SDP has on the fly, too."""

from __future__ import annotations

import numpy as np

from models.config import HwConfig
from tb.generate.draw.numbers import (
    Cube,
    Description,
    draw_converter,
    draw_gaps,
    draw_magnitude,
    draw_shift,
    draw_wide,
    source_of,
)

_MOST_ELEMENTS = 3000
"""Elements of one cube, so that a scenario takes seconds."""

_OPERATIONS = ("max", "min", "sum")
_OPERAND_BITS = 16
_MOST_BITS = 31
_WILD = 0.2
"""How often a layer is drawn without regard to what comes out of it, so that most of it saturates."""


def draw_sdp(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw an SDP layer, None where it cannot read what was before it."""
    if before is not None and before.is_one_pixel and any(before.gaps):
        return None
    src, keys = source_of(rng, config, before, _MOST_ELEMENTS)
    dst = Cube(src.shape, draw_gaps(rng, src.shape))
    return {"engine": "SDP", **keys, "dst_gaps": list(dst.gaps), **draw_processing(rng, src.shape, 7)}, dst


def draw_processing(rng: np.random.Generator, shape: tuple[int, int, int], bits: int) -> Description:
    """Draw the stages X1 and X2, and the output converter.

    Args:
        rng: Randomness.
        shape: (C, H, W) of the cube.
        bits: Magnitude of most of what comes in.
    """
    processing: Description = {}
    wild = bool(rng.random() < _WILD)
    for stage in ("x1", "x2"):
        if rng.random() < 0.6:
            processing[stage], bits = _stage(rng, shape, bits, wild=wild)
    if rng.random() < (0.4 if bits < 8 else 0.9):
        processing["converter"] = draw_converter(rng, 32, 63, bits, wild=wild)
    return processing


def _stage(rng: np.random.Generator, shape: tuple[int, int, int], bits: int, *, wild: bool) -> tuple[Description, int]:
    """Draw a stage, and return with it the magnitude of what comes out."""
    memory = str(rng.choice(["channel", "element"]))
    stage: Description = {"relu": bool(rng.random() < 0.3), "operand_bytes": int(rng.integers(1, 3))}
    in_memory = 8 * int(stage["operand_bytes"]) - 1
    if rng.random() < 0.7:
        operation = str(rng.choice(_OPERATIONS))
        stage["alu"], stage["alu_operand"] = operation, str(rng.choice([memory, "register"]))
        width = in_memory
        if stage["alu_operand"] == "register":
            register = _register(rng, bits - 2, wild=wild)
            if not wild and operation != "sum":
                # Most data shall pass.
                register = abs(register) * (1 if operation == "min" else -1)
            stage["alu_register"], width = register, abs(register).bit_length()
        stage["alu_shift"] = draw_shift(rng) if wild else max(0, bits - width - int(rng.integers(0, 4)))
        bits = min(max(bits, width + stage["alu_shift"]) + (operation == "sum"), _MOST_BITS)
    if rng.random() < 0.7:
        stage |= {"mul": True, "prelu": bool(rng.random() < 0.3), "mul_operand": str(rng.choice([memory, "register"]))}
        width = in_memory
        if stage["mul_operand"] == "register":
            stage["mul_register"] = _register(rng, _OPERAND_BITS, wild=wild)
            width = abs(stage["mul_register"]).bit_length()
        bits += width
    stage["mul_shift"] = draw_shift(rng) if wild else max(0, bits - int(rng.integers(5, 20)))
    if memory == "element":
        stage["operand_gaps"] = list(draw_gaps(rng, shape))
    return stage, min(max(bits - int(stage["mul_shift"]), 1), _MOST_BITS)


def _register(rng: np.random.Generator, bits: int, *, wild: bool) -> int:
    return draw_wide(rng, _OPERAND_BITS) if wild else draw_magnitude(rng, min(bits, _OPERAND_BITS))
