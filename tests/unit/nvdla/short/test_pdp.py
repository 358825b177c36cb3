"""The short form of pooling: what it computes, its parts, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.layers import PdpLayer, PooledLayer, WidthSplit
from nvdla_tb.nvdla.short import Conv, Pdp, Sdp
from tests.unit.nvdla.short.playing import Array, Desk, cut


def windows(cube: Array, window: tuple[int, int], stride: tuple[int, int]) -> Array:
    """Return the elements of each window, (C, H, W, elements)."""
    out = [(size - side) // step + 1 for size, side, step in zip(cube.shape[1:], window, stride, strict=True)]
    result = np.empty((cube.shape[0], *out, window[0] * window[1]), dtype=np.int64)
    for c, y, x in np.ndindex(*result.shape[:3]):
        top, left = y * stride[0], x * stride[1]
        result[c, y, x] = cube[c, top : top + window[0], left : left + window[1]].ravel()
    return result


def test_windows_lie_side_by_side_unless_there_is_a_stride() -> None:
    desk = Desk()
    cube = desk.bytes(11, 6, 8)
    first = Pdp(desk.place(cube), desk.reserve((11, 3, 4)), window=2)
    second = Pdp(desk.place(cube), desk.reserve((11, 4, 7)), window=(3, 2), stride=1, method="min")
    largest, smallest = desk.played(first, second)
    np.testing.assert_array_equal(largest, windows(cube, (2, 2), (2, 2)).max(-1).astype(np.int8), strict=True)
    np.testing.assert_array_equal(smallest, windows(cube, (3, 2), (1, 1)).min(-1).astype(np.int8), strict=True)


def test_the_average_counts_the_padding() -> None:
    desk = Desk()
    cube = desk.bytes(11, 6, 8)
    keys = {"window": 4, "stride": 2, "padding": (1, 1, 2, 0), "method": "average", "pad_value": 9}
    (got,) = desk.played(Pdp(desk.place(cube), desk.reserve((11, 3, 4)), **keys))
    padded = np.pad(cube.astype(int), ((0, 0), (1, 1), (2, 0)), constant_values=9)
    exact = windows(padded, (4, 4), (2, 2)).mean(-1)
    assert np.abs(got - exact).max() <= 1


def test_what_a_convolution_or_sdp_hands_on_is_pooled_on_the_fly() -> None:
    desk = Desk()
    cube, weights = desk.bytes(11, 6, 8), desk.bytes(16, 11, 1, 1)
    src, kernels = desk.place(cube), desk.place_weights(weights)
    layers = [
        Pdp(Conv(src, kernels, truncate=5, relu=True), desk.reserve((16, 3, 4)), window=2),
        Pdp(Sdp(src, bias=7), desk.reserve((11, 3, 4)), window=2),
    ]
    assert all(isinstance(layer, PooledLayer) for layer in layers)
    fused, other = desk.played(*layers)
    sums = np.einsum("kc,chw->khw", weights[:, :, 0, 0].astype(int), cube.astype(int))
    convolved = cut(np.maximum(np.sign(sums) * ((np.abs(sums) + 16) >> 5), 0))
    np.testing.assert_array_equal(fused, windows(convolved, (2, 2), (2, 2)).max(-1).astype(np.int8), strict=True)
    added = cut(cube.astype(int) + 7)
    np.testing.assert_array_equal(other, windows(added, (2, 2), (2, 2)).max(-1).astype(np.int8), strict=True)


@pytest.mark.parametrize(
    ("width", "split"),
    [
        (129, None),
        (130, WidthSplit(2, 66, 0, 64, 65, 0, 64)),
        (258, WidthSplit(3, 87, 86, 85, 86, 86, 85)),
    ],
)
def test_an_output_wider_than_the_line_buffer_is_cut(width: int, split: WidthSplit | None) -> None:
    desk = Desk()
    cube = desk.bytes(3, 2, width)
    layer = Pdp(desk.place(cube), desk.reserve((3, 2, width - 1)), window=(1, 2), stride=1)
    assert isinstance(layer, PdpLayer)
    assert layer.split == split
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, windows(cube, (1, 2), (1, 1)).max(-1).astype(np.int8), strict=True)


def test_a_split_may_be_given() -> None:
    desk = Desk()
    split = WidthSplit(2, 4, 0, 4, 2, 0, 2)
    layer = Pdp(desk.place(desk.bytes(3, 2, 8)), desk.reserve((3, 1, 4)), window=2, split=split)
    assert isinstance(layer, PdpLayer)
    assert layer.split == split


@pytest.mark.parametrize(
    ("parts", "split"),
    [
        (1, None),
        (2, WidthSplit(2, 7, 0, 4, 5, 0, 4)),
        (np.int64(4), WidthSplit(4, 4, 2, 3, 2, 2, 3)),
        (9, WidthSplit(9, 3, 1, 1, 1, 1, 1)),
    ],
)
def test_the_number_of_parts_may_be_given(parts: int, split: WidthSplit | None) -> None:
    desk = Desk()
    cube = desk.bytes(3, 2, 11)
    layer = Pdp(desk.place(cube), desk.reserve((3, 1, 9)), window=(2, 3), stride=1, split=parts)
    assert isinstance(layer, PdpLayer)
    assert layer.split == split
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, windows(cube, (2, 3), (1, 1)).max(-1).astype(np.int8), strict=True)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"window": 9}, r"window must be an integer from 1 to 8, not 9"),
    ({"window": 0}, r"window must be an integer from 1 to 8, not 0"),
    ({"window": 2, "method": "mean"}, r"method must be one of max, min, average, not 'mean'"),
    (
        {"window": 2, "padding": 2},
        r"padding at the top must be at least 0 and less than the window's height of 2, not 2",
    ),
    ({"window": 2, "stride": 17}, r"stride must be an integer from 1 to 16, not 17"),
    ({"window": 3}, r"width with padding minus the kernel's 3 must be a multiple of the stride 3, not 5"),
    ({"window": 2, "pad_value": 3}, r"pad_value must be 0 for max, which ignores padding, not 3"),
    ({"window": 2, "pad_value": 0.5, "method": "average"}, r"pad_value must be an integer for INT8, not 0\.5"),
    (
        {"window": 2, "pad_value": 37450, "method": "average"},
        r"pad_value must be an integer from -37449 to 37449, not 37450",
    ),
    ({"window": 2, "split": 0}, r"split must be 1 to the output width 4, not 0"),
    ({"window": 2, "split": 5}, r"split must be 1 to the output width 4, not 5"),
    ({"window": 2, "nan_to_zero": True}, r"nan_to_zero must be False for INT8, which has no NaN"),
]


@pytest.mark.parametrize(("keys", "message"), REFUSED)
def test_what_cannot_be_is_refused(keys: dict[str, Any], message: str) -> None:
    desk = Desk()
    with pytest.raises(InputError, match=f"^{message}$"):
        Pdp(desk.place(desk.bytes(11, 8, 8)), desk.reserve((11, 4, 4)), **keys)


def test_a_result_on_the_fly_is_not_cut() -> None:
    desk = Desk()
    sdp = Sdp(desk.place(desk.bytes(3, 2, 8)))
    with pytest.raises(InputError, match=r"^split must be left out on the fly, where PDP takes lines as a whole$"):
        Pdp(sdp, desk.reserve((3, 1, 4)), window=2, split=WidthSplit(2, 4, 0, 4, 2, 0, 2))
