"""Faults of layers that SDP and PDP run together, and of what RUBIK and BDMA move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.conv import ConvParams
from nvdla_models.layout import FeatureLayout, LinesLayout, PlanarLayout
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_tb.explain.memory import Patch
from nvdla_tb.nvdla.layers import (
    BdmaLayer,
    ConvLayer,
    LinesSurface,
    PlanarSurface,
    PooledLayer,
    RubikLayer,
    RubikMode,
    SdpLayer,
    Surface,
    on_the_fly,
)
from tests.unit.explain import cases
from tests.unit.explain.faults import MEMORY, Fault, parameters, ran, run
from tests.unit.nvdla.samples import FULL, SMALL


def pooled(producer: SdpLayer | ConvLayer) -> PooledLayer:
    """Return a layer whose result is averaged on the fly, 2 x 2 windows with padding on the left."""
    layout = producer.dst.layout
    pads = tuple(5 * n for n in range(1, 8))
    params = PdpParams(PoolMethod.AVERAGE, 2, 2, 1, 1, 1, 0, 0, 0, pads, 1 << 15, 1 << 15, Precision.INT8)
    shape = (layout.shape[0], params.output_height(layout.shape[1]), params.output_width(layout.shape[2]))
    flying = replace(producer, dst=on_the_fly(SMALL, Precision.INT8, layout.shape))
    return PooledLayer(flying, Surface(cases.gapped(shape, 1, 2), cases.DST), params)


def joint() -> Iterator[Fault]:
    """Yield faults on both sides of what is handed on without memory."""
    alone, behind = pooled(cases.sdp_layer()), pooled(cases.conv_layer())
    maximum = {"method": PoolMethod.MAX, "recip_width": 0, "recip_height": 0, "pad_values": (0,) * 7}
    for name, layer in (("SDP", alone), ("convolution", behind)):
        for what, cause, new in (
            ("method", "pool-method", maximum),
            ("padding value", "pool-pad-value", {"pad_values": (0,) * 7}),
            ("reciprocal", "pool-reciprocal", {"recip_height": 1 << 16}),
        ):
            yield parameters(f"{name} pooled: {what}", layer, cause, **new)
    assert isinstance(alone.producer, SdpLayer)
    assert isinstance(behind.producer, ConvLayer)
    first = alone.producer.params.x1
    assert first is not None

    def produced(what: str, layer: PooledLayer, name: str, **new: Any) -> Fault:
        return ran(what, layer, name, producer=replace(layer.producer, **new))

    no_relu = replace(alone.producer.params, x1=replace(first, relu=False))
    yield produced("SDP pooled: no ReLU", alone, "stage-relu", params=no_relu)
    moved = replace(alone.producer.src, address=cases.SRC + 64)
    yield produced("SDP pooled: input address", alone, "src-base", src=moved)
    params: ConvParams = replace(behind.producer.params, pad_value=0)
    yield produced("convolution pooled: zero padding", behind, "conv-pad-value", params=params)
    shifted = replace(behind.producer.sdp, converter=replace(behind.producer.sdp.converter, shift=12))
    yield produced("convolution pooled: shift", behind, "converter-shift", sdp=shifted)
    layout = alone.dst.layout
    narrow = replace(alone.dst, layout=replace(layout, line_stride_bytes=layout.line_stride_bytes - 8))
    yield ran("SDP pooled: line stride", alone, "dst-line-stride", dst=narrow)


def feature(shape: tuple[int, int, int], address: int, line: int = 0, surface: int = 0) -> Surface:
    """Return an INT8 cube of nv_full with gaps of so many bytes."""
    line_stride = shape[2] * 32 + line
    layout = FeatureLayout(FULL, Precision.INT8, shape, line_stride, shape[1] * line_stride + surface)
    return Surface(layout, address)


def planes(shape: tuple[int, int, int], address: int, line: int = 64, plane: int = 0) -> PlanarSurface:
    """Return INT8 planes with a line stride and gaps of so many bytes between them."""
    return PlanarSurface(PlanarLayout(FULL, Precision.INT8, shape, line, shape[1] * line + plane), address)


def lines(address: int, line: int, surface: int, shape: tuple[int, int, int] = (3, 4, 96)) -> LinesSurface:
    """Return lines with strides."""
    return LinesSurface(LinesLayout(FULL, shape, line, surface), address)


CONTRACT = RubikLayer(RubikMode.CONTRACT, feature((192, 3, 5), cases.SRC, 0, 64), feature((32, 9, 10), cases.DST), 3, 2)
SPLIT = RubikLayer(RubikMode.SPLIT, feature((40, 5, 37), cases.SRC, 0, 512), planes((33, 5, 37), cases.DST, plane=64))
MERGE = RubikLayer(RubikMode.MERGE, planes((40, 5, 37), cases.SRC, plane=128), feature((40, 5, 37), cases.DST, 32))
COPIED = BdmaLayer(lines(cases.SRC, 96, 512), lines(cases.DST, 128, 512))


def movements() -> Iterator[Fault]:
    """Yield faults of contract, split, merge and copies: other layers, and loops over what lies in memory."""
    source = CONTRACT.src.layout
    assert isinstance(source, FeatureLayout)
    cube = source.unpack(MEMORY.read(cases.SRC, source.nbytes).data)

    def contracted(channel: Callable[[int, int, int], int], down: int, right: int) -> Patch:
        parts = 192 // (down * right)
        turned: NDArray[np.int8] = np.zeros((parts, 3 * down, 5 * right), np.int8)
        for c, h, w in np.ndindex(turned.shape):
            turned[c, h, w] = cube[channel(h % down, w % right, c), h // down, w // right]
        dst = CONTRACT.dst.layout
        assert isinstance(dst, FeatureLayout)
        patch = Patch(cases.DST, np.zeros(1 << 14, np.uint8), np.zeros(1 << 14, np.bool_))
        for c, h, w in np.ndindex(turned.shape):
            at = c // 32 * dst.surface_stride_bytes + h * dst.line_stride_bytes + w * 32 + c % 32
            patch.data[at], patch.mask[at] = turned[c, h, w].view(np.uint8), True
        return patch

    right = contracted(lambda y, x, c: (y * 2 + x) * 32 + c, 3, 2)
    expected = run(CONTRACT)
    np.testing.assert_array_equal(right.data[: len(expected.data)][expected.mask], expected.data[expected.mask])
    for name, patch, cause in (
        ("columns first", contracted(lambda y, x, c: (x * 3 + y) * 32 + c, 3, 2), "move-order"),
        ("channels first", contracted(lambda y, x, c: (c * 3 + y) * 2 + x, 3, 2), "move-order"),
        ("stride along x ignored", contracted(lambda y, x, c: y * 64 + c, 3, 1), "move-stride"),
        ("strides swapped", contracted(lambda y, x, c: (y * 3 + x) * 32 + c, 2, 3), "move-stride"),
    ):
        yield Fault(f"contract: {name}", CONTRACT, patch, cause, twice=name == "strides swapped")
    for title, layer, name, stride in (
        ("split: line stride", SPLIT, "src-line-stride", {"line_stride_bytes": 36 * 32 + 64}),
        ("split: planar stride", SPLIT, "dst-surface-stride", {"planar_stride_bytes": 448}),
        ("merge: planar stride", MERGE, "src-surface-stride", {"planar_stride_bytes": 320}),
        ("merge: line stride", MERGE, "dst-line-stride", {"line_stride_bytes": 37 * 32}),
        ("copy: line stride", COPIED, "src-line-stride", {"line_stride_bytes": 128}),
        ("copy: surface stride", COPIED, "dst-surface-stride", {"surface_stride_bytes": 640}),
    ):
        end = name[:3]
        surface: Any = getattr(layer, end)
        yield ran(title, layer, name, **{end: replace(surface, layout=replace(surface.layout, **stride))})
    yield ran("copy: address", COPIED, "src-base", src=replace(COPIED.src, address=cases.SRC + 32))
    cubes = SPLIT.src.layout
    copied = Patch(cases.DST, MEMORY.read(cases.SRC, cubes.nbytes).data, cubes.written_mask())
    yield Fault("split: copied", SPLIT, copied, "move-mode")
