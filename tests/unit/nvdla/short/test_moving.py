"""The short forms of RUBIK and BDMA."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import RubikMode
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.short import Bdma, Rubik
from tests.unit.nvdla.short.playing import Desk


def test_the_surfaces_say_what_rubik_does() -> None:
    desk = Desk("nv_full")
    cube = desk.bytes(40, 3, 4)
    src, planes = desk.place(cube), desk.place_planes(cube)
    split, merge = Rubik(src, desk.reserve_planes(cube.shape)), Rubik(planes, desk.reserve(cube.shape))
    assert (split.mode, merge.mode) == (RubikMode.SPLIT, RubikMode.MERGE)
    for got in desk.played(split, merge):
        np.testing.assert_array_equal(got, cube, strict=True)


def test_contract_makes_rows_and_columns_of_channels() -> None:
    desk = Desk("nv_full")
    cube = desk.bytes(64 * 3, 2, 3)
    (got,) = desk.played(Rubik(desk.place(cube), desk.reserve((32, 4, 9)), stride=(2, 3)))
    for c, h, w in np.ndindex(*got.shape):
        assert got[c, h, w] == cube[(h % 2 * 3 + w % 3) * 32 + c, h // 2, w // 3]


def test_planes_do_not_become_planes() -> None:
    desk = Desk("nv_full")
    message = r"src or dst must be a feature cube, because RUBIK does not lead from planes to planes"
    with pytest.raises(InputError, match=f"^{message}$"):
        Rubik(desk.reserve_planes((8, 2, 2)), desk.reserve_planes((8, 2, 2)))


def test_a_cube_is_copied_to_the_other_memory_and_other_strides() -> None:
    desk = Desk("nv_full")
    cube = desk.bytes(40, 3, 4)
    dst = desk.reserve(cube.shape, ram=Ram.CVSRAM, line_stride_bytes=160, surface_stride_bytes=640)
    layer = Bdma(desk.place(cube), dst)
    (got,) = desk.played(layer)
    assert layer.dst.ram is Ram.CVSRAM
    assert (layer.dst.layout.line_stride_bytes, layer.dst.layout.surface_stride_bytes) == (160, 640)
    atoms = got.reshape(2, 3, 4, 32).view(np.int8).transpose(0, 3, 1, 2).reshape(64, 3, 4)
    np.testing.assert_array_equal(atoms[:40], cube, strict=True)


def test_lines_of_bytes_are_copied() -> None:
    desk = Desk("nv_full")
    data = desk.rng.integers(0, 256, (2, 3, 64), dtype=np.uint8)
    (got,) = desk.played(Bdma(desk.place_lines(data), desk.reserve_lines((2, 3, 64))))
    np.testing.assert_array_equal(got, data, strict=True)


def test_a_copy_is_refused_in_the_shapes_and_precisions_of_the_user() -> None:
    desk = Desk("nv_full")
    src = desk.place(desk.bytes(64, 8, 8))
    with pytest.raises(InputError, match=r"^dst must have the shape \(64, 8, 8\) of src, not \(64, 8, 7\)$"):
        Bdma(src, desk.reserve((64, 8, 7)))
    with pytest.raises(InputError, match=r"^dst must be of INT8 as src is, not INT16$"):
        Bdma(src, desk.reserve((64, 8, 8), Precision.INT16))
    with pytest.raises(InputError, match=r"^stride must be 1 for planes, as only contract enlarges a cube, not 2$"):
        Rubik(src, desk.reserve_planes((64, 8, 8)), stride=2)
