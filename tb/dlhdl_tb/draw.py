"""Networks from descriptions: sizes in words of the core, all numbers from a seed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlhdl_models.layout import DlhdlType
from dlhdl_models.window import Window
from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.network import INPUT, Kind, Layer, Network
from nvdla_models.errors import InputError
from nvdla_models.limits import DRAWN_BYTES
from nvdla_tb.stimulus.generate.errors import PlanError, of_key
from nvdla_tb.stimulus.generate.layers.entries import Entry, Four, Pair

Size = int | str
"""A size: a number, or ``C``, ``N``, ``2N+1`` and their like, which are those of the core."""


class _LayerEntry(Entry, tag_field="kind", frozen=True, kw_only=True):
    """What all layers have.

    Attributes:
        source: number of the layer whose result it takes, -1 for the input; the one before without the key.
        relu: whether negative results become 0.
    """

    source: int | None = None
    relu: bool = False


class _WindowEntry(_LayerEntry, frozen=True, kw_only=True):
    """What layers with a window have.

    Attributes:
        kernel: its width and height.
        stride: columns and lines from one window to the next.
        padding: columns and lines of padding: left, top, right, bottom.
    """

    kernel: Pair
    stride: Pair = (1, 1)
    padding: Four = (0, 0, 0, 0)


class ConvEntry(_WindowEntry, tag="conv", frozen=True, kw_only=True):
    """A convolution with so many features."""

    features: Size


class MaxPoolEntry(_WindowEntry, tag="max_pool", frozen=True, kw_only=True):
    """The largest element of each window."""


class AveragePoolEntry(_WindowEntry, tag="average_pool", frozen=True, kw_only=True):
    """The average of each window."""


class FcEntry(_LayerEntry, tag="fc", frozen=True, kw_only=True):
    """A fully connected layer with so many features."""

    features: Size


class AddEntry(_LayerEntry, tag="add", frozen=True, kw_only=True):
    """The sum of two results; ``second`` is the number of the other one's layer, as ``source`` is."""

    second: int = INPUT


AnyLayerEntry = ConvEntry | MaxPoolEntry | AveragePoolEntry | FcEntry | AddEntry
_SIZE = re.compile(r"(?P<factor>\d{0,6})(?P<letter>[CN])(?P<more>[+-]\d{1,6})?")
_MOST = 0xFFFF
"""The largest size in an instruction of the embedded cores."""

_TYPICAL = 74.0
"""Root of the mean square of an int8 that is drawn evenly."""

_WANTED = 40.0
"""That of results, so that few of them are limited."""


def size(where: str, value: Size, config: DlhdlConfig) -> int:
    """Return a size of a plan in numbers.

    Raises:
        PlanError: for text that is no size, and for a size below 1 or above ``_MOST``.
    """
    result = value
    if isinstance(result, str):
        found = _SIZE.fullmatch(result)
        if found is None:
            raise PlanError(f"{where} must be a number, or one such as C, N-1 or 2N+1, not {value!r}")
        unit = config.threads if found["letter"] == "C" else config.parallel
        result = int(found["factor"] or 1) * unit + int(found["more"] or 0)
    if not 1 <= result <= _MOST:
        raise PlanError(f"{where} must be 1 to {_MOST}, not {result}")
    return result


def draw_network(
    config: DlhdlConfig, sizes: Sequence[Size], entries: Sequence[AnyLayerEntry], rng: np.random.Generator
) -> Network:
    """Return the network of an input and layers; weights, biases and exponents are drawn.

    Raises:
        PlanError: when the description cannot be understood, or the core cannot play it.
    """
    if len(sizes) not in (1, 3):
        raise PlanError(f"input must be [Z, Y, X] or [X], not {len(sizes)} sizes")
    shape = tuple(size("input", value, config) for value in sizes)
    exponent = int(rng.integers(-6, 3))
    layers: list[Layer] = []
    results = {INPUT: (shape, exponent)}
    for number, entry in enumerate(entries):
        with of_key(f"layer[{number}]"):
            layers.append(_layer(config, entry, results, rng))
        tensor = Network(config, shape, exponent, tuple(layers)).tensors[-1]
        results[number] = tensor.shape, tensor.exponent
    network = Network(config, shape, exponent, tuple(layers))
    for tensor in (network.input, *network.tensors):
        _check_size("each tensor", tensor.shape, config)
    return network


def draw_frames(network: Network, frames: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    """Return input frames."""
    _check_size("all frames", (frames, *network.shape), network.config)
    return [_values(network.config, network.shape, rng) for _ in range(frames)]


def _layer(
    config: DlhdlConfig,
    entry: AnyLayerEntry,
    results: Mapping[int, tuple[tuple[int, ...], int]],
    rng: np.random.Generator,
) -> Layer:
    """Return a layer after those with these shapes and exponents of their results."""
    number, relu = len(results) - 1, entry.relu
    source = number - 1 if entry.source is None else entry.source
    if not INPUT <= source < number:
        raise PlanError(f"source must be {INPUT} to {number - 1}, not {source}")
    shape, exponent = results[source]
    match entry:
        case AddEntry(second=second):
            if not INPUT <= second < number:
                raise PlanError(f"second must be {INPUT} to {number - 1}, not {second}")
            result = max(exponent, results[second][1]) + int(rng.integers(0, 2))
            return Layer(Kind.ADDITION, source, second, relu=relu, exponent=result)
        case MaxPoolEntry():
            return Layer(Kind.MAXIMUM_POOLING, source, window=_window(entry), relu=relu, exponent=exponent)
        case AveragePoolEntry():
            result = exponent + int(rng.integers(-2, 2))
            return Layer(Kind.AVERAGE_POOLING, source, window=_window(entry), relu=relu, exponent=result)
    window = _window(entry) if isinstance(entry, ConvEntry) else None
    features = size("features", entry.features, config)
    wanted: tuple[int, ...] = (features, *shape)
    if window is not None:
        if len(shape) != 3:
            raise PlanError("source must be an image, not values of the fully connected module")
        wanted = (features, shape[0], window.height, window.width)
    _check_size("its weights", wanted, config)
    weights = _values(config, wanted, rng)
    terms = math.prod(wanted[1:])
    scale = round(math.log2(max(_TYPICAL * _TYPICAL * math.sqrt(terms) / _WANTED, 1.0)))
    weight_exponent = int(rng.integers(-9, 1))
    if config.data_type is DlhdlType.INT8:
        reach = round(_TYPICAL * _TYPICAL * math.sqrt(terms))
        bias = rng.integers(-reach, reach + 1, features).astype(np.int32)
    else:
        bias = rng.standard_normal(features).astype(np.float32)
    return Layer(
        Kind.CONVOLUTION if window is not None else Kind.FULLY_CONNECTED,
        source,
        window=window,
        relu=relu,
        exponent=exponent + weight_exponent + scale,
        weights=weights,
        bias=bias,
        weight_exponent=weight_exponent,
    )


def _window(entry: _WindowEntry) -> Window:
    return Window(*entry.kernel, *entry.stride, *entry.padding)


def _check_size(what: str, shape: Sequence[int], config: DlhdlConfig) -> None:
    nbytes = math.prod(shape) * config.data_type.dtype.itemsize
    if nbytes > DRAWN_BYTES:
        raise InputError(f"{what} must take at most {DRAWN_BYTES} bytes, not {nbytes}")


def _values(config: DlhdlConfig, shape: Sequence[int], rng: np.random.Generator) -> NDArray[Any]:
    if config.data_type is DlhdlType.INT8:
        return rng.integers(-128, 128, tuple(shape), dtype=np.int8)
    return rng.standard_normal(tuple(shape)).astype(np.float32)
