"""SDP layers at random, and the stages that SDP has on the fly, too."""

from __future__ import annotations

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.lut import LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import processing_precision
from nvdla_tb.stimulus.generate.draw.numbers import (
    Cube,
    Description,
    draw_converter,
    draw_gaps,
    draw_magnitude,
    draw_numbers,
    draw_shift,
    draw_wide,
    one_of,
    source_of,
    stages_of,
)
from nvdla_tb.stimulus.generate.draw.tables import draw_lut

_MOST_ELEMENTS = 3000
"""Elements of one cube, so that a scenario takes seconds."""

_MOST_CONVERTED_BITS = 16
_CONVERSIONS = {
    Precision.INT8: (Precision.INT16,),
    Precision.INT16: (Precision.INT8, Precision.FP16),
    Precision.FP16: (Precision.INT16,),
}
_CONVERTED = 0.5
_ELEMENT_WISE = 0.4
_OPERATIONS = ("max", "min", "sum")
_OPERAND_BITS, _REGISTER_BITS = 16, 32
_MOST_BITS, _TABLE_BITS = 31, 15
_LOOKED_UP = 0.4
_FLUSHED = 0.2
_WILD = 0.2
"""How often a layer is drawn without regard to what comes out of it, so that most of it saturates."""


def draw_sdp(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw an SDP layer, None where it cannot read what was before it."""
    if before is not None and before.is_one_pixel and any(before.gaps):
        return None
    src, keys = source_of(rng, config, before, _MOST_ELEMENTS)
    output = draw_output(rng, config, src)
    dst = Cube(src.shape, draw_gaps(rng, src.shape), output)
    processing = draw_processing(rng, config, src.shape, src.precision.bits - 1, src.precision, output)
    return {"engine": "SDP", **keys, "dst_gaps": list(dst.gaps), **processing}, dst


def draw_output(rng: np.random.Generator, config: HwConfig, src: Cube) -> Precision:
    """Draw the precision of what SDP writes: mostly the same, another where that leaves the channels in memory."""
    targets = _CONVERSIONS[src.precision] if len(config.feature_data_types) > 1 else ()
    atoms = [config.atom_elements(precision) for precision in (src.precision, *targets)]
    if targets and src.shape[0] % max(atoms) == 0 and rng.random() < _CONVERTED:
        return targets[int(rng.integers(len(targets)))]
    return src.precision


def draw_processing(
    rng: np.random.Generator,
    config: HwConfig,
    shape: tuple[int, int, int],
    bits: int,
    precision: Precision = Precision.INT8,
    output: Precision = Precision.INT8,
) -> Description:
    """Draw the stages X1, X2 and, where there is one, Y, and the output converter.

    Args:
        rng: Randomness.
        config: The build.
        shape: (C, H, W) of the cube.
        bits: Magnitude of most of what comes in.
        precision: Precision of the input.
        output: Precision of the output.
    """
    processing: Description = {} if output is precision else {"output_precision": output.value}
    if precision is Precision.FP16:
        return processing | _float_processing(rng, config, shape)
    inside = processing_precision(precision, output)
    wild = bool(rng.random() < _WILD)
    for stage in stages_of(config):
        if rng.random() < 0.6:
            processing[stage], bits = _stage(rng, shape, bits, inside, wild=wild)
    if config.sdp_ew_enable and rng.random() < _ELEMENT_WISE:
        processing["y"], bits = _element_wise(rng, config, shape, bits, inside, wild=wild)
    result = min(output.bits, _MOST_CONVERTED_BITS)
    if rng.random() < (0.4 if bits < result else 0.9):
        processing["converter"] = draw_converter(rng, 32, 63, bits, wild=wild, result_bits=result)
    return processing


def _stage(
    rng: np.random.Generator, shape: tuple[int, int, int], bits: int, precision: Precision, *, wild: bool
) -> tuple[Description, int]:
    """Draw a stage, and return with it the magnitude of what comes out."""
    memory = one_of(rng, ["channel", "element"])
    stage: Description = {"relu": bool(rng.random() < 0.3)}
    stage["operand_bytes"] = int(rng.integers(1, 3)) if precision is Precision.INT8 else precision.nbytes
    in_memory = 8 * int(stage["operand_bytes"]) - 1
    if rng.random() < 0.7:
        operation = one_of(rng, _OPERATIONS)
        stage["alu"], stage["alu_operand"] = operation, one_of(rng, [memory, "register"])
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
        stage |= {"mul": True, "prelu": bool(rng.random() < 0.3), "mul_operand": one_of(rng, [memory, "register"])}
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


def _element_wise(
    rng: np.random.Generator,
    config: HwConfig,
    shape: tuple[int, int, int],
    bits: int,
    precision: Precision,
    *,
    wild: bool,
) -> tuple[Description, int]:
    """Draw Y for integers, and return with it the magnitude of what comes out."""
    memory = one_of(rng, ["channel", "element"])
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
        operation = one_of(rng, _OPERATIONS)
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
    source = one_of(rng, [memory, "register"])
    stage[f"{component}_operand"] = source
    if source == "register":
        register = draw_wide(rng, _REGISTER_BITS) if wild else draw_magnitude(rng, 16)
        stage[f"{component}_register"] = register
        return abs(register).bit_length()
    if rng.random() < 0.4:
        stage[f"{component}_converter"] = draw_converter(rng, 32, 63, bits, wild=wild, result_bits=16)
        return 15
    return bits


def _float_processing(rng: np.random.Generator, config: HwConfig, shape: tuple[int, int, int]) -> Description:
    """Draw the stages X1, X2 and Y of FP16."""
    processing: Description = {"nan_to_zero": bool(rng.random() < _FLUSHED)}
    for stage in stages_of(config):
        if rng.random() < 0.6:
            processing[stage] = {**_float_stage(rng, shape), "relu": bool(rng.random() < 0.3)}
    if config.sdp_ew_enable and rng.random() < _ELEMENT_WISE:
        processing["y"] = _float_stage(rng, shape)
        if config.sdp_lut_enable and rng.random() < _LOOKED_UP:
            processing["y"]["lut"] = draw_lut(rng, LutUnit.SDP, Precision.FP16, 0)
    return processing


def _float_stage(rng: np.random.Generator, shape: tuple[int, int, int]) -> Description:
    memory = one_of(rng, ["channel", "element"])
    stage: Description = {"numbers": draw_numbers(rng)}
    if rng.random() < 0.7:
        stage |= {"alu": one_of(rng, _OPERATIONS), "alu_operand": one_of(rng, [memory, "register"])}
    if rng.random() < 0.7:
        stage |= {"mul": True, "prelu": bool(rng.random() < 0.3), "mul_operand": one_of(rng, [memory, "register"])}
    if memory == "element":
        stage["operand_gaps"] = list(draw_gaps(rng, shape))
    return stage
