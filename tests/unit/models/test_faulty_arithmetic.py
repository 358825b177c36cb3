"""Every integer model computes as faulty hardware would when it is given other rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models import cdp, conv, pdp, sdp
from nvdla_models.arithmetic import HARDWARE, Rounding, Rules
from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import PixelConversion, pixel_format
from nvdla_models.pdp import PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, Operands, SdpParams, YStage, output_converter
from tests.unit.models import test_cdp_model as cdp_layers
from tests.unit.models import test_conv_model as conv_layers
from tests.unit.models import test_pdp_model as pdp_layers
from tests.unit.models import test_sdp_model as sdp_layers

FLOOR, WRAP, MAX_UNSIGNED, MIN_UNSIGNED = (
    Rules(Rounding.FLOOR),
    Rules(saturates=False),
    Rules(unsigned=(True, False)),
    Rules(unsigned=(False, True)),
)
ONE, MINUS = np.ones((1, 1, 1), np.int8), np.full((1, 1, 1), -1, np.int8)
PAIR = np.array([[[1]], [[2]]], np.int8)
LARGE = np.full((1, 1, 1), 100, np.int8)
SMALL = HwConfig.load("nv_small")
IMAGE = np.array([[[1, 200]]], dtype=np.uint8)

Model = Callable[[Rules], NDArray[Any]]


def output(cube: NDArray[Any], scale: int, shift: int) -> Model:
    params = SdpParams(None, None, output_converter(0, scale, shift), Precision.INT8, Precision.INT8)
    return lambda rules: sdp.run(params, cube, rules=rules)


def stage(cube: NDArray[Any], mul: int, shift: int, *, prelu: bool = False) -> Model:
    x1 = sdp_layers.stage(mul=True, mul_shift=shift, mul_prelu=prelu)
    params = SdpParams(x1, None, sdp_layers.IDENTITY, Precision.INT8, Precision.INT16)
    return lambda rules: sdp.run(params, cube, Operands(None, np.array(mul)), rules=rules)


def element_wise(shift: int) -> Model:
    y = YStage(AluOp.SUM, mul=True, truncate=shift)
    params = SdpParams(None, None, sdp_layers.IDENTITY, Precision.INT8, Precision.INT16, y)
    return lambda rules: sdp.run(params, ONE, None, None, Operands(np.array(0), np.array(1)), rules=rules)


def average() -> Model:
    params = pdp_layers.params(PoolMethod.AVERAGE, kernel_width=2, recip_width=pdp_layers.HALF)
    return lambda rules: pdp.run(params, np.array([[[0, 1]]], np.int8), SMALL, rules)


def normalised(cube: NDArray[Any], **changes: Any) -> Model:
    params = cdp_layers.params(**changes)
    return lambda rules: cdp.run(params, cube, len(cube), rules)


def limited(cube: NDArray[Any], operation: AluOp) -> Model:
    params = SdpParams(sdp_layers.stage(alu=operation), None, sdp_layers.IDENTITY, Precision.INT8, Precision.INT8)
    return lambda rules: sdp.run(params, cube, Operands(np.array(1), None), rules=rules)


def pooled(method: PoolMethod) -> Model:
    params = pdp_layers.params(method, kernel_width=3)
    return lambda rules: pdp.run(params, np.array([[[0, 1, -1]]], np.int8), SMALL, rules)


def convolved(cube: NDArray[Any] = ONE) -> Model:
    params = conv_layers.params(truncate=1)
    return lambda rules: conv.run(params, cube, np.ones((1, 1, 1, 1), np.int8), rules)


def image(scale: int, shift: int) -> Model:
    conversion = PixelConversion(Precision.INT8, Converter(0, scale, shift, ConverterEncoding.CDMA_INPUT))
    return lambda rules: conversion.apply(pixel_format("T_R8"), IMAGE, rules)


WRAP_BELOW = Rules(saturates=False, wraps=(True, False))
MAXIMUM = pooled(PoolMethod.MAX)

CASES: dict[str, tuple[Model, Rules, list[int], list[int]]] = {
    "SDP converter, rounding": (output(ONE, 1, 1), FLOOR, [1], [0]),
    "SDP converter, saturation": (output(LARGE, 2, 0), WRAP, [127], [-56]),
    "SDP converter, saturation of another width": (
        output(LARGE, 2, 0),
        Rules(saturates=False, wraps_at=16),
        [127],
        [127],
    ),
    "SDP converter, saturation of another side": (output(LARGE, 2, 0), WRAP_BELOW, [127], [127]),
    "SDP converter, saturation of one side": (output(LARGE, -2, 0), WRAP_BELOW, [-128], [56]),
    "SDP converter, symmetric saturation": (output(LARGE, -2, 0), Rules(symmetric=True), [-128], [-127]),
    "X1, unsigned maximum": (limited(MINUS, AluOp.MAX), MAX_UNSIGNED, [1], [-1]),
    "X1, minimum of one sign": (limited(LARGE, AluOp.MIN), MIN_UNSIGNED, [1], [1]),
    "PDP, unsigned maximum": (MAXIMUM, MAX_UNSIGNED, [1], [-1]),
    "PDP, unsigned minimum": (pooled(PoolMethod.MIN), MIN_UNSIGNED, [-1], [0]),
    "PDP, unsigned along the width": (MAXIMUM, Rules(unsigned_along=(True, False)), [1], [-1]),
    "PDP, unsigned along the height": (MAXIMUM, Rules(unsigned_along=(False, True)), [1], [1]),
    "PDP, unsigned maximum along the width": (
        MAXIMUM,
        Rules(unsigned_along=(True, False), unsigned=(True, False)),
        [1],
        [-1],
    ),
    "PDP, unsigned minimum along the width": (
        MAXIMUM,
        Rules(unsigned_along=(True, False), unsigned=(False, True)),
        [1],
        [1],
    ),
    "PDP, unsigned maximum along the height": (
        MAXIMUM,
        Rules(unsigned_along=(False, True), unsigned=(True, False)),
        [1],
        [1],
    ),
    "convolution, accumulators": (convolved(LARGE), Rules(accumulator_bits=7), [50], [-14]),
    "X1, negative": (stage(MINUS, 1, 1), FLOOR, [-1], [-1]),
    "X1": (stage(ONE, 1, 1), FLOOR, [1], [0]),
    "X1, PReLU, positive": (stage(LARGE, 3, 1, prelu=True), Rules(prelu_truncates=True), [100], [50]),
    "X1, PReLU, negative": (stage(MINUS, 4, 1, prelu=True), Rules(prelu_truncates=True), [-2], [-2]),
    "Y": (element_wise(1), FLOOR, [1], [0]),
    "PDP": (average(), FLOOR, [1], [0]),
    "CDP, input": (normalised(ONE, input_converter=cdp_layers.enter(shift=1)), FLOOR, [1], [0]),
    "CDP, output": (normalised(LARGE, output_converter=cdp_layers.leave(scale=2)), WRAP, [-128], [56]),
    "CDP, a neighbour left out": (normalised(PAIR, local_size=3), Rules(left_out=frozenset((1,))), [5, 5], [1, 5]),
    "CDP, a neighbour taken for another": (normalised(PAIR, local_size=3), Rules(instead=(1, 0)), [5, 5], [2, 9]),
    "convolution": (convolved(), FLOOR, [1], [0]),
    "image, rounding": (image(1, 1), FLOOR, [1, 100], [0, 100]),
    "image, saturation": (image(1, 0), WRAP, [1, 127], [1, -56]),
}


@pytest.mark.parametrize(("model", "rules", "right", "faulty"), CASES.values(), ids=CASES)
def test_other_rules_give_what_faulty_hardware_would(
    model: Model, rules: Rules, right: list[int], faulty: list[int]
) -> None:
    assert model(HARDWARE).ravel().tolist() == right
    assert model(rules).ravel().tolist() == faulty


def test_winograd_rounds_its_transformed_input_by_the_rules() -> None:
    padding = {"pad_left": 1, "pad_top": 1, "pad_right": 1, "pad_bottom": 1}
    params = conv_layers.params(winograd=True, pre_truncate=1, **padding)
    rng = np.random.default_rng(1)
    cube = conv_layers.random_values(rng, Precision.INT8, (4, 10, 10))
    weights = conv_layers.random_values(rng, Precision.INT8, (1, 4, 4, 4))
    right, faulty = conv.run(params, cube, weights), conv.run(params, cube, weights, FLOOR)
    assert right.shape == faulty.shape
    assert (right != faulty).any()
