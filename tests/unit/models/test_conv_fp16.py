"""FP16 convolution bit by bit and in float64, against literal oracles; special numbers by hand; refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.conv import AtomOrder, ConvParams, accumulate, run_exact, run_float64, threshold
from nvdla_models.fp16 import FP16, FP32, narrow
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Module
from tests.unit.models import oracles_conv_fp16 as oracle
from tests.unit.models.precision.compared import compare
from tests.unit.models.support import refused
from tests.unit.models.test_conv_model import params, random_axes

SMALL_ATOM = 8
INFINITY, NAN = 0x7C00, 0x7E01


def fp16(**changes: Any) -> ConvParams:
    return params(precision=Precision.FP16, **changes)


def patterns(rng: np.random.Generator, shape: tuple[int, ...], *, special: bool = True) -> NDArray[np.uint16]:
    """Draw FP16 numbers of one range of exponents, a few zeros, and sometimes infinities and NaN."""
    low = int(rng.integers(0, 31))
    high = int(rng.integers(low, 31))
    exponents = rng.integers(low, high + 1, shape)
    bits = rng.integers(0, 2, shape) << 15 | exponents << 10 | rng.integers(0, 1024, shape)
    bits = np.where(rng.random(shape) < 0.1, rng.choice([0, 0x8000], shape), bits)
    if special and rng.random() < 0.3:
        extreme = rng.choice([INFINITY, INFINITY | 0x8000, NAN, 0xFD23, 0x7FFF], shape)
        bits = np.where(rng.random(shape) < 0.05, extreme, bits)
    return bits.astype(np.uint16)


def random_layer(rng: np.random.Generator, **changes: Any) -> tuple[ConvParams, NDArray[Any], NDArray[Any]]:
    sides, kernel_sides, drawn = random_axes(rng)
    channels, kernels = int(rng.choice([1, 2, 3, 4, 9, 17])), int(rng.integers(1, 4))
    if "dilation_x" in changes:
        sides = (max(sides[0], kernel_sides[0]), max(sides[1], kernel_sides[1]))
        drawn |= {"pad_left": 0, "pad_right": 0, "pad_top": 0, "pad_bottom": 0}
    drawn |= {"pad_value": int(patterns(rng, (), special=False)), "nan_to_zero": bool(rng.random() < 0.3)}
    return (
        fp16(**(drawn | changes)),
        patterns(rng, (channels, *sides)),
        patterns(rng, (kernels, channels, *kernel_sides)),
    )


def place(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, int, int]:
    k, y, x = (int(rng.integers(end)) for end in shape)
    return k, y, x


@pytest.mark.slow
def test_hundreds_of_random_layers_agree_with_the_literal_multiplier_and_accumulator() -> None:
    rng = np.random.default_rng(16)
    for _ in range(500):
        layer, cube, weights = random_layer(rng)
        result = run_exact(layer, cube, weights, AtomOrder(SMALL_ATOM))
        k, y, x = place(rng, result.shape)
        atoms = oracle.atoms_of_cube(layer, cube.tolist(), weights[k].tolist(), y, x, SMALL_ATOM)
        assert int(result[k, y, x]) == oracle.accumulated(list(atoms))


@pytest.mark.parametrize("line_group", [1, 2, 4])
def test_images_are_summed_line_by_line_in_atoms_of_neighbouring_pixels(line_group: int) -> None:
    rng = np.random.default_rng(line_group)
    for _ in range(200):
        layer, cube, weights = random_layer(rng, dilation_x=1, dilation_y=1)
        if line_group > 1 and weights.shape[1] * weights.shape[3] * line_group > 64:
            continue
        order = AtomOrder(64 if line_group > 1 else SMALL_ATOM, image=True, line_group=line_group)
        result = run_exact(layer, cube, weights, order)
        k, y, x = place(rng, result.shape)
        atoms = oracle.atoms_of_image(layer, cube.tolist(), weights[k].tolist(), y, x, order.channels, line_group)
        assert int(result[k, y, x]) == oracle.accumulated(list(atoms))


@pytest.mark.slow
def test_the_float64_reference_is_the_exact_sum_but_for_float64() -> None:
    rng = np.random.default_rng(64)
    numbers = 0
    for _ in range(600):
        layer, cube, weights = random_layer(rng)
        result = run_float64(layer, cube, weights)
        k, y, x = place(rng, result.shape)
        pairs = [
            pair
            for _, _, tap in oracle.taps(layer, cube.tolist(), weights[k].tolist(), y, x)
            for pair in oracle.flushed(tap, layer)
        ]
        if not layer.nan_to_zero and oracle.first_nan([(int(bits), 0) for bits in weights[k].ravel()]) is not None:
            pairs.append((NAN, 0))
        if oracle.first_nan(pairs) is not None:
            assert np.isnan(result[k, y, x])
            continue
        products = [oracle.value(w) * oracle.value(d) for w, d in pairs]
        error = abs(Fraction(float(result[k, y, x])) - sum(products))
        assert error <= sum(abs(product) for product in products) * Fraction(len(products), 1 << 52)
        numbers += 1
    assert numbers > 300


def part_of_threshold(layer: ConvParams, cube: NDArray[Any], weights: NDArray[Any], module: Module) -> float:
    """Return the largest part of the allowance that exact outputs use; all must be inside."""
    expected = run_float64(layer, cube, weights)
    actual = narrow(run_exact(layer, cube, weights, AtomOrder(64)), FP32).astype(np.uint16)
    rule = threshold(layer, cube, weights, expected)
    assert rule.module is module
    verdict = compare(expected, actual, rule)
    assert verdict.passed, str(verdict)
    return verdict.worst


@pytest.mark.slow
def test_every_exact_output_is_inside_the_threshold_and_the_allowance_is_not_far_too_wide() -> None:
    rng = np.random.default_rng(65)
    assert 0.4 < max(part_of_threshold(*random_layer(rng), Module.DC) for _ in range(150)) <= 1.0


def sum_of(*products: tuple[int, int]) -> int:
    """Return the FP16 pattern of the sum of products of (weight, data), in one atom."""
    weights = np.array([w for w, _ in products], np.uint16)
    data = np.array([d for _, d in products], np.uint16)
    result = run_exact(
        fp16(), data[:, np.newaxis, np.newaxis], weights[np.newaxis, :, np.newaxis, np.newaxis], AtomOrder(64)
    )
    return int(narrow(result, FP32)[0, 0, 0])


ONE = 0x3C00


@pytest.mark.parametrize(
    ("products", "expected"),
    [
        ([(ONE, ONE), (ONE, INFINITY)], 0x7BFF),
        ([(ONE, ONE), (ONE, INFINITY), (ONE, 0xFC00)], 0x3BFE),
        ([(0x8000, ONE)], 0x0000),
        ([(0x0001, ONE)], 0x0001),
        ([(0x0001, 0x0001)], 0x0000),
        ([(0x7BFF, 0x7BFF)], 0x7BFF),
        ([(0xFBFF, 0x7BFF)], 0xFBFF),
        ([(NAN, 0x0000)], NAN),
        ([(ONE, 0xFD23), (ONE, NAN)], 0xFD23),
        ([(ONE, 0xFD23), (NAN, ONE)], NAN),
        ([(INFINITY, 0x0000)], 0x0000),
    ],
)
def test_special_numbers_give_what_the_hardware_gives(products: list[tuple[int, int]], expected: int) -> None:
    assert f"{sum_of(*products):#06x}" == f"{expected:#06x}"


def test_of_two_nan_the_first_atoms_counts() -> None:
    data = np.full((9, 1, 2), ONE, np.uint16)
    weights = np.full((1, 9, 1, 2), ONE, np.uint16)
    data[8, 0, 0], weights[0, 3, 0, 1] = NAN, 0xFE02  # third and second atom of four
    (result,) = run_exact(fp16(), data, weights, AtomOrder(8)).ravel()
    assert int(result) == 0xFF800202


def test_blocks_of_lines_and_kernels_fit_together() -> None:
    rng = np.random.default_rng(66)
    cube, weights = patterns(rng, (66, 20, 40)), patterns(rng, (20, 66, 2, 1))
    layer = fp16(pad_bottom=1, pad_value=ONE)
    result = run_exact(layer, cube, weights, AtomOrder(64))
    reference = run_float64(layer, cube, weights)
    for _ in range(12):
        k, y, x = place(rng, result.shape)
        window = np.pad(cube, ((0, 0), (0, 1), (0, 0)), constant_values=ONE)[:, y : y + 2, x : x + 1]
        alone = run_exact(fp16(), window, weights[k : k + 1], AtomOrder(64))
        assert result[k, y, x] == alone[0, 0, 0]
        np.testing.assert_allclose(reference[k, y, x], run_float64(fp16(), window, weights[k : k + 1])[0, 0, 0])


def test_each_kind_of_sum_refuses_the_other_kind_of_numbers() -> None:
    bits, numbers = np.zeros((1, 1, 1), np.uint16), np.zeros((1, 1, 1), np.int8)
    with refused("precision must be INT8 or INT16 for integer sums, not FP16"):
        accumulate(fp16(), bits, bits[np.newaxis])
    for compute in (run_float64, lambda *arrays: run_exact(*arrays, AtomOrder(64))):
        with refused("precision must be FP16 for floating sums, not INT8"):
            compute(params(), numbers, numbers[np.newaxis])
        with refused("cube must be uint16, not int8"):
            compute(fp16(), numbers, bits[np.newaxis])


@pytest.mark.parametrize("value", [-1, 0x10000])
def test_a_padding_value_that_is_no_pattern_is_refused(value: int) -> None:
    with refused(f"pad_value must be an integer from 0 to 65535, not {value}"):
        fp16(pad_value=value)
    assert FP16.dtype == np.uint16
