"""The integer PDP model against a literal oracle, at hand-computed boundaries, and its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nvdla_models import pdp
from nvdla_models.config import HwConfig
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from tests.unit.models import oracles_pdp
from tests.unit.models.support import refused

THIRD, HALF, EIGHTH, WHOLE = 21845, 32768, 8192, 65536
SMALL, FULL = HwConfig.load("nv_small"), HwConfig.load("nv_full")


def run(layer: PdpParams, cube: np.ndarray[Any, Any], config: HwConfig = SMALL) -> np.ndarray[Any, Any]:
    """Return what PDP of a build makes of a cube."""
    return pdp.run(layer, cube, config)


def params(method: PoolMethod, **changes: Any) -> PdpParams:
    """Return a 1x1 pooling of INT8 without padding, but for ``changes``."""
    values: dict[str, Any] = {
        "method": method,
        "kernel_width": 1,
        "kernel_height": 1,
        "stride_x": 1,
        "stride_y": 1,
        "pad_left": 0,
        "pad_right": 0,
        "pad_top": 0,
        "pad_bottom": 0,
        "pad_values": (0,) * 7,
        "recip_width": WHOLE,
        "recip_height": WHOLE,
        "precision": Precision.INT8,
    }
    return PdpParams(**(values | changes))


def plane(*rows: list[int]) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return a cube of one channel."""
    return np.array([rows], dtype=np.int8)


def random_axis(rng: np.random.Generator) -> tuple[int, int, int, int, int]:
    """Draw size, kernel, stride and paddings of one axis that end exactly."""
    while True:
        kernel = int(rng.integers(1, 9))
        stride = int(rng.integers(1, 17) if rng.random() < 0.2 else rng.integers(1, 5))
        before, after = (int(n) for n in rng.integers(0, kernel, size=2))
        size = int(rng.integers(1, 14))
        rest = size + before + after - kernel
        if rest >= 0 and rest % stride == 0:
            return size, kernel, stride, before, after


def random_layer(rng: np.random.Generator, method: PoolMethod, precision: Precision) -> tuple[PdpParams, int, int]:
    """Draw a layer and the height and width of its input."""
    height, kernel_height, stride_y, top, bottom = random_axis(rng)
    width, kernel_width, stride_x, left, right = random_axis(rng)
    recips = [round(WHOLE / kernel_width), round(WHOLE / kernel_height)]
    pad = int(rng.integers(-128, 128))
    pad_values = tuple(n * pad for n in range(1, 8))
    if rng.random() < 0.5:
        recips = [int(n) for n in rng.choice([0, 1, 0x1FFFF, 0x10000, *rng.integers(0, 1 << 17, size=4)], size=2)]
        pad_values = tuple(int(n) for n in rng.integers(-(1 << 18), 1 << 18, size=7))
    layer = params(
        method,
        kernel_width=kernel_width,
        kernel_height=kernel_height,
        stride_x=stride_x,
        stride_y=stride_y,
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_values=pad_values,
        recip_width=recips[0],
        recip_height=recips[1],
        precision=precision,
    )
    return layer, height, width


@pytest.mark.parametrize(
    ("config", "precision"), [(SMALL, Precision.INT8), (FULL, Precision.INT8), (FULL, Precision.INT16)]
)
@pytest.mark.parametrize("method", list(PoolMethod))
@pytest.mark.parametrize("seed", [*range(1), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_every_element_of_random_layers_agrees_with_the_oracle(
    seed: int, method: PoolMethod, config: HwConfig, precision: Precision
) -> None:
    rng = np.random.default_rng(seed)
    info = np.iinfo(precision.dtype)
    for _ in range(100):
        layer, height, width = random_layer(rng, method, precision)
        cube = rng.integers(info.min, info.max + 1, (2, height, width), dtype=precision.dtype)
        if rng.random() < 0.2:
            cube[:] = rng.choice([info.min, info.max])
        shape = (2, layer.output_height(height), layer.output_width(width))
        expected = np.empty(shape, dtype=precision.dtype)
        for c, y, x in np.ndindex(shape):
            expected[c, y, x] = oracles_pdp.element(layer, cube[c].tolist(), y, x, config.name)
        np.testing.assert_array_equal(run(layer, cube, config), expected, strict=True)


def test_a_cube_of_several_blocks_agrees_with_its_channels_alone() -> None:
    rng = np.random.default_rng(3)
    cube = rng.integers(-128, 128, (9, 130, 70), dtype=np.int8)
    for method in PoolMethod:
        layer = params(method, kernel_width=2, kernel_height=2, recip_width=HALF, recip_height=HALF)
        whole = run(layer, cube)
        for c in range(9):
            np.testing.assert_array_equal(whole[c : c + 1], run(layer, cube[c : c + 1]), strict=True)


def test_a_1x1_average_with_whole_reciprocals_passes_the_cube() -> None:
    cube = np.arange(-128, 128, dtype=np.int16).astype(np.int8).reshape(4, 8, 8)
    np.testing.assert_array_equal(run(params(PoolMethod.AVERAGE), cube), cube, strict=True)


def test_the_average_rounds_twice_half_away_from_zero() -> None:
    # 1 + 2 + 2 + 0 = 5; 5 / 2 = 2.5 becomes 3; 3 / 2 = 1.5 becomes 2, where 5 / 4 = 1.25 would be 1.
    layer = params(PoolMethod.AVERAGE, kernel_width=2, kernel_height=2, recip_width=HALF, recip_height=HALF)
    assert run(layer, plane([1, 2], [2, 0])).item() == 2
    assert run(layer, plane([-1, -2], [-2, 0])).item() == -2


def test_missing_elements_take_the_table_value_for_their_number() -> None:
    # A kernel of 3x3 at the corner of one element of 10: its row lacks two (+200), two rows lack (+200 * 3).
    # (10 + 200 + 600) * 21845 / 65536 = 269.996 becomes 270; again by a third 89.999 becomes 90.
    layer = params(
        PoolMethod.AVERAGE,
        kernel_width=3,
        kernel_height=3,
        pad_left=2,
        pad_top=2,
        pad_values=(100, 200, 300, 400, 500, 600, 700),
        recip_width=THIRD,
        recip_height=THIRD,
    )
    assert run(layer, plane([10])).item() == 90


def test_elements_missing_on_both_sides_count_together() -> None:
    layer = params(PoolMethod.AVERAGE, kernel_width=3, pad_left=1, pad_right=1, pad_values=(1, 20, 3, 4, 5, 6, 7))
    assert run(layer, plane([10])).item() == 30


def test_maximum_and_minimum_ignore_the_padding() -> None:
    around = {"kernel_width": 2, "kernel_height": 2, "pad_left": 1, "pad_right": 1, "pad_top": 1, "pad_bottom": 1}
    lowest = run(params(PoolMethod.MAX, pad_values=(99,) * 7, **around), plane([-128]))
    highest = run(params(PoolMethod.MIN, pad_values=(-99,) * 7, **around), plane([127]))
    assert lowest.ravel().tolist() == [-128] * 4
    assert highest.ravel().tolist() == [127] * 4


def test_a_stride_beyond_the_kernel_skips_elements() -> None:
    layer = params(PoolMethod.MAX, kernel_width=2, stride_x=4)
    assert run(layer, plane([1, 2, 100, 100, 4, 3])).ravel().tolist() == [2, 4]


def test_the_largest_window_fits_every_register() -> None:
    layer = params(PoolMethod.AVERAGE, kernel_width=8, kernel_height=8, recip_width=EIGHTH, recip_height=EIGHTH)
    assert run(layer, np.full((1, 8, 8), -128, dtype=np.int8)).item() == -128
    assert run(layer, np.full((1, 8, 8), 127, dtype=np.int8)).item() == 127


def test_an_average_of_127_and_a_half_wraps_to_minus_128() -> None:
    # 255 as 85 and a table value of 170; half of it is 127.5.
    layer = params(
        PoolMethod.AVERAGE, kernel_width=2, pad_left=1, pad_values=(170, 0, 0, 0, 0, 0, 0), recip_height=HALF
    )
    assert run(layer, plane([85])).item() == -128


def test_a_padded_row_sum_wraps_at_11_bits() -> None:
    # 100 + 1000 - 2048 = -948; a quarter of it, -237, loses its top bits and leaves 19.
    layer = params(
        PoolMethod.AVERAGE, kernel_width=2, pad_left=1, pad_values=(1000, 0, 0, 0, 0, 0, 0), recip_height=HALF // 2
    )
    assert run(layer, plane([100])).item() == 19


def test_a_window_of_int8_sums_in_14_bits_where_int16_shares_the_register_and_in_15_elsewhere() -> None:
    # A corner: 682 of the padded column and 8190 of the padded line are 8872. The eighth of it, 1109, loses
    # its top bit and leaves 85, an eighth of which is 11. In 14 bits it is -7512, and twice its eighth -117.
    layer = params(
        PoolMethod.AVERAGE,
        kernel_width=3,
        kernel_height=2,
        pad_left=1,
        pad_top=1,
        pad_values=(2730, 0, 0, 0, 0, 0, 0),
        recip_width=EIGHTH,
        recip_height=EIGHTH,
    )
    assert run(layer, plane([0, 0]), SMALL).item() == 11
    assert run(layer, plane([0, 0]), FULL).item() == -117


def test_a_corner_measured_on_the_public_nv_full_rtl_is_reproduced() -> None:
    # Three channels of 2 x 2 elements in the corner of a 3 x 3 window; the sum of the first exceeds 14 bits.
    corners = np.array(
        [[[-28, -125], [49, -55]], [[101, 54], [66, 72]], [[-82, 34], [-106, -84]]],
        dtype=np.int8,
    )
    layer = params(
        PoolMethod.AVERAGE,
        kernel_width=3,
        kernel_height=3,
        pad_left=1,
        pad_top=1,
        pad_values=(2730, 1000, 900, 0, 0, 0, 0),
    )
    assert run(layer, corners, FULL).ravel().tolist() == [-77, 119, 100]
    assert run(layer, corners, SMALL).ravel().tolist() == [51, 119, 100]


def test_int16_averages_over_its_whole_range() -> None:
    layer = params(
        PoolMethod.AVERAGE,
        kernel_width=8,
        kernel_height=8,
        recip_width=EIGHTH,
        recip_height=EIGHTH,
        precision=Precision.INT16,
    )
    assert run(layer, np.full((1, 8, 8), -32768, dtype=np.int16)).item() == -32768
    assert run(layer, np.full((1, 8, 8), 32767, dtype=np.int16)).item() == 32767


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel_width": 9}, "kernel_width must be an integer from 1 to 8, not 9"),
        ({"kernel_height": 0}, "kernel_height must be an integer from 1 to 8, not 0"),
        ({"stride_x": 17}, "stride_x must be an integer from 1 to 16, not 17"),
        ({"stride_y": 0}, "stride_y must be an integer from 1 to 16, not 0"),
        ({"pad_left": 8}, "pad_left must be an integer from 0 to 7, not 8"),
        ({"kernel_width": 3, "pad_right": 3}, "pad_right must be less than the kernel_width of 3, not 3"),
        ({"kernel_height": 2, "pad_top": 2}, "pad_top must be less than the kernel_height of 2, not 2"),
        ({"pad_bottom": 1}, "pad_bottom must be less than the kernel_height of 1, not 1"),
        ({"pad_values": (0,) * 6}, "pad_values must hold 7 values, not 6"),
        (
            {"pad_values": (0, 1 << 18, 0, 0, 0, 0, 0)},
            "pad value 2x must be an integer from -262144 to 262143, not 262144",
        ),
        ({"recip_width": 1 << 17}, "recip_width must be an integer from 0 to 131071, not 131072"),
        ({"recip_height": -1}, "recip_height must be an integer from 0 to 131071, not -1"),
    ],
)
def test_parameters_that_the_hardware_does_not_have_are_refused(changes: dict[str, Any], message: str) -> None:
    with refused(message):
        params(PoolMethod.AVERAGE, **changes)


def test_windows_that_do_not_end_at_the_cube_are_refused() -> None:
    layer = params(PoolMethod.MAX, kernel_width=2, stride_x=2, kernel_height=3, stride_y=3)
    message = "width with padding minus the kernel's 2 must be a multiple of the stride 2, not 3"
    with refused(message):
        run(layer, np.zeros((1, 3, 5), dtype=np.int8))
    message = "height with padding minus the kernel's 3 must be a multiple of the stride 3, not 1"
    with refused(message):
        run(layer, np.zeros((1, 4, 4), dtype=np.int8))


def test_a_cube_smaller_than_the_kernel_is_refused() -> None:
    layer = params(PoolMethod.MAX, kernel_width=4, pad_left=1)
    with refused("width with padding must be at least the kernel's 4, not 3"):
        run(layer, np.zeros((1, 1, 2), dtype=np.int8))


def test_cube_of_another_type_is_refused() -> None:
    with refused("cube must be int8, not int16"):
        run(params(PoolMethod.MAX), np.zeros((1, 1, 1), dtype=np.int16))


def test_cube_without_three_axes_is_refused() -> None:
    with refused("cube must have the axes (C, H, W), not 1 axes"):
        run(params(PoolMethod.MAX), np.zeros(4, dtype=np.int8))
