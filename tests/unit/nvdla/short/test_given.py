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


MISTAKES: list[tuple[Callable[[Desk, Any, Any], Any], str]] = [
    (lambda desk, src, dst: Conv(desk.bytes(*SHAPE), dst, dst), "src must be Surface or ImageSurface, not ndarray"),
    (lambda desk, src, dst: Conv(src, desk.bytes(8, 16, 3, 3), dst), "weights must be WeightSurface, not ndarray"),
    (lambda desk, src, dst: Sdp(desk.bytes(*SHAPE), dst), "src must be Surface, not ndarray"),
    (lambda desk, src, dst: Sdp(Sdp(src), dst), "src must be Surface, not SdpLayer"),
    (lambda desk, src, dst: Cdp(Sdp(src), dst), "src must be Surface, not SdpLayer"),
    (lambda desk, src, dst: Pdp(src, None, window=2), "dst must be Surface, not NoneType"),
    (lambda desk, src, dst: Rubik(src, SHAPE), "dst must be Surface or PlanarSurface, not tuple"),
    (lambda desk, src, dst: Bdma(src, SHAPE), "dst must be Surface or LinesSurface, not tuple"),
    (
        lambda desk, src, dst: Sdp(src, dst, bias=np.arange(16, dtype=np.int16)),
        "bias must be int or float or number or OperandSurface or None, not ndarray",
    ),
    (lambda desk, src, dst: Sdp(src, dst, residual=desk.bytes(*SHAPE)), "residual must be Surface or None, not .*"),
    (
        lambda desk, src, dst: Sdp(src, dst, convert=(0, 1)),
        r"convert must be the integers \(offset, scale, shift\), not \(0, 1\)",
    ),
]


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
