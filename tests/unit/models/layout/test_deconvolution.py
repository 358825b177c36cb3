"""Weights of deconvolution: the sets, their places, and that the sets compute the deconvolution."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models import conv
from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.layout import DeconvolutionWeightLayout, FeatureLayout, contract, contracted_shape
from nvdla_models.precision import Precision
from tests.unit.models.support import numbered, random_bits, refused
from tests.unit.models.test_conv_model import params

FULL = HwConfig.load("nv_full")
SMALL = HwConfig.load("nv_small")
INT8, FP16 = Precision.INT8, Precision.FP16


@st.composite
def deconvolution_layouts(draw: st.DrawFn) -> DeconvolutionWeightLayout:
    config = HwConfig.load(draw(st.sampled_from(builtin_names())))
    precision = draw(st.sampled_from(config.weight_data_types))
    kernels = draw(st.integers(1, config.kernel_group_size(precision) + 2))
    shape = (kernels, draw(st.integers(1, 12)), draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    return DeconvolutionWeightLayout(config, precision, shape, (draw(st.integers(1, 3)), draw(st.integers(1, 3))))


def sets_of(layout: DeconvolutionWeightLayout, weights: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Return the kernels of each set as they lie in memory."""
    raw = layout.pack(weights)
    return [layout.set_layout.unpack(raw[at:]) for at in range(0, layout.nbytes, layout.set_stride_bytes)]


def test_a_3x3_kernel_of_stride_2_splits_into_four_reversed_sets() -> None:
    layout = DeconvolutionWeightLayout(FULL, INT8, (1, 1, 3, 3), (2, 2))
    weights = np.arange(1, 10, dtype=np.int8).reshape(1, 1, 3, 3)
    assert [kernels[0, 0].tolist() for kernels in sets_of(layout, weights)] == [
        [[9, 7], [3, 1]],
        [[0, 8], [0, 2]],
        [[0, 0], [6, 4]],
        [[0, 0], [0, 5]],
    ]
    assert layout.set_layout.shape == (1, 1, 2, 2)


def test_each_set_starts_at_a_weight_start_address() -> None:
    layout = DeconvolutionWeightLayout(FULL, INT8, (1, 1, 3, 3), (2, 2))
    raw = layout.pack(np.arange(1, 10, dtype=np.int8).reshape(1, 1, 3, 3))
    assert layout.set_stride_bytes == 256
    assert raw.size == layout.nbytes == 3 * 256 + 128
    assert [raw[at : at + 4].tolist() for at in range(0, 1024, 256)] == [
        [9, 7, 3, 1],
        [0, 8, 0, 2],
        [0, 0, 6, 4],
        [0, 0, 0, 5],
    ]
    assert np.count_nonzero(raw) == 9


@pytest.mark.slow
@settings(max_examples=20)
@given(deconvolution_layouts(), st.integers(0, 2**31))
def test_every_weight_is_found_at_its_offset_and_back(layout: DeconvolutionWeightLayout, seed: int) -> None:
    weights = random_bits(layout.shape, layout.precision.dtype, seed)
    raw = layout.pack(weights)
    size = layout.precision.nbytes
    owned = np.zeros(raw.size, dtype=bool)
    for k, c, r, s in np.ndindex(*layout.shape):
        number = r % layout.stride[0] * layout.stride[1] + s % layout.stride[1]
        at = layout.offset(k, c, r, s)
        assert at // layout.set_stride_bytes == number
        assert raw[at : at + size].tobytes() == weights[k, c, r, s].tobytes()
        assert layout.element_at(at) == (k, c, r, s)
        owned[at : at + size] = True
    assert owned.sum() == weights.nbytes
    assert not raw[~owned].any()
    for at in np.flatnonzero(~owned)[:50]:
        assert layout.element_at(int(at)) is None
    assert layout.unpack(raw.tobytes() + b"behind").tobytes() == weights.tobytes()
    for kernels, packed in zip(layout.split(weights), sets_of(layout, weights), strict=True):
        np.testing.assert_array_equal(kernels, packed, strict=True)


@pytest.mark.parametrize(("size", "stride"), [((3, 3), (2, 2)), ((4, 5), (2, 3)), ((2, 2), (3, 2)), ((3, 1), (1, 1))])
def test_the_contracted_convolutions_of_the_sets_are_the_deconvolution(
    size: tuple[int, int], stride: tuple[int, int]
) -> None:
    rng = np.random.default_rng(11)
    kernels, channels, height, width = 32, 2, 3, 4
    layout = DeconvolutionWeightLayout(FULL, INT8, (kernels, channels, *size), stride)
    weights = rng.integers(-2, 3, layout.shape).astype(np.int8)
    cube = rng.integers(-2, 3, (channels, height, width)).astype(np.int8)
    expected = np.zeros(
        (kernels, (height - 1) * stride[0] + size[0], (width - 1) * stride[1] + size[1]), dtype=np.int64
    )
    for c, h, w in np.ndindex(cube.shape):
        block = expected[:, h * stride[0] : h * stride[0] + size[0], w * stride[1] : w * stride[1] + size[1]]
        block += weights[:, c].astype(np.int64) * cube[c, h, w]
    rows, columns = layout.set_layout.shape[2:]
    padding = params(pad_left=columns - 1, pad_right=columns - 1, pad_top=rows - 1, pad_bottom=rows - 1)
    joined = np.concatenate([conv.run(padding, cube, part) for part in sets_of(layout, weights)]).astype(np.int8)
    source = FeatureLayout.packed(FULL, INT8, joined.shape)
    target = FeatureLayout.packed(FULL, INT8, contracted_shape(source, stride))
    result = target.unpack(contract(source, target, stride, source.pack(joined)))
    np.testing.assert_array_equal(result[:, : expected.shape[1], : expected.shape[2]], expected)
    assert not result[:, expected.shape[1] :].any()
    assert not result[:, :, expected.shape[2] :].any()


def test_the_description_names_the_sets() -> None:
    first = DeconvolutionWeightLayout(SMALL, INT8, (1, 1, 3, 3), (2, 1)).describe().splitlines()[0]
    assert first == "weights for deconvolution, stride y=2 x=1: 2 sets, 256 bytes apart, 384 bytes; each set:"


def test_impossible_sets_and_bytes_are_refused() -> None:
    with refused("stride y must be 1 to 32, not 33"):
        DeconvolutionWeightLayout(SMALL, INT8, (1, 1, 3, 3), (33, 1))
    with refused("stride x must be 1 to 32, not 0"):
        DeconvolutionWeightLayout(SMALL, INT8, (1, 1, 3, 3), (1, 0))
    with refused("precision must be one of INT8 for nv_small, not FP16"):
        DeconvolutionWeightLayout(SMALL, FP16, (1, 1, 3, 3), (1, 1))
    with refused("shape must be (K, C, R, S), not (1, 3, 3)"):
        DeconvolutionWeightLayout(SMALL, INT8, (1, 3, 3), (1, 1))  # type: ignore[arg-type]
    layout = DeconvolutionWeightLayout(SMALL, INT8, (1, 1, 3, 3), (2, 1))
    with refused("weights must have shape (1, 1, 3, 3), not (1, 1, 3, 4)"):
        layout.pack(numbered((1, 1, 3, 4), np.dtype("i1")))
    with refused("data must hold at least 384 bytes, not 383"):
        layout.unpack(bytes(383))
    with refused("r must be 0 to 2, not 3"):
        layout.offset(0, 0, 3, 0)
    with refused("offset_bytes must be 0 to 383, not 384"):
        layout.element_at(384)
