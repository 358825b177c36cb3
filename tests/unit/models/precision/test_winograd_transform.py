"""The Winograd transforms: identity with a convolution, literal loops, the measured INT16 layers."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_models.fp16 import FP16
from nvdla_models.precision import Precision
from nvdla_models.tolerance.conv import Window, window_sum
from nvdla_models.winograd_transform import tiles, transform_fp16, transform_integer, untransform
from tests.unit.models.support import refused

INPUT_MATRIX = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
# Twice the weight transform: integers.
WEIGHT_MATRIX = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]])


def test_the_transforms_make_a_convolution() -> None:
    rng = np.random.default_rng(2)
    cube, weight = rng.integers(-99, 99, (3, 6, 9)), rng.integers(-99, 99, (2, 3, 3, 3))
    data = transform_integer(tiles(cube, 1, 1, 6, 8), 0, Precision.INT16)
    kernel = WEIGHT_MATRIX @ weight @ WEIGHT_MATRIX.T
    sums = np.einsum("kcuv,cabuv->kabuv", kernel, data)
    window = Window(pad_left=1, pad_right=0, pad_top=1, pad_bottom=1)
    expected = window_sum(cube.astype(float), weight.astype(float), window)
    np.testing.assert_array_equal(untransform(sums), 4 * expected.astype(np.int64))


def test_a_tile_is_transformed_by_the_matrix_on_both_sides() -> None:
    tile = np.random.default_rng(1).integers(-100, 100, (4, 4))
    np.testing.assert_array_equal(transform_integer(tile, 0, Precision.INT16), INPUT_MATRIX @ tile @ INPUT_MATRIX.T)


@pytest.mark.parametrize(("truncate_bits", "result"), [(0, 5), (1, 3), (2, 1), (3, 1)])
def test_pra_truncation_rounds_half_away_from_zero(truncate_bits: int, result: int) -> None:
    tile = np.zeros((4, 4), dtype=np.int16)
    tile[0, 0] = 5
    assert transform_integer(tile, truncate_bits, Precision.INT8)[0, 0] == result
    assert transform_integer(-tile, truncate_bits, Precision.INT8)[0, 0] == -result


@pytest.mark.parametrize(("precision", "largest"), [(Precision.INT8, 127), (Precision.INT16, 32767)])
def test_the_integer_transform_saturates_at_the_bits_of_the_precision(precision: Precision, largest: int) -> None:
    tile = np.zeros((4, 4), dtype=np.int16)
    tile[1:3, 1:3] = largest
    assert transform_integer(tile, 0, precision)[1, 1] == largest
    assert transform_integer(tile, 2, precision)[1, 1] == largest
    assert transform_integer(-tile, 0, precision)[1, 1] == -largest - 1


def test_a_truncation_beyond_its_register_is_refused() -> None:
    with refused("truncate must be an integer from 0 to 3, not 4"):
        transform_integer(np.zeros((4, 4), dtype=np.int16), 4, Precision.INT16)


@pytest.mark.parametrize("size", [(3, 4), (4, 0)])
def test_an_output_that_is_not_made_of_tiles_is_refused(size: tuple[int, int]) -> None:
    name, value = ("height", 3) if size[0] == 3 else ("width", 0)
    with refused(f"{name} must be a positive multiple of 2 for Winograd, not {value}"):
        tiles(np.zeros((1, 4, 4)), 0, 0, *size)


def test_fp16_sums_are_rounded_to_fp17_after_each_addition_and_to_fp16_at_the_end() -> None:
    tile = np.zeros((4, 4), dtype=np.float16)
    tile[1, 1], tile[2, 1], tile[1, 2] = 2048.0, 1.0, 1.0
    # Rows first: 2048 + 1 is a tie and stays 2048; then 2048 + 1 again. Exact would be 2050.
    assert FP16.decode(transform_fp16(tile.view(np.uint16)))[1, 1] == 2048.0


def test_fp16_infinity_becomes_65504_and_nan_poisons_the_tile_values_it_enters() -> None:
    tile = np.zeros((4, 4), dtype=np.float16)
    tile[0, 0] = np.inf
    assert FP16.decode(transform_fp16(tile.view(np.uint16)))[0, 0] == 65504.0
    tile[0, 0] = np.nan
    assert np.isnan(FP16.decode(transform_fp16(tile.view(np.uint16)))[0, 0])


def test_the_first_nan_of_a_sum_counts_and_turns_its_sign_where_it_is_subtracted() -> None:
    tile = np.zeros((4, 4), dtype=np.uint16)
    tile[0, 1:], tile[3, 0], tile[3, 3] = (0xFE84, 0x7CDC, 0xFCBE), 0xFDB9, 0x7C6F
    # As the pre-addition cell of the public nv_full RTL answers, which agrees on 20,000 tiles of random NaN.
    expected = np.zeros((4, 4), dtype=np.uint16)
    expected[0], expected[3, 0], expected[3, 3] = (0xFCDC, 0xFE84, 0x7CDC, 0xFE84), 0x7DB9, 0x7C6F
    np.testing.assert_array_equal(transform_fp16(tile), expected)
