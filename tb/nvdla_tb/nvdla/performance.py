"""The least work of a layer, and how near the hardware came to it: bounds in cycles, and their ratio.

A bound is what one part of the hardware needs when it never waits: the multipliers, the pipeline of each engine, and
both directions of each memory port.

Bounds hold for every configuration and kind of layer, whatever the latency: so patience with a silent device, and what
limits a layer, come from here. ``nvdla.timing`` predicts cycles, but of nv_small's structure and measured kinds alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import msgspec

from nvdla_models.config import HwConfig
from nvdla_models.layout import FeatureLayout
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.engines import engine_of
from nvdla_tb.nvdla.layers import ConvLayer, Layer, PooledLayer, SdpLayer, convolution_of, first_of
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.conv_buffer import FETCHES_ALL, Fetch
from nvdla_tb.nvdla.surfaces import ImageSurface, LinesSurface, PlanarSurface, Surface

LATENCY_RATIO = 1.5
"""From this ratio on, no bound explains the cycles: waits for memory and for the pipelines to fill do."""


class Work(msgspec.Struct, frozen=True):
    """The work of a layer.

    Attributes:
        macs: Multiplications of elements, padding channels left out.
        bounds: Least cycles by what takes them, such as ``MAC`` or ``MC read``.
        read_bytes: By RAM.
        written_bytes: By RAM.
        mac_peak: Multiplications that the configuration can do in a cycle.
    """

    macs: int
    bounds: dict[str, int]
    read_bytes: dict[Ram, int]
    written_bytes: dict[Ram, int]
    mac_peak: int

    @property
    def bound(self) -> tuple[str, int]:
        """The largest bound: what takes it, and its cycles."""
        return max(self.bounds.items(), key=lambda item: item[1])


@dataclass(frozen=True)
class Performance:
    """A layer's work and the cycles that it took."""

    work: Work
    cycles: int

    @property
    def ratio(self) -> float:
        """Cycles by the largest bound."""
        return self.cycles / max(self.work.bound[1], 1)

    @property
    def holds(self) -> str:
        """The limit of the cycles: the largest bound, or latency when they are far from it."""
        return self.work.bound[0] if self.ratio < LATENCY_RATIO else "latency"

    @property
    def mac_utilisation(self) -> float | None:
        """Part of the multipliers that were of use, or None for a layer without multiplications."""
        return self.work.macs / (self.cycles * self.work.mac_peak) if self.work.macs else None


def work_of(layer: Layer, fetch: Fetch = FETCHES_ALL) -> Work:
    """Return the work of a layer; a convolution reads what it does not find in the convolution buffer."""
    config = layer.dst.layout.config
    reads: dict[Ram, int] = {}
    for ram, nbytes in _reads(layer, fetch):
        reads[ram] = reads.get(ram, 0) + nbytes
    writes = {layer.dst.ram: _nbytes(layer.dst)}
    bounds = {name: cycles for name, cycles in _steps(layer, config) if cycles}
    widths = {Ram.MC: config.primary_memif_width_bytes, Ram.CVSRAM: config.secondary_memif_width_bytes}
    for what, moved in (("read", reads), ("write", writes)):
        for ram, nbytes in moved.items():
            bounds[f"{ram.value} {what}"] = -(-nbytes // widths[ram])
    conv = convolution_of(layer)
    precision = Precision.INT8 if conv is None else conv.params.precision
    peak = config.mac_atomic_c_size * config.kernel_group_size(precision)
    macs = 0 if conv is None else prod(conv.weights.layout.shape) * prod(conv.dst.layout.shape[1:])
    return Work(macs, bounds, reads, writes, peak)


def silent_cycles(layer: Layer) -> int:
    """Return how long a layer that nothing stalls may leave the memory ports alone.

    A convolution multiplies all channels and weights before its first output. However few outputs there are, an
    operation takes as many cycles as loading the next weight of each kernel: 8 on the public nv_small RTL, 32 on that
    of nv_large.
    """
    cycles = work_of(layer).bound[1]
    conv = convolution_of(layer)
    if conv is None or conv.params.winograd:
        return cycles
    config = layer.dst.layout.config
    _, height, width = conv.dst.layout.shape
    return max(cycles, _operations(conv, config) * max(height * width, config.mac_atomic_k_size))


def _operations(conv: ConvLayer, config: HwConfig) -> int:
    """Return how often the multipliers of a direct convolution take other weights for the same outputs."""
    kernels, channels, rows, columns = conv.weights.layout.packed_shape
    groups = -(-kernels // config.kernel_group_size(conv.params.precision))
    return groups * -(-channels // config.mac_atomic_c_size) * rows * columns


def _steps(layer: Layer, config: HwConfig) -> Iterator[tuple[str, int]]:
    """Yield the least cycles of each pipeline that a layer goes through."""
    conv = convolution_of(layer)
    if conv is not None and not conv.params.winograd:
        _, height, width = conv.dst.layout.shape
        yield "MAC", _operations(conv, config) * height * width
    producer = first_of(layer)
    if isinstance(producer, SdpLayer | ConvLayer):
        processing = producer.sdp if isinstance(producer, ConvLayer) else producer.params
        slowest = config.sdp_bs_throughput if processing.y is None else config.sdp_ew_throughput
        yield "SDP", -(-_elements(producer.dst.layout) // slowest)
    engine = engine_of(layer)
    if engine.elements_per_cycle is not None:
        taken = layer.producer.dst.layout if isinstance(layer, PooledLayer) else layer.src.layout
        assert isinstance(taken, FeatureLayout)
        yield engine.name, -(-_elements(taken) // engine.elements_per_cycle(config))


def _elements(layout: FeatureLayout) -> int:
    """Return the elements of a cube, padding channels included."""
    return layout.padded_channels * layout.shape[1] * layout.shape[2]


def _reads(layer: Layer, fetch: Fetch) -> Iterator[tuple[Ram, int]]:
    """Yield RAM and bytes of all that a layer reads."""
    producer = first_of(layer)
    if fetch.data:
        yield producer.src.ram, _nbytes(producer.src)
    if isinstance(producer, ConvLayer) and fetch.weights:
        weights = producer.weights
        yield weights.ram, weights.layout.nbytes if weights.compression is None else weights.compression.weight_bytes
    if isinstance(producer, SdpLayer | ConvLayer):
        for source in (producer.x1, producer.x2, producer.y):
            if source is not None and source.memory is not None:
                yield source.memory.ram, source.memory.layout.nbytes


def _nbytes(surface: Surface | ImageSurface | PlanarSurface | LinesSurface) -> int:
    """Return the bytes of a surface, gaps left out."""
    match surface:
        case Surface():
            return _elements(surface.layout) * surface.layout.precision.nbytes
        case ImageSurface():
            return sum(surface.layout.plane_nbytes)
        case LinesSurface():
            return prod(surface.layout.shape)
        case PlanarSurface():
            return prod(surface.layout.shape) * surface.layout.precision.nbytes
