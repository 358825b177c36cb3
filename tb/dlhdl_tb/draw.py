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
from nvdla_tb.stimulus.generate.describe import PlanError, Table

_KINDS = {
    "conv": Kind.CONVOLUTION,
    "max_pool": Kind.MAXIMUM_POOLING,
    "average_pool": Kind.AVERAGE_POOLING,
    "fc": Kind.FULLY_CONNECTED,
    "add": Kind.ADDITION,
}
_SIZE = re.compile(r"(?P<factor>\d{0,6})(?P<letter>[CN])(?P<more>[+-]\d{1,6})?")
_MOST = 0xFFFF
"""The largest size in an instruction of the embedded cores."""

_TYPICAL = 74.0
"""Root of the mean square of an int8 that is drawn evenly."""

_WANTED = 40.0
"""That of results, so that few of them are limited."""


def size(where: str, value: Any, config: DlhdlConfig) -> int:
    """Return a size of a plan: a number, or ``C``, ``N``, ``2N+1`` and their like, which are those of the core.

    Raises:
        PlanError: for anything else, and for a size below 1 or above ``_MOST``.
    """
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if found:
        unit = config.threads if found["letter"] == "C" else config.parallel
        result = int(found["factor"] or 1) * unit + int(found["more"] or 0)
    elif type(value) is int:
        result = value
    else:
        raise PlanError(f"{where} must be a number, or one such as C, N-1 or 2N+1, not {value!r}")
    if not 1 <= result <= _MOST:
        raise PlanError(f"{where} must be 1 to {_MOST}, not {result}")
    return result


def draw_network(config: DlhdlConfig, table: Table, rng: np.random.Generator) -> Network:
    """Return the network that a scenario describes by ``input`` and ``layer``; weights, biases and exponents are drawn.

    Raises:
        PlanError: when the description cannot be understood, or the core cannot play it.
    """
    sizes = table.take("input", list, required=True)
    if len(sizes) not in (1, 3):
        raise PlanError(f"{table.where}.input must be [Z, Y, X] or [X], not {len(sizes)} sizes")
    shape = tuple(size(f"{table.where}.input", value, config) for value in sizes)
    exponent = int(rng.integers(-6, 3))
    layers: list[Layer] = []
    results = {INPUT: (shape, exponent)}
    for number, data in enumerate(table.take("layer", list, required=True)):
        where = Table(f"{table.where}.layer[{number}]", data)
        try:
            layers.append(_layer(config, where, results, rng))
        except InputError as error:
            raise error if isinstance(error, PlanError) else PlanError(f"{where.where}: {error}") from error
        where.done()
        tensor = _network(config, table, shape, exponent, layers).tensors[-1]
        results[number] = tensor.shape, tensor.exponent
    network = _network(config, table, shape, exponent, layers)
    for tensor in (network.input, *network.tensors):
        _check_size(f"{table.where}: each tensor", tensor.shape, config)
    return network


def draw_frames(network: Network, frames: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    """Return input frames."""
    _check_size("all frames", (frames, *network.shape), network.config)
    return [_values(network.config, network.shape, rng) for _ in range(frames)]


def _network(
    config: DlhdlConfig, table: Table, shape: tuple[int, ...], exponent: int, layers: Sequence[Layer]
) -> Network:
    try:
        return Network(config, shape, exponent, tuple(layers))
    except InputError as error:
        raise PlanError(f"{table.where}: {error}") from error


def _layer(
    config: DlhdlConfig, table: Table, results: Mapping[int, tuple[tuple[int, ...], int]], rng: np.random.Generator
) -> Layer:
    """Return a layer of a description, after those with these shapes and exponents of their results."""
    number = len(results) - 1
    name = table.one_of("kind", tuple(_KINDS), "")
    kind = _KINDS[name]
    source = table.take("source", int, number - 1)
    relu = table.take("relu", bool, False)
    if not INPUT <= source < number:
        raise PlanError(f"{table.where}.source must be {INPUT} to {number - 1}, not {source}")
    shape, exponent = results[source]
    window = _window(table) if kind.has_window else None
    if kind is Kind.ADDITION:
        second = table.take("second", int, INPUT)
        if not INPUT <= second < number:
            raise PlanError(f"{table.where}.second must be {INPUT} to {number - 1}, not {second}")
        result = max(exponent, results[second][1]) + int(rng.integers(0, 2))
        return Layer(kind, source, second, relu=relu, exponent=result)
    if kind is Kind.MAXIMUM_POOLING:
        return Layer(kind, source, window=window, relu=relu, exponent=exponent)
    if kind is Kind.AVERAGE_POOLING:
        return Layer(kind, source, window=window, relu=relu, exponent=exponent + int(rng.integers(-2, 2)))
    wanted_features: int | str = table.take("features", str if table.is_text("features") else int, required=True)
    features = size(f"{table.where}.features", wanted_features, config)
    wanted: tuple[int, ...] = (features, *shape)
    if window is not None:
        if len(shape) != 3:
            raise PlanError(f"{table.where}: source must be an image, not values of the fully connected module")
        wanted = (features, shape[0], window.height, window.width)
    _check_size(f"{table.where}: its weights", wanted, config)
    weights = _values(config, wanted, rng)
    terms = math.prod(wanted[1:])
    scale = round(math.log2(max(_TYPICAL * _TYPICAL * math.sqrt(terms) / _WANTED, 1.0)))
    weight_exponent = int(rng.integers(-9, 1))
    if config.data_type is DlhdlType.INT8:
        reach = round(_TYPICAL * _TYPICAL * math.sqrt(terms))
        bias = rng.integers(-reach, reach + 1, features).astype(np.int32)
    else:
        bias = rng.standard_normal(features).astype(np.float32)
    result = exponent + weight_exponent + scale
    return Layer(
        kind,
        source,
        window=window,
        relu=relu,
        exponent=result,
        weights=weights,
        bias=bias,
        weight_exponent=weight_exponent,
    )


def _window(table: Table) -> Window:
    width, height = table.integers("kernel", 2)
    stride_x, stride_y = table.integers("stride", 2, (1, 1))
    left, top, right, bottom = table.integers("padding", 4, (0, 0, 0, 0))
    return Window(width, height, stride_x, stride_y, left, top, right, bottom)


def _check_size(what: str, shape: Sequence[int], config: DlhdlConfig) -> None:
    nbytes = math.prod(shape) * config.data_type.dtype.itemsize
    if nbytes > DRAWN_BYTES:
        raise PlanError(f"{what} must take at most {DRAWN_BYTES} bytes, not {nbytes}")


def _values(config: DlhdlConfig, shape: Sequence[int], rng: np.random.Generator) -> NDArray[Any]:
    if config.data_type is DlhdlType.INT8:
        return rng.integers(-128, 128, tuple(shape), dtype=np.int8)
    return rng.standard_normal(tuple(shape)).astype(np.float32)
