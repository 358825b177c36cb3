"""Sparse compression: WMB, WGS and weights by hand, against a literal loop, and back; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.config import HwConfig
from nvdla_models.layout import (
    CompressedWeightLayout,
    DeconvolutionWeightLayout,
    ImageWeightLayout,
    KernelLayout,
    WeightLayout,
    WinogradWeightLayout,
    compression,
)
from nvdla_models.precision import Precision
from tests.unit.models.layout.test_deconvolution import sets_of
from tests.unit.models.support import random_bits, refused

FULL = HwConfig.load("nv_full")
LARGE = HwConfig.load("nv_large")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


def sparse(layout: KernelLayout, seed: int, zeros: float) -> npt.NDArray[Any]:
    """Return random bit patterns of which a share is 0."""
    weights = random_bits(layout.packed_shape, layout.precision.dtype, seed)
    weights[np.random.default_rng(seed).random(weights.shape) < zeros] = 0
    return weights


def literal_surfaces(layout: KernelLayout, weights: npt.NDArray[Any]) -> tuple[bytes, bytes, bytes]:
    """Compress element by element, group by group, as the document's steps say."""
    mask_bits: list[int] = []
    kept = bytearray()
    sizes: list[int] = []
    position = 0
    for elements in layout.group_elements:
        size = 0
        for _ in range(elements):
            raw = weights[layout.weight_at(position)].tobytes()
            mask_bits.append(int(any(raw)))
            if any(raw):
                kept += raw
                size += len(raw)
            position += 1
        sizes.append(size)
    wmb = bytearray(-(-len(mask_bits) // 8))
    for index, bit in enumerate(mask_bits):
        wmb[index // 8] |= bit << index % 8
    wgs = b"".join(size.to_bytes(4, "little") for size in sizes)
    aligned = [bytes(part) + bytes(-len(part) % 128) for part in (kept, wmb, wgs)]
    return aligned[0], aligned[1], aligned[2]


@st.composite
def kernel_layouts(draw: st.DrawFn) -> KernelLayout:
    config = draw(st.sampled_from([FULL, LARGE]))
    precision = draw(st.sampled_from(config.weight_data_types))
    kernels = draw(st.integers(1, 2 * config.kernel_group_size(precision) + 1))
    kind = draw(st.sampled_from(["direct", "image", "winograd"]))
    if kind == "direct":
        return WeightLayout(config, precision, (kernels, draw(st.integers(1, 70)), 1, draw(st.integers(1, 2))))
    if kind == "image":
        shape = (kernels, draw(st.integers(1, 4)), draw(st.integers(1, 5)), draw(st.integers(1, 4)))
        return ImageWeightLayout(config, precision, shape, draw(st.sampled_from([1, 2, 4])))
    return WinogradWeightLayout(config, precision, (draw(st.integers(1, 3)), draw(st.integers(1, 5)), 3, 3))


def test_two_groups_of_int8_compress_as_written_by_hand() -> None:
    layout = CompressedWeightLayout(WeightLayout(LARGE, INT8, (33, 1, 1, 1)))
    weights = np.zeros((33, 1, 1, 1), dtype=np.int8)
    weights[[0, 9, 31, 32], 0, 0, 0] = [5, -6, 7, 8]
    packed = layout.pack(weights)
    assert packed.wmb[:6].tolist() == [0b00000001, 0b00000010, 0, 0b10000000, 0b00000001, 0]
    assert packed.wgs[:12].tobytes() == bytes.fromhex("03000000 01000000 00000000")
    assert packed.weights[:5].tolist() == [5, 250, 7, 8, 0]
    assert [surface.size for surface in packed] == [128, 128, 128]


def test_one_bit_stands_for_the_two_bytes_of_fp16_and_minus_zero_stays() -> None:
    layout = CompressedWeightLayout(WeightLayout(FULL, FP16, (1, 4, 1, 1)))
    weights = np.array([0.0, -0.0, 1.0, np.nan], dtype=np.float16).reshape(1, 4, 1, 1)
    packed = layout.pack(weights)
    assert packed.wmb[:2].tolist() == [0b1110, 0]
    assert packed.wgs[:4].tolist() == [6, 0, 0, 0]
    assert packed.weights[:7].tobytes() == bytes.fromhex("0080003c007e00")
    assert layout.unpack(*packed).tobytes() == weights.tobytes()


def test_weights_that_are_all_zero_leave_no_bytes() -> None:
    layout = CompressedWeightLayout(WeightLayout(LARGE, INT8, (33, 2, 1, 1)))
    packed = layout.pack(np.zeros((33, 2, 1, 1), dtype=np.int8))
    assert packed.weights.size == 0
    assert not packed.wmb.any()
    assert not packed.wgs.any()
    assert not layout.unpack(*packed).any()


@settings(max_examples=40)
@given(kernel_layouts(), st.integers(0, 2**31), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_the_surfaces_are_those_of_the_literal_loop_and_decompress(
    inner: KernelLayout, seed: int, zeros: float
) -> None:
    layout = CompressedWeightLayout(inner)
    weights = sparse(inner, seed, zeros)
    packed = layout.pack(weights)
    assert tuple(surface.tobytes() for surface in packed) == literal_surfaces(inner, weights)
    assert packed.wmb.size == layout.wmb_nbytes
    assert packed.wgs.size == layout.wgs_nbytes
    assert packed.weights.size <= layout.nbytes
    assert layout.unpack(*packed).tobytes() == weights.tobytes()
    longer = [surface.tobytes() + b"\xff" * 9 for surface in packed]
    assert layout.unpack(*longer).tobytes() == weights.tobytes()
    size = inner.precision.nbytes
    for position in np.random.default_rng(seed).integers(0, inner.elements, 10):
        place = inner.weight_at(int(position))
        byte, bit = layout.mask_bit(*place)
        raw = weights[place].tobytes()
        assert packed.wmb[byte] >> bit & 1 == any(raw)
        at = layout.offset(packed.wmb, *place)
        assert (at is not None) == any(raw)
        if at is not None:
            assert packed.weights[at : at + size].tobytes() == raw
            assert layout.element_at(packed.wmb, at + size - 1) == place
    kept = int(packed.wgs.view("<u4").sum())
    assert kept >= layout.nbytes or layout.element_at(packed.wmb, kept) is None


def test_masks_of_several_runs_compress_as_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = CompressedWeightLayout(WeightLayout(FULL, INT16, (17, 9, 1, 1)))
    weights = sparse(layout.layout, 4, 0.5)
    whole = [surface.tobytes() for surface in layout.pack(weights)]
    monkeypatch.setattr(compression, "_RUN_ELEMENTS", 10)
    packed = layout.pack(weights)
    assert [surface.tobytes() for surface in packed] == whole
    assert layout.unpack(*packed).tobytes() == weights.tobytes()


def test_the_sets_of_a_deconvolution_compress_one_by_one() -> None:
    deconvolution = DeconvolutionWeightLayout(FULL, INT8, (3, 4, 3, 3), (2, 2))
    weights = random_bits((3, 4, 3, 3), np.dtype("i1"), 5)
    layout = CompressedWeightLayout(deconvolution.set_layout)
    for kernels in sets_of(deconvolution, weights):
        assert layout.unpack(*layout.pack(kernels)).tobytes() == kernels.tobytes()


def test_the_description_names_the_three_surfaces() -> None:
    layout = CompressedWeightLayout(WeightLayout(FULL, FP16, (20, 96, 3, 3)))
    last = layout.describe().splitlines()[-1]
    assert last == "compressed: WMB 2176 bytes, WGS 128 bytes, weights at most 34560 bytes"


def test_bad_surfaces_are_refused() -> None:
    layout = CompressedWeightLayout(WeightLayout(FULL, INT16, (17, 5, 1, 1)))
    packed = layout.pack(np.ones((17, 5, 1, 1), dtype=np.int16))
    with refused("data must hold at least 170 bytes, not 169"):
        layout.unpack(packed.weights[:169], packed.wmb, packed.wgs)
    with refused("data must hold at least 11 bytes, not 10"):
        layout.unpack(packed.weights, packed.wmb[:10], packed.wgs)
    with refused("data must hold at least 8 bytes, not 7"):
        layout.unpack(packed.weights, packed.wmb, packed.wgs[:7])
    wgs = packed.wgs.copy()
    wgs[4] = 12
    with refused("WGS of group 1 must be the 10 bytes its mask keeps, not 12"):
        layout.unpack(packed.weights, packed.wmb, wgs)
    with refused("c must be 0 to 4, not 5"):
        layout.mask_bit(0, 5, 0, 0)
    with refused("weights must have dtype int16, not int8"):
        layout.pack(np.ones((17, 5, 1, 1), dtype=np.int8))


def test_a_build_without_decompression_refuses() -> None:
    inner = WeightLayout(HwConfig.load("nv_small"), INT8, (1, 1, 1, 1))
    with refused("weights must be uncompressed for nv_small, which cannot decompress"):
        CompressedWeightLayout(inner)


def test_a_mask_beyond_its_register_is_refused() -> None:
    inner = WeightLayout(LARGE, INT8, (8192, 8192, 8, 4))
    with refused("WMB must be at most 268435455 bytes, not 268435456"):
        CompressedWeightLayout(inner)


@pytest.mark.parametrize("kernels", [1, 16, 17])
def test_a_kernel_group_size_is_32_bits_wide(kernels: int) -> None:
    layout = CompressedWeightLayout(WeightLayout(FULL, INT16, (kernels, 1, 1, 1)))
    packed = layout.pack(np.ones((kernels, 1, 1, 1), dtype=np.int16))
    sizes = packed.wgs.view("<u4")
    assert sizes[: layout.layout.groups].tolist() == [32] * (kernels // 16) + [2] * (kernels % 16 > 0)
    assert not sizes[layout.layout.groups :].any()
