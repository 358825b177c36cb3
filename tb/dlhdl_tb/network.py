"""Networks: layers with their operands, the tensors between them, and what each frame must give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dlhdl_models import int8, single
from dlhdl_models.layout import ConvolutionDataLayout, DlhdlType, FullyConnectedDataLayout, ModuleDataLayout
from dlhdl_models.single import Bounded
from dlhdl_models.window import Window
from dlhdl_tb.config import DlhdlConfig
from nvdla_models.arithmetic import check_range
from nvdla_models.errors import InputError

Array = NDArray[Any]
Value = Array | Bounded
"""The values of a tensor: int8 to the bit, or single within bounds."""

INPUT = -1
"""The number of the network's input among the sources of a layer."""


class Kind(Enum):
    """What a layer computes; the value is its code in the instruction list."""

    CONVOLUTION = 1
    MAXIMUM_POOLING = 2
    AVERAGE_POOLING = 3
    FULLY_CONNECTED = 4
    ADDITION = 5

    @property
    def has_weights(self) -> bool:
        """Whether it has weights and biases."""
        return self in (Kind.CONVOLUTION, Kind.FULLY_CONNECTED)

    @property
    def has_window(self) -> bool:
        """Whether it moves a window over an image."""
        return self in (Kind.CONVOLUTION, Kind.MAXIMUM_POOLING, Kind.AVERAGE_POOLING)


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer, such as ``Layer(Kind.MAXIMUM_POOLING, window=Window(2, 2, 2, 2))``.

    Args:
        kind: what it computes.
        source: number of the layer whose result it takes, ``INPUT`` for the network's input.
        second: the same of the second source of an addition.
        window: of convolution and pooling.
        relu: whether negative results become 0.
        exponent: of the result, for int8.
        weights: (K, Z, R, S) of a convolution; (K, and the source's shape) of a fully connected layer.
        bias: (K,), int32 or float32.
        weight_exponent: of the weights, for int8.
    """

    kind: Kind
    source: int = INPUT
    second: int | None = None
    window: Window | None = None
    relu: bool = False
    exponent: int = 0
    weights: Array | None = None
    bias: Array | None = None
    weight_exponent: int = 0

    def __post_init__(self) -> None:
        for name, wanted in (
            ("second", self.kind is Kind.ADDITION),
            ("window", self.kind.has_window),
            ("weights", self.kind.has_weights),
            ("bias", self.kind.has_weights),
        ):
            if (getattr(self, name) is not None) != wanted:
                rule = "must be given" if wanted else "must be None"
                raise InputError(f"{name} of a layer {self.kind.name} {rule}")
        for name in ("exponent", "weight_exponent"):
            check_range(name, getattr(self, name), -128, 127)

    @property
    def sources(self) -> tuple[int, ...]:
        """The numbers of all its sources."""
        return (self.source,) if self.second is None else (self.source, self.second)

    @property
    def operands(self) -> tuple[Array, Array]:
        """Weights and biases of a layer that has them."""
        assert self.weights is not None
        assert self.bias is not None
        return self.weights, self.bias

    @property
    def moving(self) -> Window:
        """The window of a layer that moves one."""
        assert self.window is not None
        return self.window


@dataclass(frozen=True)
class Tensor:
    """Input of a network, or result of a layer, as it lies in memory."""

    layout: ModuleDataLayout
    exponent: int

    @property
    def shape(self) -> tuple[int, ...]:
        """(Z, Y, X), or (X,) in the format of the fully connected module."""
        return self.layout.shape

    @property
    def fully_connected(self) -> bool:
        """Whether it has the format of the fully connected module."""
        return isinstance(self.layout, FullyConnectedDataLayout)


@dataclass(frozen=True, eq=False)
class Network:
    """Layers in the order in which they are played; the last one's result is the network's.

    Args:
        config: the core.
        shape: of the input: (Z, Y, X), or (X,) in the format of the fully connected module.
        exponent: of the input, for int8.
        layers: at least one.

    Raises:
        InputError: for layers that the core cannot play.
    """

    config: DlhdlConfig
    shape: tuple[int, ...]
    exponent: int
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        if not self.layers:
            raise InputError("layers must be at least one")
        check_range("exponent", self.exponent, -128, 127)
        assert self.tensors

    @cached_property
    def tensors(self) -> tuple[Tensor, ...]:
        """The result of each layer.

        Raises:
            InputError: for layers that the core cannot play.
        """
        done: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            for source in layer.sources:
                if not INPUT <= source < number:
                    raise InputError(f"source of layer {number} must be {INPUT} to {number - 1}, not {source}")
            done.append(Tensor(self._layout(self._result_shape(number, done)), layer.exponent))
        return tuple(done)

    @cached_property
    def input(self) -> Tensor:
        """The network's input."""
        return Tensor(self._layout(self.shape), self.exponent)

    def tensor(self, number: int) -> Tensor:
        """Return the result of a layer, or the network's input."""
        return self.input if number == INPUT else self.tensors[number]

    def results(self, frame: Array) -> list[Value]:
        """Return what each layer must give for an input frame.

        Raises:
            InputError: for a frame of another shape than the input's, or another dtype than the core's.
        """
        if frame.shape != self.shape or frame.dtype != self.config.data_type.dtype:
            wanted = f"{self.config.data_type.dtype} of shape {self.shape}"
            raise InputError(f"frame must be {wanted}, not {frame.dtype} of shape {frame.shape}")
        integer = self.config.data_type is DlhdlType.INT8
        start: Value = frame if integer else Bounded.exactly(frame)
        done: list[Value] = []
        for layer in self.layers:
            source = start if layer.source == INPUT else done[layer.source]
            second = start if layer.second in (INPUT, None) else done[layer.second]
            if integer:
                array = self._int8(layer, cast(Array, source), cast(Array, second))
                done.append(np.maximum(array, 0) if layer.relu else array)
            else:
                bounded = _single(layer, cast(Bounded, source), cast(Bounded, second))
                done.append(bounded.rectified if layer.relu else bounded)
        return done

    def _layout(self, shape: Sequence[int]) -> ModuleDataLayout:
        data_type, threads = self.config.data_type, self.config.threads
        if len(shape) == 1:
            return FullyConnectedDataLayout(data_type, shape[0], threads)
        return ConvolutionDataLayout(data_type, (shape[0], shape[1], shape[2]), threads)

    def _result_shape(self, number: int, done: Sequence[Tensor]) -> tuple[int, ...]:
        layer = self.layers[number]
        tensors = [self.input if source == INPUT else done[source] for source in layer.sources]
        source, second = tensors[0].shape, tensors[-1].shape
        if layer.kind is Kind.FULLY_CONNECTED:
            return (len(layer.operands[0]),)
        if layer.kind is Kind.ADDITION:
            if source != second:
                raise InputError(f"sources of addition {number} must have one shape, not {source} and {second}")
            return source
        if len(source) != 3:
            raise InputError(f"source of layer {number} must be an image, not values of the fully connected module")
        rows, pixels = layer.moving.output(*source[1:])
        return (source[0] if layer.weights is None else len(layer.weights), rows, pixels)

    def _int8(self, layer: Layer, source: Array, second: Array) -> Array:
        exponent = self.tensor(layer.source).exponent
        shift = layer.exponent - exponent - layer.weight_exponent
        match layer.kind:
            case Kind.CONVOLUTION:
                return int8.convolution(source, *layer.operands, layer.moving, shift)
            case Kind.FULLY_CONNECTED:
                return int8.fully_connected(source, *layer.operands, shift)
            case Kind.ADDITION:
                assert layer.second is not None
                exponents = (exponent, self.tensor(layer.second).exponent)
                return int8.addition(source, second, exponents, layer.exponent)
            case Kind.MAXIMUM_POOLING:
                return int8.maximum_pooling(source, layer.moving)
            case Kind.AVERAGE_POOLING:
                return int8.average_pooling(source, layer.moving, exponent, layer.exponent)


def _single(layer: Layer, source: Bounded, second: Bounded) -> Bounded:
    match layer.kind:
        case Kind.CONVOLUTION:
            return single.convolution(source, *layer.operands, layer.moving)
        case Kind.FULLY_CONNECTED:
            return single.fully_connected(source, *layer.operands)
        case Kind.ADDITION:
            return single.addition(source, second)
        case Kind.MAXIMUM_POOLING:
            return single.maximum_pooling(source, layer.moving)
        case Kind.AVERAGE_POOLING:
            return single.average_pooling(source, layer.moving)
