from __future__ import annotations

import numpy as np
import pytest

from dlhdl_models import single
from dlhdl_models.single import Bounded
from dlhdl_models.window import Window
from tests.unit.models.support import refused

TINY = 2.0**-126
STEP = 2.0**-23


def of(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def exactly(*values: float) -> Bounded:
    return Bounded.exactly(of(*values))


def test_a_sum_of_products_has_its_value_and_the_bound_of_the_text() -> None:
    got = single.fully_connected(exactly(1, -2), of(3, 4).reshape(1, 2), of(0.5))
    assert got.value.tolist() == [3 - 8 + 0.5]
    assert got.bound.tolist() == [3 * STEP * (3 + 8 + 0.5) + 5 * 2 * TINY]


def test_an_uncertain_source_widens_the_bound() -> None:
    source = Bounded(np.array([1.0]), np.array([0.25]))
    got = single.fully_connected(source, of(-4).reshape(1, 1), of(0))
    assert got.value.tolist() == [-4]
    assert got.bound.tolist() == [1.0 + 2 * STEP * 5 + 3 * 2 * TINY]


def test_a_convolution_agrees_with_that_of_one_window() -> None:
    rng = np.random.default_rng(2)
    image = rng.standard_normal((3, 2, 2)).astype(np.float32)
    weights = rng.standard_normal((4, 3, 2, 2)).astype(np.float32)
    bias = rng.standard_normal(4).astype(np.float32)
    conv = single.convolution(Bounded.exactly(image), weights, bias, Window(2, 2))
    full = single.fully_connected(Bounded.exactly(image), weights, bias)
    np.testing.assert_allclose(conv.value[:, 0, 0], full.value, rtol=1e-14)
    np.testing.assert_allclose(conv.bound[:, 0, 0], full.bound, rtol=1e-14)


def test_singles_summed_in_any_order_keep_the_bound() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        count = int(rng.integers(1, 60))
        values = (rng.standard_normal(count) * 2.0 ** rng.integers(-20, 20, count)).astype(np.float32)
        weights = (rng.standard_normal(count) * 2.0 ** rng.integers(-20, 20, count)).astype(np.float32)
        bias = of(rng.standard_normal())
        got = single.fully_connected(Bounded.exactly(values), weights.reshape(1, -1), bias)
        terms = list(np.concatenate((values * weights, bias)))
        while len(terms) > 1:
            first, second = (terms.pop(int(rng.integers(len(terms)))) for _ in range(2))
            terms.append(first + second)
        assert got.holds(of(terms[0])).all()


def test_a_lost_product_does_not_keep_the_bound() -> None:
    got = single.fully_connected(exactly(1, 1e-4), of(1, 1).reshape(1, 2), of(0))
    assert got.holds(of(1 + 1e-4)).all()
    assert not got.holds(of(1)).any()
    assert not got.holds(of(np.nan)).any()


def test_a_maximum_is_exact_and_does_not_see_padding() -> None:
    got = single.maximum_pooling(Bounded.exactly(of(-1, -2).reshape(1, 1, 2)), Window(2, 1, left=1))
    assert got.value.tolist() == [[[-1, -1]]]
    assert not got.bound.any()


def test_a_maximum_of_uncertain_values_has_the_largest_bound_of_its_window() -> None:
    source = Bounded(np.array([[[1.0, 2.0]]]), np.array([[[0.5, 0.25]]]))
    assert single.maximum_pooling(source, Window(2, 1)).bound.tolist() == [[[0.5]]]


def test_an_average_counts_padding_as_zero() -> None:
    got = single.average_pooling(Bounded.exactly(of(3, 6).reshape(1, 1, 2)), Window(3, 1, right=1))
    assert got.value.tolist() == [[[3.0]]]
    assert got.bound.tolist() == [[[4 * STEP * 3 + 7 * 2 * TINY]]]


def test_an_average_by_a_rounded_reciprocal_keeps_the_bound() -> None:
    rng = np.random.default_rng(4)
    values = rng.standard_normal((1, 3, 3)).astype(np.float32)
    got = single.average_pooling(Bounded.exactly(values), Window(3, 3))
    total = np.float32(0)
    for value in values.reshape(-1):
        total = total + value
    assert got.holds(np.array(total * (np.float32(1) / np.float32(9))).reshape(1, 1, 1)).all()


def test_an_addition_of_what_is_known_is_the_nearest_single() -> None:
    got = single.addition(exactly(1, 1), exactly(2**-24, 3 * 2**-24))
    assert got.value.tolist() == [1, 1 + 2**-22]
    assert not got.bound.any()


def test_an_addition_of_uncertain_values_has_both_bounds_and_a_rounding() -> None:
    got = single.addition(Bounded(np.array([1.0]), np.array([0.5])), exactly(2))
    assert got.value.tolist() == [3]
    assert got.bound.tolist() == [0.5 + STEP * 3.5 + 2 * TINY]


def test_subnormal_operands_and_results_count_as_zero() -> None:
    assert exactly(2.0**-127, TINY).value.tolist() == [0, TINY]
    got = single.addition(exactly(1.5 * TINY), exactly(-TINY))
    assert got.value.tolist() == [0]
    assert single.fully_connected(exactly(1), of(2.0**-127).reshape(1, 1), of(0)).value.tolist() == [0]


def test_relu_of_a_bounded_value_keeps_the_bound() -> None:
    got = single.fully_connected(exactly(1), of(-1).reshape(1, 1), of(0)).rectified
    assert got.value.tolist() == [0]
    assert got.bound.tolist() == [2 * STEP + 3 * 2 * TINY]
    assert single.addition(exactly(-1), exactly(0)).rectified.holds(of(0)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exactly(np.inf), "values must be finite"),
        (lambda: Bounded.exactly(np.array([1.0])), "values must be float32, not float64"),
        (
            lambda: single.fully_connected(exactly(2.0**100), of(2.0**100).reshape(1, 1), of(0)),
            "values and their bounds must be below 2^127 in magnitude: the model has no infinities",
        ),
        (lambda: single.addition(exactly(1), exactly(1, 2)), "second must have the shape (1,) of the first, not (2,)"),
        (
            lambda: single.fully_connected(exactly(1), of(1, 2).reshape(1, 2), of(0)),
            "weights must be (K, *(1,)), not (1, 2)",
        ),
    ],
)
def test_what_the_model_cannot_say_is_refused(call, message: str) -> None:
    with refused(message):
        call()
