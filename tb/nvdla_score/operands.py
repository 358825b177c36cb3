"""Operand bugs: what lies in the memory that the device reads, while the model reads what should lie there.

Each bug is a tool that took the operand of a layer for another layout before it packed it in the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout, ImageWeightLayout, OperandLayout, WeightLayout
from nvdla_tb.judge.tracker import LayerTracker
from nvdla_tb.nvdla.layers import ConvLayer, Layer, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import MemLoad, Op, RegWrite
from nvdla_tb.nvdla.surfaces import OperandSurface
from nvdla_tb.stimulus.scenario import Scenario

ByteArray = NDArray[np.uint8]
Cube = NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class Alteration:
    """Bytes that the device finds at an address, and the model does not."""

    ram: Ram
    address: int
    data: ByteArray


def layers_of(ops: Sequence[Op], config: HwConfig) -> list[Layer]:
    """Return the layers that a program starts, in their order."""
    tracker = LayerTracker(config)
    parse = tracker.state.registers.parse
    return [
        started.layer
        for op in ops
        if isinstance(op, RegWrite)
        for started in tracker.write(parse(op.register), op.value)
    ]


def alterations(bug: str, scenario: Scenario, config: HwConfig) -> list[Alteration]:
    """Return the memory of a scenario that an operand bug changes; nothing when it has no such operand.

    Raises:
        InputError: for an unknown bug.
    """
    if bug not in OPERAND_BUGS:
        raise InputError(f"operand bug must be one of {', '.join(OPERAND_BUGS)}, not {bug}")
    layers, loaded = layers_of(scenario.ops, config), _Loaded(scenario.ops)
    found = []
    for address, right, wrong in OPERAND_BUGS[bug](layers, loaded):
        for first, data in loaded.only(address, wrong):
            if not np.array_equal(data, right[first - address : first - address + len(data)]):
                found.append(Alteration(Ram.MC, first, data))
    return found


class _Loaded:
    """The data that a scenario loads into the primary memory."""

    def __init__(self, ops: Sequence[Op]) -> None:
        loads = (op for op in ops if isinstance(op, MemLoad) and op.ram is Ram.MC)
        self._chunks = [(op.address + offset, data) for op in loads for offset, data in op.chunks]

    def read(self, address: int, nbytes: int) -> ByteArray:
        """Return bytes; those that are not loaded are 0."""
        data = np.zeros(nbytes, dtype=np.uint8)
        for first, chunk in self._inside(address, nbytes):
            data[first - address : first - address + len(chunk)] = np.frombuffer(chunk, dtype=np.uint8)
        return data

    def has(self, address: int) -> bool:
        """Return whether a byte is loaded."""
        return any(True for _ in self._inside(address, 1))

    def only(self, address: int, data: ByteArray) -> Iterator[tuple[int, ByteArray]]:
        """Yield the parts of some bytes that lie where something is loaded."""
        for first, chunk in self._inside(address, len(data)):
            yield first, data[first - address : first - address + len(chunk)]

    def _inside(self, address: int, nbytes: int) -> Iterator[tuple[int, bytes]]:
        for start, chunk in self._chunks:
            first, end = max(start, address), min(start + len(chunk), address + nbytes)
            if first < end:
                yield first, chunk[first - start : end - start]


Changed = Iterator[tuple[int, ByteArray, ByteArray]]
"""Address of an operand, its bytes, and the bytes that the device finds."""

OperandBug = Callable[[Sequence[Layer], _Loaded], Changed]


def _sources(change: Callable[[FeatureLayout, ByteArray], Cube]) -> OperandBug:
    """Return a bug of the cubes that layers read; ``change`` gets the layout with padding channels."""

    def changed(layers: Sequence[Layer], loaded: _Loaded) -> Changed:
        for surface in {layer.src.address: layer.src for layer in layers if isinstance(layer.src, Surface)}.values():
            layout = surface.layout
            if not loaded.has(surface.address):
                continue
            whole = replace(layout, shape=(layout.padded_channels, *layout.shape[1:]))
            raw = loaded.read(surface.address, whole.nbytes)
            cube = np.ascontiguousarray(change(whole, raw)).view(whole.precision.dtype).reshape(whole.shape)
            yield surface.address, raw, whole.pack(cube)

    return changed


def _as(layout: FeatureLayout | WeightLayout, raw: ByteArray) -> Cube:
    """Return what lies in bytes under a layout, as far as they reach."""
    return layout.unpack(np.pad(raw, (0, max(0, layout.nbytes - len(raw)))))


def _packed_lines(layout: FeatureLayout, raw: ByteArray) -> Cube:
    atom = layout.config.memory_atomic_bytes
    return _as(replace(layout, line_stride_bytes=layout.shape[2] * atom), raw)


def _packed_surfaces(layout: FeatureLayout, raw: ByteArray) -> Cube:
    return _as(replace(layout, surface_stride_bytes=layout.shape[1] * layout.line_stride_bytes), raw)


def _axes_swapped(layout: FeatureLayout, raw: ByteArray) -> Cube:
    channels, height, width = layout.shape
    atom = layout.config.memory_atomic_bytes
    other = replace(layout, shape=(channels, width, height), line_stride_bytes=height * atom)
    return _as(other, raw).transpose(0, 2, 1)


def _planar(layout: FeatureLayout, raw: ByteArray) -> Cube:
    return raw[: int(np.prod(layout.shape))].reshape(layout.shape)


def _pixel_major(layout: FeatureLayout, raw: ByteArray) -> Cube:
    channels, height, width = layout.shape
    return raw[: channels * height * width].reshape(height, width, channels).transpose(2, 0, 1)


def _atom_of_sixteen(layout: FeatureLayout, raw: ByteArray) -> Cube:
    channels, height, width = layout.shape
    pairs = -(-channels // 16)
    atoms = np.resize(np.pad(raw, (0, pairs * 16 * height * width)), (pairs, height, width, 16))
    return atoms.transpose(0, 3, 1, 2).reshape(-1, height, width)[:channels]


def _surfaces_reversed(layout: FeatureLayout, raw: ByteArray) -> Cube:
    cube = layout.unpack(raw)
    return cube.reshape(-1, layout.config.memory_atomic_bytes, *cube.shape[1:])[::-1]


def _halves_swapped(layout: FeatureLayout, raw: ByteArray) -> Cube:
    cube, atom = layout.unpack(raw), layout.config.memory_atomic_bytes
    return np.roll(cube.reshape(-1, atom, *cube.shape[1:]), atom // 2, axis=1)


def _late(nbytes: int, raw: ByteArray) -> ByteArray:
    """Return bytes from so many on, and zeros after them."""
    return np.pad(raw[nbytes:], (0, nbytes))


def _weights(change: Callable[[WeightLayout, ByteArray], Cube]) -> OperandBug:
    """Return a bug of the weights of convolutions."""

    def changed(layers: Sequence[Layer], loaded: _Loaded) -> Changed:
        for layer in layers:
            if isinstance(layer, ConvLayer) and isinstance(layer.weights.layout, WeightLayout):
                layout = layer.weights.layout
                raw = loaded.read(layer.weights.address, layout.nbytes)
                wrong = change(layout, raw)
                if wrong.shape == layout.packed_shape:
                    yield layer.weights.address, raw, layout.pack(np.ascontiguousarray(wrong))

    return changed


def _kernels_as_channels(layout: WeightLayout, raw: ByteArray) -> Cube:
    kernels, channels, height, width = layout.shape
    if isinstance(layout, ImageWeightLayout):
        return layout.unpack(raw)
    return _as(replace(layout, shape=(channels, kernels, height, width)), raw).transpose(1, 0, 2, 3)


def _groups_of_sixteen(layout: WeightLayout, raw: ByteArray) -> Cube:
    return _as(replace(layout, config=replace(layout.config, mac_atomic_k_size=16)), raw)


def _cubes_of_thirty_two(layout: WeightLayout, raw: ByteArray) -> Cube:
    config = replace(layout.config, mac_atomic_c_size=32, cbuf_bank_width_bytes=32)
    return _as(replace(layout, config=config), raw)


def _operands(change: Callable[[OperandLayout, ByteArray], ByteArray]) -> OperandBug:
    """Return a bug of the operands of SDP's stages."""

    def changed(layers: Sequence[Layer], loaded: _Loaded) -> Changed:
        for surface in _operand_surfaces(layers):
            raw = loaded.read(surface.address, surface.layout.nbytes)
            yield surface.address, raw, change(surface.layout, raw)

    return changed


def _operand_surfaces(layers: Sequence[Layer]) -> Iterator[OperandSurface]:
    for layer in layers:
        for stage in ("x1", "x2"):
            source = getattr(layer, stage, None)
            if source is not None and source.memory is not None:
                yield source.memory


def _pair_swapped(layout: OperandLayout, raw: ByteArray) -> ByteArray:
    if len(layout.components) != 2:
        return raw
    size = layout.component_bytes
    return raw.reshape(-1, 2, size)[:, ::-1].reshape(-1)


def _byte_order(layout: OperandLayout, raw: ByteArray) -> ByteArray:
    return raw.reshape(-1, layout.component_bytes)[:, ::-1].reshape(-1)


def _stale(layers: Sequence[Layer], loaded: _Loaded) -> Changed:
    surfaces = list(_operand_surfaces(layers))
    for before, surface in pairwise(surfaces):
        if before.layout.nbytes == surface.layout.nbytes:
            raw = loaded.read(surface.address, surface.layout.nbytes)
            yield surface.address, raw, loaded.read(before.address, surface.layout.nbytes)


OPERAND_BUGS: dict[str, OperandBug] = {
    "source_line_stride": _sources(_packed_lines),
    "source_surface_stride": _sources(_packed_surfaces),
    "source_axes_swapped": _sources(_axes_swapped),
    "source_planar": _sources(_planar),
    "source_pixel_major": _sources(_pixel_major),
    "source_atom_size": _sources(_atom_of_sixteen),
    "source_surfaces_reversed": _sources(_surfaces_reversed),
    "source_lines_reversed": _sources(lambda layout, raw: layout.unpack(raw)[:, ::-1]),
    "source_atom_late": _sources(lambda layout, raw: layout.unpack(_late(layout.config.memory_atomic_bytes, raw))),
    "source_halves_swapped": _sources(_halves_swapped),
    "source_offset_binary": _sources(lambda layout, raw: layout.unpack(raw ^ np.uint8(0x80))),
    "source_zeros": _sources(lambda layout, raw: layout.unpack(np.zeros_like(raw))),
    "weights_kernels_as_channels": _weights(_kernels_as_channels),
    "weights_rows_as_columns": _weights(lambda layout, raw: layout.unpack(raw).transpose(0, 1, 3, 2)),
    "weights_group_size": _weights(_groups_of_sixteen),
    "weights_cube_size": _weights(_cubes_of_thirty_two),
    "weights_one_byte_late": _weights(lambda layout, raw: layout.unpack(_late(1, raw))),
    "operands_pair_swapped": _operands(_pair_swapped),
    "operands_byte_order": _operands(_byte_order),
    "operands_atom_late": _operands(lambda layout, raw: _late(layout.atom_bytes, raw)),
    "operands_zeros": _operands(lambda layout, raw: np.zeros_like(raw)),
    "operands_stale": _stale,
}
