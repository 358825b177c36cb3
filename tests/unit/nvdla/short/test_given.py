"""What a user gives by mistake is refused in one line that names the argument: arrays, dtypes, layers, short tuples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

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
        lambda desk, src, dst: Pdp(src, dst, window=1, split=anything("2")),
        "split must be int, WidthSplit or None, not str",
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
        r"banks must be the integers \(for data, for weights\), each at least 1, .* together on nv_small, not 3",
    ),
    (
        lambda desk, src, dst: convolution(desk, src, banks=(40, 1)),
        r"banks must be the integers .*, at most 32 together on nv_small, not \(40, 1\)",
    ),
    (lambda desk, src, dst: convolution(desk, src, pad_value=3), "pad_value must be 0 without padding, not 3"),
    (lambda desk, src, dst: Sdp(src, dst, lut="silu"), "lut must be HybridLut or None, not str"),
    (lambda desk, src, dst: Cdp(src, dst, size=anything(5.0)), r"size must be an integer, not 5\.0"),
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


@pytest.mark.parametrize(
    ("mean", "said"),
    [
        ((100, 110, 120), r"\(100, 110, 120\)"),
        (4, "4"),
        ((1, 2, 3, 4, 5), r"\(1, 2, 3, 4, 5\)"),
        ((123.7, 116.3, 103.5, 0), r"\(123\.7, 116\.3, 103\.5, 0\)"),
        ((1 << 20, 0, 0, 0), r"\(1048576, 0, 0, 0\)"),
    ],
)
def test_a_mean_has_an_integer_for_each_channel(mean: object, said: str) -> None:
    desk = Desk()
    image = desk.place_image(np.zeros((4, 8, 8), np.uint8), "T_A8B8G8R8")
    weights = desk.place_weights(desk.bytes(8, 4, 3, 3), image=True)
    rule = "4 integers, one for each channel, from -32768 to 32767 for T_A8B8G8R8"
    with pytest.raises(InputError, match=f"^mean must be {rule}, not {said}$"):
        Conv(image, weights, mean=anything(mean))


def test_an_image_of_another_width_needs_a_converter() -> None:
    desk = Desk("nv_full")
    image = desk.place_image(np.zeros((1, 8, 8), np.uint16), "T_R16")
    weights = desk.place_weights(desk.bytes(8, 1, 3, 3), image=True)
    with pytest.raises(InputError, match=r"^convert_input must be given to make INT8 of the pixels of T_R16$"):
        Conv(image, weights)


def halves(*shape: int) -> NDArray[np.float16]:
    return np.ones(shape, np.float16)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"truncate": 3}, "truncate must be 0 for FP16, which has none, not 3"),
        (
            {"padding": 1, "pad_value": 1e9},
            r"pad_value must be a number from -65504 to 65504 for FP16, not 1000000000\.0",
        ),
        (
            {"padding": 1, "pad_value": float("nan")},
            "pad_value must be a number from -65504 to 65504 for FP16, not nan",
        ),
        ({"bias": 70000}, "bias must be a number from -65504 to 65504 for FP16, not 70000"),
    ],
)
def test_what_fp16_does_not_have_is_refused(keys: dict[str, Any], message: str) -> None:
    desk = Desk("nv_full")
    src, weights = desk.place(halves(*SHAPE)), desk.place_weights(halves(16, 16, 3, 3))
    with pytest.raises(InputError, match=f"^{message}$"):
        Conv(src, weights, **keys)


def test_operands_that_sdp_cannot_compute_with_are_refused_with_the_kind_that_it_can() -> None:
    desk = Desk("nv_full")
    src, cube = desk.place(halves(*SHAPE)), desk.place(desk.bytes(*SHAPE))
    with pytest.raises(InputError, match=r"^residual must be a cube of FP16, not of INT8$"):
        Sdp(src, residual=cube)
    with pytest.raises(InputError, match=r"^bias must be placed from int8 or int16 here, as SDP computes in INT8$"):
        Sdp(cube, bias=desk.place_operands(halves(16)))


def test_numbers_of_numpy_are_numbers() -> None:
    desk = Desk()
    src, weights = desk.place(desk.bytes(*SHAPE)), desk.place_weights(desk.bytes(16, 16, 3, 3))
    two = np.int64(2)
    keys: dict[str, Any] = {"stride": two, "padding": (two, 1), "truncate": two, "shift": two, "convert": (0, two, two)}
    plain = {"stride": 2, "padding": (2, 1), "truncate": 2, "shift": 2, "convert": (0, 2, 2)}
    assert Conv(src, weights, **keys) == Conv(src, weights, **plain)
    pooled = desk.reserve((16, 2, 2))
    assert Pdp(src, pooled, window=two) == Pdp(src, pooled, window=2)
