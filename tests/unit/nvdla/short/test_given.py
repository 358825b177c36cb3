"""What a user gives by mistake is refused in one line that names the argument: arrays, dtypes, layers, short tuples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.short import Bdma, Cdp, Conv, Pdp, Rubik, Sdp
from tests.unit.nvdla.short.playing import Desk

SHAPE = (16, 4, 4)


def anything(value: object) -> Any:
    """Return a value as a test without type checks would give it."""
    return cast("Any", value)


CUBE = r"Surface \(from place or reserve\)"

MISTAKES: list[tuple[Callable[[Desk, Any, Any], Any], str]] = [
    (
        lambda desk, src, dst: Conv(desk.bytes(*SHAPE), dst, dst),
        rf"src must be {CUBE} or ImageSurface \(from place_image\), not ndarray",
    ),
    (
        lambda desk, src, dst: Conv(src, desk.bytes(8, 16, 3, 3), dst),
        r"weights must be WeightSurface \(from place_weights\), not ndarray",
    ),
    (lambda desk, src, dst: Sdp(desk.bytes(*SHAPE), dst), f"src must be {CUBE}, not ndarray"),
    (lambda desk, src, dst: Sdp(Sdp(src), dst), f"src must be {CUBE}, not SdpLayer"),
    (
        lambda desk, src, dst: Sdp(convolution(desk, src), dst),
        "src must be in memory, not a Conv, which takes the steps of Sdp as arguments of its own",
    ),
    (lambda desk, src, dst: Cdp(Sdp(src), dst), f"src must be {CUBE}, not SdpLayer"),
    (lambda desk, src, dst: Cdp(src, dst, alpha=anything("1")), "alpha must be a finite number, not '1'"),
    (lambda desk, src, dst: Cdp(src, dst, beta=float("nan")), "beta must be a finite number, not nan"),
    (lambda desk, src, dst: Pdp(src, None, window=2), f"dst must be {CUBE}, not NoneType"),
    (
        lambda desk, src, dst: Pdp(src, dst, window=1, split=anything(2)),
        "split must be WidthSplit or None, not int",
    ),
    (
        lambda desk, src, dst: Pdp(src, dst, window=1, nan_to_zero=anything(1)),
        "nan_to_zero must be True or False, not 1",
    ),
    (
        lambda desk, src, dst: Pdp(Sdp(src, dst), dst, window=1),
        "src must be a layer without dst, whose result PDP takes on the fly",
    ),
    (
        lambda desk, src, dst: Rubik(src, SHAPE),
        rf"dst must be {CUBE} or PlanarSurface \(from place_planes or reserve_planes\), not tuple",
    ),
    (
        lambda desk, src, dst: Bdma(src, SHAPE),
        rf"dst must be {CUBE} or LinesSurface \(from place_lines or reserve_lines\), not tuple",
    ),
    (
        lambda desk, src, dst: Sdp(src, dst, bias=np.arange(16, dtype=np.int16)),
        r"bias must be a number, OperandSurface \(from place_operands\) or None, not ndarray",
    ),
    (
        lambda desk, src, dst: Sdp(src, dst, residual=desk.bytes(*SHAPE)),
        f"residual must be {CUBE} or None, not ndarray",
    ),
    (lambda desk, src, dst: Sdp(src, dst, relu=anything("yes")), "relu must be True or False, not 'yes'"),
    (
        lambda desk, src, dst: Sdp(src, dst, convert=(0, 1)),
        r"convert must be the integers \(offset, scale, shift\), not \(0, 1\)",
    ),
    (
        lambda desk, src, dst: Sdp(src, dst, convert=(0, 1, 64)),
        "shift of convert must be an integer from 0 to 63, not 64",
    ),
    (
        lambda desk, src, dst: convolution(desk, src, convert_input=(0, 1 << 15, 0)),
        "scale of convert_input must be an integer from -32768 to 32767, not 32768",
    ),
    (
        lambda desk, src, dst: convolution(desk, src, banks=3),
        r"banks must be the integers \(for data, for weights\), not 3",
    ),
    (lambda desk, src, dst: convolution(desk, src, signed="no"), "signed must be True or False, not 'no'"),
    (lambda desk, src, dst: convolution(desk, src, pre_truncate=1), "pre_truncate must be 0 without Winograd, not 1"),
]


def convolution(desk: Desk, src: Any, **keys: Any) -> Any:
    """Return a convolution with kernels of ones."""
    return Conv(src, desk.place_weights(np.ones((8, 16, 1, 1), np.int8)), **keys)


@pytest.mark.parametrize(("make", "message"), MISTAKES)
def test_an_argument_of_another_type_is_refused_by_its_name(
    make: Callable[[Desk, Any, Any], Any], message: str
) -> None:
    desk = Desk()
    src, dst = anything(desk.place(desk.bytes(*SHAPE))), anything(desk.reserve(SHAPE))
    with pytest.raises(InputError, match=f"^{message}$"):
        make(desk, src, dst)


def test_a_conversion_of_the_input_has_three_numbers() -> None:
    desk = Desk()
    src, weights = desk.place(desk.bytes(*SHAPE)), desk.place_weights(desk.bytes(8, 16, 3, 3))
    message = r"convert_input must be the integers \(offset, scale, shift\), not 128"
    with pytest.raises(InputError, match=f"^{message}$"):
        Conv(src, weights, convert_input=anything(128))
