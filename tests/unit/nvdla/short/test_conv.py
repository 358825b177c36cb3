"""The short form of convolutions: what it computes, the share of the buffer, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.short import Conv
from nvdla_tb.nvdla.surfaces import CbufUse
from tests.unit.nvdla.short.playing import Array, Desk, cut, shifted


def sums(cube: Array, weights: Array, stride: tuple[int, int] = (1, 1), dilation: tuple[int, int] = (1, 1)) -> Array:
    """Return the sums of each window of a padded cube, one after the other."""
    kernels, _, rows, columns = weights.shape
    reach = [(side - 1) * step + 1 for side, step in zip((rows, columns), dilation, strict=True)]
    out = [(size - span) // step + 1 for size, span, step in zip(cube.shape[1:], reach, stride, strict=True)]
    result = np.empty((kernels, *out), dtype=np.float64 if cube.dtype.kind == "f" else np.int64)
    for k, y, x in np.ndindex(*result.shape):
        top, left = y * stride[0], x * stride[1]
        window = cube[:, top : top + reach[0] : dilation[0], left : left + reach[1] : dilation[1]]
        result[k, y, x] = (window.astype(result.dtype) * weights[k]).sum()
    return result


def test_padding_stride_and_dilation_are_along_h_and_w() -> None:
    desk = Desk()
    cube, weights = desk.bytes(11, 9, 12), desk.bytes(10, 11, 3, 2)
    padded = np.pad(cube, ((0, 0), (2, 1), (0, 2)), constant_values=-5)
    expected = sums(padded, weights, (2, 3), (1, 3))
    src, placed, dst = desk.place(cube), desk.place_weights(weights), desk.reserve((10, 5, 4))
    keys = {"stride": (2, 3), "dilation": (1, 3), "padding": (2, 1, 0, 2), "pad_value": -5, "truncate": 7}
    (got,) = desk.played(Conv(src, placed, dst, relu=True, **keys))
    np.testing.assert_array_equal(got, cut(np.maximum(shifted(expected, 7), 0)), strict=True)


def test_sdp_works_on_the_sums() -> None:
    desk = Desk()
    cube, weights, other = desk.bytes(16, 6, 6), desk.bytes(16, 16, 3, 3), desk.bytes(16, 6, 6)
    bias = desk.rng.integers(-9999, 10000, 16, dtype=np.int16)
    src, placed, residual = desk.place(cube), desk.place_weights(weights), desk.place(other)
    keys = {"bias": desk.place_operands(bias), "scale": 3, "shift": 12, "residual": residual}
    layer = Conv(src, placed, desk.reserve((16, 6, 6)), padding=1, convert_input=(2, 3, 1), relu=True, **keys)
    converted = cut(shifted((cube.astype(int) - 2) * 3, 1))
    wide = sums(np.pad(converted, ((0, 0), (1, 1), (1, 1))), weights)
    expected = shifted((wide + bias[:, None, None]) * 3, 12) + other
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, cut(np.maximum(expected, 0)), strict=True)


def test_an_image_is_converted_and_multiplied() -> None:
    desk = Desk()
    pixels, weights = desk.rng.integers(0, 256, (4, 7, 9), dtype=np.uint8), desk.bytes(16, 4, 3, 3)
    src = desk.place_image(pixels, "T_A8R8G8B8", x_offset=1)
    placed, dst = desk.place_weights(weights, image=True, post_extension=1), desk.reserve((16, 3, 4))
    mean = (99, 88, 77, 0)
    layer = Conv(src, placed, dst, stride=2, convert_input=(0, 1, 1), mean=mean, truncate=6)
    converted = cut(shifted(pixels.astype(int) - np.reshape(mean, (4, 1, 1)), 1))
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, cut(shifted(sums(converted, weights, (2, 2)), 6)), strict=True)


def test_a_mean_alone_turns_the_converter_on() -> None:
    desk = Desk()
    src = desk.place_image(np.full((1, 4, 4), 200, np.uint8), "T_R8")
    placed = desk.place_weights(np.ones((8, 1, 1, 1), np.int8), image=True)
    (got,) = desk.played(Conv(src, placed, desk.reserve((8, 4, 4)), mean=(150,)))
    assert (got == 50).all()


def test_zeros_are_left_out_of_compressed_kernels() -> None:
    desk = Desk("nv_full")
    cube, weights = desk.bytes(40, 4, 4), desk.bytes(20, 40, 3, 3)
    weights[desk.rng.random(weights.shape) < 0.7] = 0
    layer = Conv(desk.place(cube), desk.place_weights(weights, compressed=True), desk.reserve((20, 2, 2)), truncate=6)
    assert layer.cbuf == CbufUse(1, 14, release_slices=4)
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, cut(shifted(sums(cube, weights), 6)), strict=True)


def test_winograd_follows_from_the_kernels() -> None:
    desk = Desk("nv_full")
    cube, weights = desk.halves(32, 10, 10), desk.halves(16, 32, 3, 3)
    dst = desk.reserve((16, 8, 8), Precision.FP16)
    layer = Conv(desk.place(cube), desk.place_weights(weights, winograd=True), dst, padding=1, pad_value=0.0)
    assert layer.params.winograd
    (got,) = desk.played(layer)
    expected = sums(np.pad(cube, ((0, 0), (1, 1), (1, 1))).astype(np.float64), weights.astype(np.float64))
    assert got.shape == (16, 8, 8)
    np.testing.assert_allclose(got[:, :, :].astype(np.float64), expected[:, :8, :8], atol=0.2)


def test_the_input_takes_as_few_banks_as_hold_it_and_the_weights_all_others() -> None:
    desk = Desk()
    src = desk.place(desk.bytes(64, 20, 20))
    weights = desk.place_weights(desk.bytes(16, 64, 3, 3))
    # 20 lines of 160 entries of 8 bytes take 3200 of the 512 of each bank.
    assert Conv(src, weights).cbuf == CbufUse(7, 25, release_slices=20)
    assert Conv(src, weights, banks=(8, 3)).cbuf == CbufUse(8, 3, release_slices=20)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"stride": 9}, r"stride must be an integer from 1 to 8, not 9"),
    ({"stride": (1, 2, 3)}, r"stride must be an integer or a pair \(along H, along W\), not \(1, 2, 3\)"),
    (
        {"padding": (1, 2, 3)},
        r"padding must be an integer, \(top and bottom, left and right\) or \(top, bottom, left, right\), "
        r"not \(1, 2, 3\)",
    ),
    ({"stride": 1.5}, r"stride must be an integer or a pair \(along H, along W\), not 1\.5"),
    ({"dilation": 33}, r"dilation must be an integer from 1 to 32, not 33"),
    ({"padding": 3}, r"padding at the top must be at least 0 and less than the dilated kernel's height of 3, not 3"),
    ({"padding": (0, 0, -1, 0)}, r"padding at the left must be at least 0 and less than the .*'s width of 3, not -1"),
    ({"pad_value": 0.5}, r"pad_value must be an integer for INT8, not 0\.5"),
    ({"mean": (1,)}, r"mean must be left out, because src is a feature cube and no image"),
    ({"signed": True}, r"signed must be left out, because src is a feature cube and no image"),
    ({"banks": (1, 1)}, r"data_banks must hold 6 slices of 12 entries, not 1 banks of 512 entries"),
]


@pytest.mark.parametrize(("keys", "message"), REFUSED[:-1])
def test_what_cannot_be_is_refused(keys: dict[str, Any], message: str) -> None:
    desk = Desk()
    src, weights = desk.place(desk.bytes(16, 6, 6)), desk.place_weights(desk.bytes(16, 16, 3, 3))
    with pytest.raises(InputError, match=f"^{message}$"):
        Conv(src, weights, **keys)


def test_an_input_that_leaves_no_bank_to_the_weights_is_refused() -> None:
    desk = Desk()
    src, weights = desk.place(desk.bytes(64, 41, 50)), desk.place_weights(desk.bytes(8, 64, 1, 1))
    message = (
        r"src must leave a bank of the convolution buffer to the weights, but its 41 lines of 400 entries take 33 of "
        r"the 32 banks of nv_small"
    )
    with pytest.raises(InputError, match=f"^{message}$"):
        Conv(src, weights)


def test_kernels_of_an_image_are_not_those_of_a_cube() -> None:
    desk = Desk()
    src, weights = desk.place(desk.bytes(4, 6, 6)), desk.place_weights(desk.bytes(16, 4, 3, 3), image=True)
    message = r"weights must be laid out for direct convolution, because src is a feature cube"
    with pytest.raises(InputError, match=f"^{message}$"):
        Conv(src, weights)
