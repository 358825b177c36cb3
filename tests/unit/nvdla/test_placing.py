"""Arrays in memory: where they lie, that they are found again, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.short import Conv, Pdp, Sdp
from tests.unit.nvdla.short.playing import Desk


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float16])
def test_a_cube_is_read_back_as_it_was_placed(dtype: type) -> None:
    desk = Desk("nv_full")
    cube = desk.rng.integers(-100, 100, (33, 2, 3)).astype(dtype)
    got = desk.read_back(desk.place(cube))
    np.testing.assert_array_equal(got, cube, strict=True)


def test_strides_leave_gaps_that_nobody_has_written() -> None:
    desk = Desk()
    cube = desk.bytes(16, 2, 3)
    surface = desk.place(cube, line_stride_bytes=32, surface_stride_bytes=80)
    assert surface.layout.nbytes == 80 + 32 + 24
    written = desk.memories[Ram.MC].written(surface.address, surface.layout.nbytes)
    assert written.sum() == 2 * 2 * 3 * 8
    np.testing.assert_array_equal(desk.read_back(surface), cube, strict=True)


def test_a_line_stride_alone_moves_the_surfaces_too() -> None:
    layout = Desk().reserve((16, 2, 3), line_stride_bytes=32).layout
    assert (layout.line_stride_bytes, layout.surface_stride_bytes) == (32, 64)


def test_planes_lines_and_the_second_memory_are_read_back() -> None:
    desk = Desk("nv_full")
    cube, data = desk.halves(5, 2, 3), desk.rng.integers(0, 256, (2, 3, 32), dtype=np.uint8)
    np.testing.assert_array_equal(desk.read_back(desk.place_planes(cube, ram=Ram.CVSRAM)), cube, strict=True)
    np.testing.assert_array_equal(desk.read_back(desk.place_lines(data, ram=Ram.CVSRAM)), data, strict=True)
    assert desk.memories[Ram.MC].allocations == ()


def test_both_planes_of_an_image_are_where_the_layer_looks_for_them() -> None:
    desk = Desk("nv_full")
    image = desk.rng.integers(0, 256, (3, 4, 50), dtype=np.uint8)
    surface = desk.place_image(image, "T_Y8___U8V8_N444", x_offset=3)
    data = [
        desk.memories[Ram.MC].read(address, nbytes)
        for address, nbytes in zip(surface.addresses, surface.layout.plane_nbytes, strict=True)
    ]
    np.testing.assert_array_equal(surface.layout.unpack(b"".join(data)), image, strict=True)


def test_weights_end_with_the_last_entry_that_they_reach() -> None:
    surface = Desk().place_weights(np.ones((3, 5, 1, 1), np.int8))
    assert (surface.fetched_bytes, surface.address % 256) == (16, 0)
    assert surface.layout.nbytes == 128


@pytest.mark.parametrize(("dtype", "nbytes"), [(np.int8, 1), (np.int16, 2)])
def test_operands_of_either_width_are_for_int8(dtype: type, nbytes: int) -> None:
    layout = Desk().place_operands(np.arange(11, dtype=dtype)).layout
    assert (layout.shape, layout.precision, layout.component_bytes) == ((11, 1, 1), Precision.INT8, nbytes)


REFUSED: list[tuple[Callable[[Desk], Any], str]] = [
    (
        lambda desk: desk.place(np.zeros((2, 2), np.int8)),
        r"cube must have the axes \(C, H, W\), not the shape \(2, 2\)",
    ),
    (
        lambda desk: desk.place(np.zeros((8, 2, 2), np.int64)),
        r"dtype of cube must be one of int8, int16, float16, not int64",
    ),
    (lambda desk: desk.place(cast("Any", [[[1]]])), r"cube must be a numpy array, not list"),
    (
        lambda desk: desk.reserve((8, 2, 2), cast("Any", "fp16")),
        r"precision must be a Precision, such as Precision\.FP16, not 'fp16'",
    ),
    (
        lambda desk: desk.reserve_planes((8, 2, 2), cast("Any", np.int8)),
        r"precision must be a Precision, such as Precision\.FP16, not <class 'numpy\.int8'>",
    ),
    (lambda desk: desk.reserve(cast("Any", 8)), r"shape must be the integers \(C, H, W\), not 8"),
    (
        lambda desk: desk.reserve(cast("Any", (8, 2, 2.0))),
        r"shape must be the integers \(C, H, W\), not \(8, 2, 2\.0\)",
    ),
    (
        lambda desk: desk.reserve_lines(cast("Any", (1, 32))),
        r"shape must be the integers \(surfaces, lines, bytes\), not \(1, 32\)",
    ),
    (lambda desk: desk.reserve((8, 2, 2), ram=cast("Any", "MC")), r"ram must be Ram\.MC or Ram\.CVSRAM, not 'MC'"),
    (lambda desk: desk.reserve((8, 2, 2), ram=Ram.CVSRAM), r"ram must be MC on nv_small, not CVSRAM"),
    (
        lambda desk: desk.place_weights(np.zeros((8, 2, 2), np.int8)),
        r"weights must have the axes \(K, C, R, S\), not the shape \(8, 2, 2\)",
    ),
    (
        lambda desk: desk.place_weights(np.zeros((8, 2, 3, 3), np.int8), image=True, winograd=True),
        r"winograd must be False for the kernels of an image, which are multiplied directly",
    ),
    (
        lambda desk: desk.place_weights(np.zeros((8, 2, 3, 3), np.int8), image=True, post_extension=3),
        r"post_extension must be 1, 2 or 4, not 3",
    ),
    (
        lambda desk: desk.place_weights(np.zeros((8, 2, 5, 5), np.int8), winograd=True),
        r"weights must be kernels of 3 x 3 for Winograd, not of 5 x 5",
    ),
    (
        lambda desk: desk.place_weights(np.ones((8, 2, 3, 3), np.int8), winograd=True, winograd_scale=0),
        r"winograd_scale must be a finite number above 0, not 0",
    ),
    (
        lambda desk: desk.place_weights(np.ones((8, 2, 3, 3), np.int8), winograd_scale=0.5),
        r"winograd_scale must be 1 without winograd, not 0\.5",
    ),
    (
        lambda desk: desk.place_image(np.zeros((3, 8, 8), np.uint8), "T_R8G8B8"),
        r"pixel_format must be one of T_R8, (\w+, )+\w+ for nv_small, not T_R8G8B8",
    ),
    (
        lambda desk: desk.place_weights(np.zeros((8, 2, 3, 3), np.int8), post_extension=2),
        r"post_extension must be 1 but for the kernels of an image, not 2",
    ),
    (
        lambda desk: desk.place_operands(np.zeros((8, 2), np.int8)),
        r"operands must have the axes \(C,\) or \(C, H, W\), not the shape \(8, 2\)",
    ),
    (
        lambda desk: desk.place_operands(np.zeros(8, np.int8), np.zeros(8, np.int16)),
        r"multipliers must be int8 of the shape \(8,\) like the values, not int16 of \(8,\)",
    ),
    (
        lambda desk: desk.place_operands(np.zeros(8, np.int8), precision=Precision.FP16),
        r"values must be float16 for FP16, not int8",
    ),
    (
        lambda desk: desk.place_lines(np.zeros((1, 1, 32), np.int8)),
        r"data must be uint8 \(surfaces, lines, bytes\), not int8 of the shape \(1, 1, 32\)",
    ),
    (lambda desk: desk.place_lines(cast("Any", b"")), r"data must be a numpy array, not bytes"),
    (
        lambda desk: desk.place_operands(np.zeros(8, np.int8), cast("Any", 3)),
        r"multipliers must be a numpy array, not int",
    ),
    (
        lambda desk: desk.place_weights(np.zeros((8, 2, 2, 2))),
        r"dtype of weights must be one of int8, int16, float16, not float64",
    ),
    (
        lambda desk: desk.read_back(cast("Any", desk.place_weights(np.zeros((8, 2, 1, 1), np.int8)))),
        r"surface must be a cube, planes or lines in memory, not WeightSurface",
    ),
    (
        lambda desk: desk.check_placed(cast("Any", [desk.reserve((8, 2, 2))])),
        r"layers must be those that Conv, Sdp and the like return, not Surface",
    ),
    (
        lambda desk: desk.read_back(desk.reserve((8, 2, 2))),
        r"surface must be written before it is read back: 32 bytes are not, the first at 0x80000100 \(cube_0\+0x0\)",
    ),
    (
        lambda desk: desk.check_placed([Sdp(desk.place(desk.bytes(8, 2, 2)))]),
        r"dst must be given, because no Pdp takes the result on the fly",
    ),
    (
        lambda desk: desk.check_placed(
            [Conv(desk.place(desk.bytes(8, 2, 2)), desk.place_weights(np.zeros((8, 8, 1, 1), np.int8)))]
        ),
        r"dst must be given, because no Pdp takes the result on the fly",
    ),
]


@pytest.mark.parametrize(("place", "message"), REFUSED)
def test_what_cannot_be_is_refused(place: Callable[[Desk], Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        place(Desk())


def test_a_shape_may_have_numbers_of_numpy() -> None:
    shape = Desk().reserve(cast("Any", tuple(np.array([8, 2, 3])))).shape
    assert [type(number) for number in shape] == [int, int, int]


def test_a_layer_that_writes_to_memory_is_placed() -> None:
    desk = Desk()
    src, dst = desk.place(desk.bytes(8, 2, 2)), desk.reserve((8, 1, 1))
    desk.check_placed([Pdp(Sdp(src), dst, window=2)])


def test_whatever_lies_in_memory_has_a_shape_and_says_where_it_lies() -> None:
    desk = Desk("nv_full")
    cube, lines = desk.bytes(8, 2, 3), np.zeros((2, 3, 64), np.uint8)
    surfaces = [desk.place(cube), desk.place_planes(cube), desk.place_operands(cube), desk.reserve_planes(cube.shape)]
    assert [surface.shape for surface in surfaces] == [cube.shape] * 4
    assert desk.place_lines(lines).shape == lines.shape
    assert desk.place_image(np.zeros((1, 4, 5), np.uint8), "T_R8").shape == (1, 4, 5)
    assert repr(surfaces[0]) == "Surface((8, 2, 3) at 0x80000100 of MC)"
