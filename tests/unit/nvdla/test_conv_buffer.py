"""What stays in the convolution buffer, what is fetched for the next layer, and what would hang or read rubbish."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from nvdla_models.layout import WeightLayout
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.conv_buffer import FETCHES_ALL, ConvBuffer, Fetch
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.surfaces import WeightSurface
from tests.unit.nvdla.conv_samples import image_conv, small_conv
from tests.unit.nvdla.registers_helper import decode_with, refused
from tests.unit.nvdla.samples import FULL, SMALL, surface


def conv(height: int = 4, lines: int | None = None, kernels: int = 32, width: int = 5, **cbuf: Any) -> ConvLayer:
    """Return a convolution of so many lines whose 2x3 kernels leave no padding behind them."""
    layer = small_conv()
    convolved = height if lines in (None, height) else lines
    assert convolved is not None
    return replace(
        layer,
        src=surface((10, height, width), 0x1000),
        weights=WeightSurface(WeightLayout(SMALL, Precision.INT8, (kernels, 10, 2, 3)), 0x3000),
        dst=surface((kernels, convolved + 1, (width - 1) // 2 + 1), 0x8000),
        cbuf=replace(layer.cbuf, **{"release_slices": convolved, **cbuf}),
        lines=None if convolved == height else convolved,
    )


def begin(*layers: ConvLayer) -> list[Fetch]:
    buffer = ConvBuffer()
    return [buffer.begin(f"layer {number}", layer) for number, layer in enumerate(layers)]


def check_refused(message: str, layers: Iterable[ConvLayer]) -> None:
    *before, last = layers
    buffer = ConvBuffer()
    for number, layer in enumerate(before):
        buffer.begin(f"layer {number}", layer)
    with refused(message, Refused):
        buffer.begin("the last", last)


def test_a_layer_without_flags_fetches_everything() -> None:
    assert begin(conv(), conv(7)) == [FETCHES_ALL, FETCHES_ALL]


def test_data_are_not_fetched_after_a_layer_that_has_kept_all_of_its_lines() -> None:
    assert begin(conv(skip_data_release=True), conv(9, 4, reuse_data=True))[1] == Fetch(data=False, kept_lines=4)


def test_fetched_lines_come_behind_those_that_a_layer_has_not_released() -> None:
    last = conv(3, 4, reuse_data=True, release_slices=3)
    fetches = begin(conv(4, release_slices=3), last, conv(2, 3, reuse_data=True))
    assert fetches[1:] == [Fetch(kept_lines=1), Fetch(kept_lines=1)]


def test_a_layer_may_convolve_fewer_lines_than_are_kept() -> None:
    first = conv(6, skip_data_release=True)
    fetches = begin(first, conv(4, 2, reuse_data=True, skip_data_release=True), conv(6, reuse_data=True))
    assert fetches[1:] == [Fetch(data=False, kept_lines=6)] * 2


def test_weights_are_not_fetched_after_a_layer_that_has_kept_them() -> None:
    first = conv(skip_weight_release=True)
    again = conv(5, reuse_weights=True, skip_weight_release=True)
    assert begin(first, again, conv(6, reuse_weights=True), conv()) == [
        FETCHES_ALL,
        Fetch(weights=False),
        Fetch(weights=False),
        FETCHES_ALL,
    ]


KEEPS_DATA, KEEPS_WEIGHTS = conv(skip_data_release=True), conv(skip_weight_release=True)


@pytest.mark.parametrize(
    ("before", "after", "fetch"),
    [
        (conv(), conv(reuse_weights=True), FETCHES_ALL),
        (KEEPS_WEIGHTS, conv(reuse_weights=True, weight_banks=3), FETCHES_ALL),
        (KEEPS_WEIGHTS, conv(reuse_weights=True, data_banks=2), FETCHES_ALL),
        (KEEPS_DATA, conv(reuse_data=True, weight_banks=3), Fetch(data=False, kept_lines=4)),
        (KEEPS_DATA, conv(reuse_data=True, data_banks=2), FETCHES_ALL),
    ],
    ids=["nothing was kept", "weights, other banks", "weights, other data banks", "data, other weight banks", "data"],
)
def test_what_stays_depends_on_what_was_kept_and_on_its_banks(
    before: ConvLayer, after: ConvLayer, fetch: Fetch
) -> None:
    assert begin(before, after)[1] == fetch


def test_a_cube_takes_nothing_of_an_image() -> None:
    image = image_conv()
    kept = replace(image, cbuf=replace(image.cbuf, weight_banks=2, skip_data_release=True, skip_weight_release=True))
    assert begin(kept, conv(reuse_data=True))[1] == FETCHES_ALL


def test_what_nobody_reuses_is_given_back() -> None:
    kept = conv(skip_data_release=True, skip_weight_release=True)
    assert begin(kept, kept, conv(release_slices=1), conv()) == [FETCHES_ALL] * 4


REFUSALS = (
    (
        "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext must be at most the 4 lines that layer 0 has kept, not 5",
        (conv(skip_data_release=True), conv(5, reuse_data=True)),
    ),
    (
        "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext must be 5, because layer 0 leaves 1 lines and 4 are fetched, not 4",
        (conv(release_slices=3), conv(reuse_data=True)),
    ),
    (
        "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext must be 3, because the data banks begin empty, not 4",
        (conv(skip_data_release=True), conv(3, 4, reuse_data=True, data_banks=2)),
    ),
    (
        "CDMA.D_BANK.data_bank must differ from that of layer 1, not 1: 2 lines that it did not convolve stay in the "
        "convolution buffer in front of the next ones",
        (conv(skip_data_release=True), conv(4, 2, reuse_data=True), conv()),
    ),
    (
        "CDMA.D_DATAIN_SIZE_0.datain_width must be the 5 of layer 0, whose lines are reused, not 7",
        (conv(skip_data_release=True), conv(width=7, reuse_data=True)),
    ),
    (
        "CSC.D_WEIGHT_SIZE_EXT_1.weight_kernel must be at most the 32 kernels that layer 0 has kept, not 33",
        (conv(skip_weight_release=True), conv(kernels=33, reuse_weights=True)),
    ),
    (
        "CDMA.D_BANK.weight_bank must differ from that of layer 1, not 2: 120 entries of weights that it did not use "
        "stay in the convolution buffer in front of the next weights",
        (conv(skip_weight_release=True), conv(kernels=16, reuse_weights=True), conv()),
    ),
)


@pytest.mark.parametrize(("message", "layers"), REFUSALS)
def test_a_layer_that_would_hang_or_read_rubbish_is_refused(message: str, layers: tuple[ConvLayer, ...]) -> None:
    check_refused(message, layers)


@pytest.mark.parametrize(("field", "change"), [("pad_left", {"pad_left": 1}), ("pad_right", {"pad_right": 1})])
def test_images_must_agree_in_the_padding_that_lies_in_the_buffer(field: str, change: dict[str, int]) -> None:
    image = image_conv()
    first = replace(image, cbuf=replace(image.cbuf, skip_data_release=True, skip_weight_release=True))
    params = replace(image.params, **change)
    cbuf = replace(image.cbuf, reuse_data=True)
    other = replace(image, params=params, cbuf=cbuf, dst=surface((2, 2, 5), 0x2000))
    check_refused(
        f"CDMA.D_ZERO_PADDING.{field} must be the 0 of layer 0, whose lines are reused, not 1", (first, other)
    )


def test_precisions_must_agree() -> None:
    first, second = (small_conv(FULL, precision) for precision in (Precision.INT16, Precision.INT8))
    first = replace(first, cbuf=replace(first.cbuf, skip_data_release=True))
    second = replace(second, cbuf=replace(second.cbuf, reuse_data=True))
    check_refused(
        "CDMA.D_MISC_CFG.proc_precision must be the INT16 of layer 0, whose lines are reused, not INT8", (first, second)
    )


@pytest.mark.parametrize("layer", [conv(3, 7, reuse_data=True), conv(reuse_data=True), conv(reuse_weights=True)])
def test_registers_hold_what_a_layer_reuses(layer: ConvLayer) -> None:
    assert decode_with(layer, {}) == layer
