"""One step of FP16 arithmetic: signs of zeros, NaN, clipping, and a literal oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvdla_models import float_ops
from nvdla_models.fp16 import FP17, FP32, BitsArray, FloatFormat
from tests.unit.models.precision import oracle

INTERNAL = [FP17, FP32]
ONE, MINUS_ONE, TWO, MINUS_ZERO = 0x3F800000, 0xBF800000, 0x40000000, 0x80000000
INFINITE = 0x7F800000
LARGEST, NAN_A, NAN_B = 0x7F7FFFFF, 0x7F800055, 0xFF800066


def array(pattern: int, fmt: FloatFormat = FP32) -> BitsArray:
    return np.array([pattern], dtype=fmt.dtype)


def patterns(fmt: FloatFormat) -> st.SearchStrategy[int]:
    """All finite patterns and NaN, and often values near each other."""
    finite = st.integers(0, 2 * fmt.sign_bit - 1).filter(lambda p: p % fmt.sign_bit != fmt.infinity_bits)
    edges = [0, 1, 1 << fmt.mantissa_bits, fmt.infinity_bits - 1, fmt.infinity_bits + 1]
    return finite | st.sampled_from([*edges, *(edge + fmt.sign_bit for edge in edges)])


@pytest.mark.parametrize(
    ("data", "operand", "result"),
    [
        (ONE, ONE, TWO),
        (ONE, MINUS_ONE, 0),  # exact cancellation takes the sign of the data
        (MINUS_ONE, ONE, MINUS_ZERO),
        (0, MINUS_ZERO, 0),
        (MINUS_ZERO, 0, MINUS_ZERO),
        (LARGEST, LARGEST, LARGEST),
        (0x00800001, 0x80800000, 0),  # 2**-149 is below the smallest normal number
        (0x00800000, 0x80800001, MINUS_ZERO),
        (MINUS_ZERO, 0x00000123, 0),  # the operand's exponent field 0 counts as 2**-127
        (NAN_A, NAN_B, NAN_A),
        (NAN_B, NAN_A, NAN_B),
        (ONE, NAN_B, NAN_B),
        (0x4B800000, 0x3F800000, 0x4B800000),  # 2**24 + 1, a tie
    ],
)
def test_addition(data: int, operand: int, result: int) -> None:
    assert float_ops.add(array(data), array(operand), FP32).tolist() == [result]


@pytest.mark.parametrize(
    ("fmt", "data", "operand", "result"),
    [
        (FP32, INFINITE, 0, INFINITE),
        (FP32, MINUS_ONE, INFINITE, INFINITE),
        (FP32, INFINITE, 0x7F000000, 0x7FC00000),  # 2**128 + 2**127, a NaN to whoever reads it
        (FP32, INFINITE, 0x7F7FFFFE, 0x7FFFFFFF),
        (FP32, INFINITE, LARGEST, LARGEST),  # rounded up to 2**129, which carries
        (FP32, INFINITE, INFINITE, LARGEST),
        (FP32, INFINITE, INFINITE | MINUS_ZERO, 0),
        (FP32, INFINITE, 0xFF000000, 0x7F000000),
        (FP32, INFINITE, 207 << 23 | MINUS_ZERO, LARGEST),  # a little below 2**128, and rounded up to it
        (FP32, INFINITE, (207 << 23) - 1 | MINUS_ZERO, INFINITE),  # shifted out altogether
        (FP32, NAN_A, INFINITE, NAN_A),
        (FP17, 0xFC00, 0xF800, 0xFE00),
        (FP17, 0xFC00, 0xFC00, 0xFBFF),
        (FP17, 0xFC00, 41 << 10 | 0x10000, 0xFBFF),
        (FP17, 0xFC00, (41 << 10) - 1 | 0x10000, 0xFC00),
    ],
)
def test_infinity_is_a_number_to_the_adders_and_only_a_carry_saturates(
    fmt: FloatFormat, data: int, operand: int, result: int
) -> None:
    """Results of the adders of the public nv_full RTL."""
    assert float_ops.add(array(data, fmt), array(operand, fmt), fmt).tolist() == [result]


@pytest.mark.parametrize(
    ("data", "operand", "result"),
    [
        (MINUS_ONE, 0, MINUS_ZERO),
        (0, 0xFF7FFFFF, MINUS_ZERO),
        (LARGEST, TWO, LARGEST),
        (LARGEST, 0x00000123, 0x40000122),  # (2 - 2**-23) * 2**127 times (1 + 0x123/2**23) * 2**-127
        (0x00800000, 0x3F000000, 0),
        (0x80800000, 0x3F000000, MINUS_ZERO),
        (NAN_B, NAN_A, NAN_B),
        (ONE, NAN_A, NAN_A),
    ],
)
def test_multiplication(data: int, operand: int, result: int) -> None:
    assert float_ops.multiply(array(data), array(operand), FP32).tolist() == [result]


@pytest.mark.parametrize(
    ("data", "operand", "largest", "smallest"),
    [
        (0, MINUS_ZERO, 0, MINUS_ZERO),
        (MINUS_ZERO, 0, 0, MINUS_ZERO),
        (ONE, MINUS_ONE, ONE, MINUS_ONE),
        (MINUS_ONE, 0xC0000000, MINUS_ONE, 0xC0000000),
        (ONE, TWO, TWO, ONE),
        (ONE, NAN_B, NAN_B, NAN_B),
        (NAN_A, NAN_B, NAN_A, NAN_A),
        (NAN_A, ONE, NAN_A, NAN_A),
    ],
)
def test_maximum_and_minimum_order_zeros_and_pass_nan(data: int, operand: int, largest: int, smallest: int) -> None:
    assert float_ops.maximum(array(data), array(operand), FP32).tolist() == [largest]
    assert float_ops.minimum(array(data), array(operand), FP32).tolist() == [smallest]


def test_relu_turns_minus_zero_into_plus_zero_and_passes_nan() -> None:
    data = np.array([MINUS_ZERO, MINUS_ONE, ONE, NAN_A, NAN_B], dtype=np.uint32)
    assert float_ops.relu(data, FP32).tolist() == [0, 0, ONE, NAN_A, NAN_B]


def test_prelu_multiplies_only_where_the_sign_bit_is_set() -> None:
    data = np.array([MINUS_ONE, ONE, NAN_A, NAN_B, MINUS_ZERO], dtype=np.uint32)
    assert float_ops.prelu(data, array(TWO), FP32).tolist() == [0xC0000000, ONE, NAN_A, NAN_B, MINUS_ZERO]


def test_subtraction_keeps_the_sign_of_a_nan_operand() -> None:
    assert float_ops.subtract(array(ONE), array(NAN_B), FP32).tolist() == [NAN_B]
    assert float_ops.subtract(array(TWO), array(ONE), FP32).tolist() == [ONE]


@pytest.mark.slow
@pytest.mark.parametrize("fmt", INTERNAL)
@given(draw=st.data())
def test_every_step_agrees_with_the_literal_oracle(fmt: FloatFormat, draw: st.DataObject) -> None:
    data, operand = draw.draw(patterns(fmt)), draw.draw(patterns(fmt))
    if draw.draw(st.booleans()):  # near each other, so that sums cancel
        operand = (data ^ fmt.sign_bit) ^ draw.draw(st.integers(0, 7))
        if operand % fmt.sign_bit == fmt.infinity_bits:
            return
    left, right = array(data, fmt), array(operand, fmt)
    if not any(0 < p % fmt.sign_bit < 1 << fmt.mantissa_bits for p in (data, operand)):
        # Sums of numbers that are at least the smallest normal one; the exact sum decides the sign.
        assert float_ops.add(left, right, fmt).tolist() == [oracle.add(data, operand, fmt)]
    assert float_ops.multiply(left, right, fmt).tolist() == [oracle.multiply(data, operand, fmt)]


def test_operands_broadcast_along_the_channels() -> None:
    cube = np.full((2, 1, 3), ONE, dtype=np.uint32)
    operand = np.array([ONE, MINUS_ONE], dtype=np.uint32).reshape(2, 1, 1)
    assert float_ops.add(cube, operand, FP32).tolist() == [[[TWO] * 3], [[0] * 3]]
