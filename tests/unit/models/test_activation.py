"""Functions by tables: against the function, for each unit and precision."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nvdla_models.activation import FUNCTIONS, tables
from nvdla_models.activation_layer import FunctionLayer
from nvdla_models.errors import InputError
from nvdla_models.lut import LutUnit
from nvdla_models.lut_integer import lookup
from nvdla_models.precision import Precision


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


_BY_HAND: dict[str, Callable[[float], float]] = {
    "sigmoid": _logistic,
    "tanh": math.tanh,
    "silu": lambda x: x * _logistic(x),
    "gelu": lambda x: x / 2 * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: x * _logistic(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)),
    "erf": math.erf,
    "exp": math.exp,
    "elu": lambda x: x if x > 0 else math.exp(x) - 1,
    "softplus": lambda x: math.log1p(math.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
    "hard_sigmoid": lambda x: min(max(x + 3, 0), 6) / 6,
    "hard_swish": lambda x: x * min(max(x + 3, 0), 6) / 6,
}


def test_every_function_has_a_value_by_hand() -> None:
    assert set(_BY_HAND) == set(FUNCTIONS)


@pytest.mark.parametrize("unit", list(LutUnit), ids=lambda unit: unit.name)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_int8_errs_by_little_more_than_rounding(name: str, unit: LutUnit) -> None:
    layer = FunctionLayer.of(FUNCTIONS[name], -6, 5, Precision.INT8, unit)
    accuracy = layer.accuracy()
    by_hand = np.array([_BY_HAND[name](value) for value in accuracy.x])
    assert len(accuracy.x) == 127 + 105 + 1
    assert np.abs(accuracy.computed - by_hand).max() < 0.52 * accuracy.step


@pytest.mark.parametrize("name", FUNCTIONS)
def test_int16_errs_by_few_steps_of_32767(name: str) -> None:
    accuracy = FunctionLayer.of(FUNCTIONS[name], -8, 3, Precision.INT16, LutUnit.SDP).accuracy()
    assert accuracy.worst < 6 * accuracy.step
    assert accuracy.mean < accuracy.step


@pytest.mark.parametrize(("name", "low", "high"), [("sigmoid", -60, 60), ("silu", -30, 12), ("gelu", -9, 9)])
def test_beyond_the_range_a_straight_line_goes_on(name: str, low: float, high: float) -> None:
    found = tables(FUNCTIONS[name], low, high)
    x = np.linspace(3 * low, 3 * high, 2001)
    values = lookup(found.lut, np.rint(x / found.step).astype(np.int64), LutUnit.SDP).values * found.unit
    exact = np.array([_BY_HAND[name](value) for value in x])
    assert np.abs(values - exact).max() < 2e-3 * np.abs(exact).max()


def test_a_wrong_table_is_measured() -> None:
    layer = FunctionLayer.of(FUNCTIONS["tanh"], -4, 4, Precision.INT8, LutUnit.SDP)
    layer.tables.lut.le.entries[:] = 0
    assert layer.accuracy().worst > 10 * layer.dst_scale


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (2, 2, "range must go from a number to a larger one, not from 2 to 2"),
        (0, math.inf, "range must go from a number to a larger one, not from 0 to inf"),
        (0, 1000, "function must be finite from 0 to 1000"),
    ],
)
def test_bad_ranges_are_refused(low: float, high: float, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        FunctionLayer.of(FUNCTIONS["exp"], low, high, Precision.INT8, LutUnit.SDP)


def test_fp16_is_refused() -> None:
    with pytest.raises(InputError, match=r"^precision must be INT8 or INT16: tables of FP16 are not made$"):
        FunctionLayer.of(FUNCTIONS["exp"], -1, 1, Precision.FP16, LutUnit.SDP)
