"""Faults of convolutions: other parameters, kernels read otherwise, WMB and WGS read literally."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.converter import Converter
from nvdla_models.layout import ImageWeightLayout, WeightLayout
from nvdla_models.precision import Precision
from nvdla_tb.explain.memory import Bytes, Patch
from nvdla_tb.nvdla.layers import ConvLayer
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import FP16, MEMORY, Fault, by_value, elements, ran, run
from tests.unit.nvdla.samples import SMALL

CUBE, IMAGE = cases.conv_layer(), cases.image_layer()
PACKED_MEMORY = full.compressed_memory(4, full.compressed_conv())


def with_weights(layer: ConvLayer, seen: NDArray[Any], memory: Bytes = MEMORY) -> Patch:
    """Return what a convolution leaves that multiplies other kernels than those in memory."""
    packed = layer.weights.layout.pack(seen)
    bare = replace(layer, weights=replace(layer.weights, compression=None))
    return run(bare, full.stored(memory, layer.weights.address, packed))


def convolutions() -> Iterator[Fault]:
    stored = CUBE.weights.layout
    raw = MEMORY.read(CUBE.weights.address, stored.nbytes).data
    kernels = stored.unpack(raw)
    # The last group has three kernels: its other multipliers have none.
    places = [8 * (k // 8) + -k % 8 for k in range(len(kernels))]
    backwards = np.array([kernels[k] if k < len(kernels) else np.zeros_like(kernels[0]) for k in places])
    for title, seen in (
        ("R reversed", np.ascontiguousarray(kernels[:, :, ::-1])),
        ("kernels reversed in groups", np.concatenate([kernels[8 * g : 8 * g + 8][::-1] for g in range(3)])),
        ("kernels backwards from the first", backwards),
    ):
        yield Fault(title, CUBE, with_weights(CUBE, seen), "conv-kernel-order")
    channels, height, width = CUBE.src.layout.shape
    short = replace(CUBE.src, layout=replace(CUBE.src.layout, shape=(channels, height - 1, width)))
    params = replace(CUBE.params, pad_bottom=CUBE.params.pad_bottom + 1)
    yield ran("last line taken for padding", CUBE, "conv-padding", src=short, params=params)
    for what, name in (("mac_atomic_k_size", "conv-kernel-group"), ("mac_atomic_c_size", "conv-kernel-cube")):
        other = WeightLayout(replace(SMALL, **{what: 32, "cbuf_bank_width_bytes": 32}), Precision.INT8, stored.shape)
        yield Fault(what, CUBE, with_weights(CUBE, other.unpack(raw)), name)
    images = ImageWeightLayout(SMALL, Precision.INT8, (9, 4, 3, 3))
    pixels = MEMORY.read(IMAGE.weights.address, images.nbytes).data
    plain = images.pre_extend(WeightLayout(SMALL, Precision.INT8, (9, 4, 3, 3)).unpack(pixels))
    yield Fault("no pre-extension", IMAGE, with_weights(IMAGE, plain), "conv-kernel-extension")
    yield Fault("first and third channel swapped", IMAGE, swapped_image(), "conv-pixel-order")
    yield Fault("data unsigned", CUBE, summed(np.uint8, lambda sums: sums), "conv-sign")
    narrow = summed(np.int8, lambda sums: (sums + (1 << 13)) % (1 << 14) - (1 << 13))
    yield Fault("accumulators of 14 bits", CUBE, narrow, "conv-accumulator")
    yield from coded()


def summed(taken_as: type, accumulated: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Patch:
    """Return what the cube's layer leaves when its data are of a type, and its sums go through accumulators."""
    layer = CUBE
    assert isinstance(layer.conversion, Converter)
    raw = layer.src.layout.unpack(MEMORY.read(layer.src.address, layer.src.layout.nbytes).data)
    cube = layer.conversion.convert(raw, Precision.INT8).view(taken_as).astype(np.int64)
    stored = layer.weights.layout
    kernels = stored.unpack(MEMORY.read(layer.weights.address, stored.nbytes).data).astype(np.int64)
    params, (count, height, width) = layer.params, layer.dst.layout.shape
    pad = np.array(params.pad_value, np.int8).view(taken_as)
    padded = np.full((cube.shape[0], 40, 40), pad, dtype=np.int64)
    top, left = params.pad_top, params.pad_left
    padded[:, top : top + cube.shape[1], left : left + cube.shape[2]] = cube
    sums = np.zeros(elements(layer).shape, dtype=np.int64)
    for k, y, x in np.ndindex(count, height, width):
        rows = y * params.stride_y + np.arange(kernels.shape[2]) * params.dilation_y
        columns = x * params.stride_x + np.arange(kernels.shape[3]) * params.dilation_x
        sums[k, y, x] = (padded[:, rows[:, np.newaxis], columns] * kernels[k]).sum()
    sums = accumulated(sums)
    half = (1 << params.truncate) >> 1
    truncated = np.where(sums < 0, -((-sums + half) >> params.truncate), (sums + half) >> params.truncate)
    bias = MEMORY.read(cases.X1, 2 * 24).data.view("<i2").astype(np.int64)
    total = truncated + (bias << 3)[:, np.newaxis, np.newaxis]
    scaled = (total - 40) * 5
    rounded = np.where(scaled < 0, -((-scaled + (1 << 12)) >> 13), (scaled + (1 << 12)) >> 13)
    data = np.clip(rounded, -128, 127).astype(np.int8)
    return by_value(layer, lambda _: data)


def swapped_image() -> Patch:
    """Return what the image's layer leaves when the multipliers get the third channel as first and the reverse."""
    layout = IMAGE.weights.layout
    assert isinstance(layout, ImageWeightLayout)
    kernels = layout.original(layout.unpack(MEMORY.read(IMAGE.weights.address, layout.nbytes).data))
    return with_weights(IMAGE, layout.pre_extend(np.ascontiguousarray(kernels[:, [2, 1, 0, 3]])))


def coded() -> Iterator[Fault]:
    """Yield faults in compressed weights and in Winograd's."""
    layer = full.compressed_conv()
    layout = layer.weights.layout
    mask = PACKED_MEMORY.read(full.MASK, -(-layout.elements // 8)).data
    values = PACKED_MEMORY.read(full.X2, layout.nbytes).data.view("<i2")
    sizes = PACKED_MEMORY.read(full.SIZES, 4 * layout.groups).data.view("<u4")

    def decompressed(bit: Callable[[int], int], step: Callable[[int], int]) -> NDArray[np.int16]:
        stream = np.zeros(layout.elements, dtype=np.int16)
        first, start = 0, 0
        for count, size in zip(layout.group_elements, sizes.tolist(), strict=True):
            taken = start // 2
            for number in range(first, first + count):
                if bit(number):
                    stream[number] = values[taken]
                    taken += 1
            first, start = first + count, start + step(size)
        return layout.from_stream(stream)

    def kept(number: int) -> int:
        return int(mask[number // 8]) >> (number % 8) & 1

    np.testing.assert_array_equal(decompressed(kept, int), full.sparse(layout, 4))
    for what, seen, name in (
        ("WMB from the top", decompressed(lambda n: int(mask[n // 8]) >> (7 - n % 8) & 1, int), "conv-mask"),
        ("WGS as elements", decompressed(kept, lambda size: 2 * size), "conv-group-size"),
        ("groups aligned", decompressed(kept, lambda size: -(-size // 128) * 128), "conv-group-size"),
    ):
        yield Fault(what, layer, with_weights(layer, seen, PACKED_MEMORY), name, PACKED_MEMORY)
    for precision, memory in ((Precision.INT16, MEMORY), (Precision.FP16, FP16)):
        wino = full.winograd_conv(precision)
        tiles = wino.weights.layout.unpack(memory.read(wino.weights.address, wino.weights.layout.nbytes).data)
        left = with_weights(wino, np.ascontiguousarray(tiles.swapaxes(2, 3)), memory)
        yield Fault(f"Winograd transposed {precision.name}", wino, left, "conv-winograd", memory)
