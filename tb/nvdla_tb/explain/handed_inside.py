"""Values inside SDP, PDP and CDP, as the model computes them, an element a beat in the order of the hardware.

Source: public architecture documentation, units "Single Point Data Processor", "Planar Data Processor" and "Cross
Channel Data Processor"; the orders measured on the public nv_small RTL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import cdp, pdp, sdp
from nvdla_models.arithmetic import Point, Rules
from nvdla_tb.explain.build import AnyLayer
from nvdla_tb.explain.handed_beats import Handed, NotComparable, at_the_end
from nvdla_tb.judge.predictor.conv import convolve
from nvdla_tb.judge.predictor.conv_operands import Operands
from nvdla_tb.judge.predictor.expectation import ReadMemory, read_patterns
from nvdla_tb.judge.predictor.sdp import read_operands
from nvdla_tb.nvdla.layers import CdpLayer, ConvLayer, PdpLayer, PooledLayer, SdpLayer, WidthSplit

_Cube = NDArray[np.int64]
_COLUMNS = 8
"""Columns that CDP takes together, an atom each."""


def inside(value: str, layer: AnyLayer, read: ReadMemory, operands: Operands | None) -> Handed:
    """Return the elements that pass a stage for a layer; none where it does not pass.

    Args:
        value: one of ``KINDS`` of elements.
        layer: the layer.
        read: the memory that it found.
        operands: what it multiplies, when it is or begins with a convolution.

    Raises:
        NotComparable: for floating point, and layers of other engines.
    """
    first = layer.producer if isinstance(layer, PooledLayer) else layer
    if isinstance(first, CdpLayer) and value.startswith("cdp-"):
        cube, atom = _normalised(value, first, read), first.src.layout.atom_elements
        return _in_order(cube, *_by_columns(cube.shape, atom))
    if isinstance(layer, PdpLayer | PooledLayer) and value.startswith("pdp-"):
        if isinstance(layer, PdpLayer):
            source: NDArray[Any] | None = read_patterns(layer.src, read)
        else:
            source = _processed("sdp-result", layer.producer, read, operands)
        cube, atom = _pooled(value, layer, source), layer.dst.layout.atom_elements
        split = layer.split if isinstance(layer, PdpLayer) else None
        parts = list(_parts(value, layer, split, cube.shape[2]))
        return _in_order(cube, *_by_atoms(cube.shape, atom, parts))
    if isinstance(first, SdpLayer | ConvLayer) and value.startswith(("entered", "x", "sdp-")):
        found = _processed(value, first, read, operands)
        width = first.dst.layout.shape[2]
        if found is None:
            found, width = np.zeros((0, 1, 1), dtype=np.int64), 0
        return _in_order(found, *_by_atoms(found.shape, first.dst.layout.atom_elements, [(0, width)]))
    raise NotComparable(f"{value} are values of another engine")


class _Seen:
    """Collects what the model hands on at a point."""

    def __init__(self, value: str, axis: int = 0) -> None:
        self._point, self._axis = next((point for point in Point if point.value == value), None), axis
        self._blocks: list[_Cube] = []
        self.rules = Rules(handed=self._take)

    def _take(self, point: Point, values: _Cube) -> None:
        if point is self._point:
            self._blocks.append(values.astype(np.int64))

    @property
    def whole(self) -> _Cube | None:
        return np.concatenate(self._blocks, axis=self._axis) if self._blocks else None


def _processed(value: str, layer: SdpLayer | ConvLayer, read: ReadMemory, multiplied: Operands | None) -> _Cube | None:
    """Return the values of a layer at a point of SDP, None where they do not pass it."""
    params = layer.sdp if isinstance(layer, ConvLayer) else layer.params
    if params.is_float:
        raise NotComparable("only integers have known values there")
    if isinstance(layer, ConvLayer):
        assert multiplied is not None
        cube = convolve(layer, multiplied)[0].view(np.int32)
    else:
        cube = read_patterns(layer.src, read)
    if value == "entered":
        return cube.astype(np.int64)
    operands = list(read_operands(layer, params, read))
    if value.endswith("-operands"):
        stage, kind, _ = value.split("-")
        of_stage = operands[("x1", "x2").index(stage)]
        found = None if of_stage is None else getattr(of_stage, kind)
        # Of a register there are none on the way.
        return None if found is None or found.ndim == 0 else np.broadcast_to(found, cube.shape).astype(np.int64)
    seen = _Seen(value)
    sdp.compute(params, cube, *operands, rules=seen.rules)
    return seen.whole


def _pooled(value: str, layer: PdpLayer | PooledLayer, cube: NDArray[Any] | None) -> _Cube:
    if layer.params.is_float:
        raise NotComparable("only integers have known values there")
    assert cube is not None
    if value == "pdp-input":
        return cube.astype(np.int64)
    seen = _Seen(value)
    taken = cube.astype(layer.params.precision.dtype)
    result = pdp.run(layer.params, taken, layer.dst.layout.config, seen.rules)
    return result.astype(np.int64) if seen.whole is None else seen.whole


def _normalised(value: str, layer: CdpLayer, read: ReadMemory) -> _Cube:
    if layer.params.is_float:
        raise NotComparable("only integers have known values there")
    cube = read_patterns(layer.src, read)
    if value == "cdp-read":
        return cube.astype(np.int64)
    seen = _Seen(value, axis=1)
    result = cdp.compute(layer.params, cube, layer.src.layout.shape[0], seen.rules).output
    return result.astype(np.int64) if seen.whole is None else seen.whole.reshape(cube.shape)


def _parts(
    value: str, layer: PdpLayer | PooledLayer, split: WidthSplit | None, width: int
) -> Iterator[tuple[int, int]]:
    """Yield the columns of each part in which PDP goes through a cube: of its input, or of its output."""
    if split is None:
        yield 0, width
        return
    params, ends, start = layer.params, 0, 0
    for part in range(split.parts):
        is_last = part == split.parts - 1
        taken, given = (
            (split.first_in, split.first_out)
            if part == 0
            else (split.last_in, split.last_out)
            if is_last
            else (split.middle_in, split.middle_out)
        )
        if value == "pdp-input":
            # Columns that windows share with the part before are read again, those between windows never.
            yield ends + (params.stride_x - params.kernel_width if part else 0), ends + taken
        else:
            yield start, start + given
        start, ends = start + given, ends + taken


_Order = NDArray[np.int64]
"""Channels, lines and columns of elements: (3, beats)."""

_Sides = dict[str, NDArray[np.bool_]]


def _by_atoms(shape: tuple[int, ...], atom: int, parts: list[tuple[int, int]]) -> tuple[_Order, _Sides]:
    """Return the elements of a cube in the order part, surface, line, column, lane, and what is said beside them."""
    found, sides = [], []
    for start, stop in parts:
        surface, line, column, lane = np.indices((shape[0] // atom, shape[1], stop - start, atom)).reshape(4, -1)
        found.append(np.stack([surface * atom + lane, line, column + start]))
        line_end = (column == stop - start - 1) & (lane == atom - 1)
        last_line = line == shape[1] - 1
        of_part = last_line & (surface == shape[0] // atom - 1)
        of_all = of_part & (stop == parts[-1][1])
        sides.append((line_end, line_end & last_line, last_line, of_part, of_all))
    names = ("line-end", "surface-end", "last-line-of-surface", "last-line-of-part", "last-line")
    order = np.concatenate(found, axis=1)
    beside = {name: np.concatenate(flags) for name, flags in zip(names, zip(*sides, strict=True), strict=True)}
    return order, {"lane": order[0] % atom, **beside}


def _by_columns(shape: tuple[int, ...], atom: int) -> tuple[_Order, _Sides]:
    """Return the elements of a cube as CDP takes them: line, some columns, channel, column; and what is said beside."""
    channels, height, width = shape
    found, sides = [], []
    for line in range(height):
        for start in range(0, width, _COLUMNS):
            taken = min(_COLUMNS, width - start)
            channel, column = np.indices((channels, taken)).reshape(2, -1)
            found.append(np.stack([channel, np.full_like(channel, line), column + start]))
            is_last = np.ones(channel.shape, dtype=np.bool_)
            sides.append((is_last & (start + taken == width), is_last & (line == height - 1)))
    order = np.concatenate(found, axis=1)
    last_columns, last_line = (np.concatenate(flags) for flags in zip(*sides, strict=True))
    last_channels = order[0] >= channels - atom
    return order, {
        "lane": order[0] % atom,
        "last-columns": last_columns,
        "last-line": last_line,
        "last-channels": last_channels,
    }


def _in_order(cube: _Cube, order: _Order, sides: _Sides) -> Handed:
    """Return the elements of a cube (C, H, W) in an order."""
    values = cube[tuple(order)][:, np.newaxis]

    def place(beat: int, _: int) -> str:
        c, h, w = order[:, beat].tolist()
        return f"c={c} h={h} w={w}"

    beside = {name: numbers.astype(np.int64) for name, numbers in sides.items()}
    beside |= at_the_end(len(values))
    return Handed(values, np.ones(values.shape, dtype=np.bool_), place, sides=beside)
