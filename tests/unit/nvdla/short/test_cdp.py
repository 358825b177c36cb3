"""The short form of local response normalisation."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.short import Cdp
from tests.unit.nvdla.short.playing import Array, Desk


def formula(cube: Array, size: int, alpha: float, beta: float, bias: float) -> Array:
    """Return the normalisation of each element, one after the other."""
    result = np.empty(cube.shape)
    for c, h, w in np.ndindex(*cube.shape):
        around = cube[max(c - size // 2, 0) : c + size // 2 + 1, h, w]
        result[c, h, w] = cube[c, h, w] / (bias + alpha / size * (around**2).sum()) ** beta
    return result


@pytest.mark.parametrize("size", [3, 9])
def test_integers_err_by_no_more_than_a_step(size: int) -> None:
    desk = Desk()
    cube = desk.bytes(20, 3, 4)
    layer = Cdp(desk.place(cube), desk.reserve(cube.shape), size=size, alpha=0.02, beta=0.6, bias=1.5)
    (got,) = desk.played(layer)
    assert np.abs(got - formula(cube.astype(np.float64), size, 0.02, 0.6, 1.5)).max() <= 1


def test_scales_say_what_integers_stand_for() -> None:
    desk = Desk()
    cube = desk.bytes(20, 3, 4)
    keys = {"src_scale": 0.05, "dst_scale": 0.02}
    (got,) = desk.played(Cdp(desk.place(cube), desk.reserve(cube.shape), alpha=0.5, **keys))
    exact = formula(cube * 0.05, 5, 0.5, 0.75, 1.0) / 0.02
    assert np.abs(got - np.clip(exact, -128, 127)).max() <= 1


def test_fp16_errs_by_a_part_of_the_result() -> None:
    desk = Desk("nv_full")
    cube = desk.halves(20, 3, 4)
    (got,) = desk.played(Cdp(desk.place(cube), desk.reserve(cube.shape, Precision.FP16), alpha=0.5))
    np.testing.assert_allclose(got.astype(np.float64), formula(cube.astype(np.float64), 5, 0.5, 0.75, 1.0), rtol=0.01)


def test_another_window_is_refused() -> None:
    desk = Desk()
    with pytest.raises(InputError, match=r"^size must be 3, 5, 7 or 9, which CDP has, not 4$"):
        Cdp(desk.place(desk.bytes(8, 2, 2)), desk.reserve((8, 2, 2)), size=4)
