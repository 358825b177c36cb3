"""Layers that end in PDP on the fly: SDP, alone or after a convolution, hands its result on without memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout
from nvdla_models.pdp import PdpParams
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers.checks import check_configs, check_precision, check_shape
from nvdla_tb.nvdla.layers.conv import ConvLayer
from nvdla_tb.nvdla.layers.pdp import check_line_buffer
from nvdla_tb.nvdla.layers.sdp import SdpLayer
from nvdla_tb.nvdla.surfaces import ImageSurface, Surface


def on_the_fly(config: HwConfig, precision: Precision, shape: tuple[int, int, int]) -> Surface:
    """Return the stand-in for a destination that is not in memory: a cube without gaps at address 0."""
    return Surface(FeatureLayout.packed(config, precision, shape), 0)


@dataclass(frozen=True)
class PooledLayer:
    """A layer of SDP whose result PDP pools on the fly, from memory or after a convolution.

    ``producer`` is the layer that SDP ends; its ``dst`` is what :func:`on_the_fly` returns, because nothing
    of it is written.

    Raises:
        InputError: when the layers do not fit each other, or for what SDP cannot hand on.

    Source: programming guide, "PDP programming", and "Limitation" of SDP; unit description, "Planar Data
        Processor".
    """

    unit: ClassVar[str] = "PDP"
    producer: SdpLayer | ConvLayer
    dst: Surface
    params: PdpParams

    def __post_init__(self) -> None:
        between = self.producer.dst
        config, precision, shape = between.layout.config, between.layout.precision, between.layout.shape
        check_configs(between.layout, {"dst": self.dst.layout})
        if between != on_the_fly(config, precision, shape):
            raise InputError("producer.dst must be without gaps at address 0 of MC, because it is not written")
        processing = self.producer.sdp if isinstance(self.producer, ConvLayer) else self.producer.params
        if processing.input_precision is not precision:
            raise InputError(
                f"producer must keep the precision {processing.input_precision.name} for PDP, not convert to "
                f"{precision.name}"
            )
        if processing.compares:
            raise InputError("producer must not compare, because a comparison has no result to pool")
        if isinstance(self.producer, ConvLayer) and self.producer.params.winograd:
            raise InputError("producer must not be Winograd: the order in which its results reach PDP is not known")
        if isinstance(self.producer, ConvLayer) and self.producer.batch is not None:
            raise InputError("producer must not be a batch, whose cubes reach PDP in turns")
        if self.params.nan_to_zero:
            raise InputError("nan_to_zero must be False, because PDP flushes NaN from memory alone")
        expected = (shape[0], self.params.output_height(shape[1]), self.params.output_width(shape[2]))
        check_shape("dst", self.dst.layout.shape, expected)
        for name, got in (("params", self.params.precision), ("dst", self.dst.layout.precision)):
            check_precision(name, got, precision)
        check_line_buffer("dst", self.params, config, expected[2])

    @property
    def src(self) -> Surface | ImageSurface:
        """The input of the first unit."""
        return self.producer.src
