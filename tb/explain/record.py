"""The record of a failed run in a file of its folder, so that it can be explained later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from models.config import HwConfig
from models.errors import InputError
from models.limits import RECORD_BYTES
from models.reading import parse_json
from tb.array_files import read_arrays, text_of
from tb.explain.memory import Patch
from tb.explain.seen import Seen, SeenLayer
from tb.judge.beats import Beats
from tb.judge.tracker import LayerTracker, StartedLayer
from tb.nvdla.memory import Ram
from tb.nvdla.program.codec import encode
from tb.nvdla.program.ops import RegWrite
from tb.plain_data import converted

FILE_NAME = "writes.npz"
"""Name of the file in the folder of a failed run."""

_BEAT_FIELDS = ("address", "data", "strobe", "cycle", "axi_id")


class RecordError(InputError):
    """A file that is no record of a failed run."""


_ADDRESS_LIMIT = 1 << 62
_Natural = Annotated[int, Meta(ge=0, lt=_ADDRESS_LIMIT)]


@dataclass(frozen=True)
class _LayerFacts:
    index: _Natural
    engine: str
    group: _Natural
    cube: _Natural
    cubes: _Natural
    writes: list[tuple[str, Annotated[int, Meta(ge=0, lt=1 << 32)]]]
    ram: Ram
    address: _Natural
    beats_before: int


@dataclass(frozen=True)
class _Facts:
    config: str
    layers: list[_LayerFacts]
    beats: list[Ram]


def save(path: Path, seen: Seen, config: HwConfig, config_name: str) -> None:
    """Store what was seen.

    Args:
        path: the file.
        seen: the run.
        config: configuration of the bench.
        config_name: name or path that it was loaded by.
    """
    arrays: dict[str, Any] = {}
    for number, layer in enumerate(seen.layers):
        arrays[f"layer_{number}_data"] = layer.expected.data
        arrays[f"layer_{number}_mask"] = np.packbits(layer.expected.mask)
    for number, part in enumerate(seen.beats):
        arrays |= {f"beats_{number}_{name}": getattr(part, name) for name in _BEAT_FIELDS}
    facts = {
        "config": config_name,
        "layers": [_facts(layer, config) for layer in seen.layers],
        "beats": [part.ram.value for part in seen.beats],
    }
    np.savez_compressed(path, facts=np.array(json.dumps(facts)), **arrays)


def _facts(layer: SeenLayer, config: HwConfig) -> dict[str, Any]:
    started = layer.started
    writes = [op for op in encode(started.layer, config) if isinstance(op, RegWrite)]
    return {
        "index": started.index,
        "engine": started.engine,
        "group": started.group,
        "cube": started.cube,
        "cubes": started.cubes,
        "writes": [(op.register, op.value) for op in writes],
        "ram": layer.ram.value,
        "address": layer.expected.address,
        "beats_before": layer.beats_before,
    }


def load(path: Path, config_name: str | None = None) -> tuple[Seen, HwConfig]:
    """Return the record of a run, and the configuration.

    Args:
        path: file that ``save`` wrote.
        config_name: name or path of the configuration, None for that of the run.

    Raises:
        RecordError: when the file is no such record, or is for another configuration.
    """
    arrays = read_arrays(path, RECORD_BYTES, RecordError)
    if "facts" not in arrays:
        raise RecordError(f"{path}: the file must hold facts, as the record of a failed run does")
    where = f"{path}: facts"
    raw = parse_json(text_of(arrays["facts"], where, RecordError), where, RecordError)
    facts = converted(raw, _Facts, where, RecordError)
    config = HwConfig.load(config_name or facts.config)
    layers = [_layer(entry, arrays, number, config, str(path)) for number, entry in enumerate(facts.layers)]
    beats = [_beats(ram, arrays, number, str(path)) for number, ram in enumerate(facts.beats)]
    return Seen(tuple(layers), tuple(beats)), config


def _layer(
    entry: _LayerFacts, arrays: Mapping[str, NDArray[Any]], number: int, config: HwConfig, where: str
) -> SeenLayer:
    tracker = LayerTracker(config)
    found = [
        started
        for register, value in entry.writes
        for started in tracker.write(tracker.state.registers.parse(register), value)
    ]
    if len(found) != 1:
        raise RecordError(f"{where}: layer {entry.index}: its registers must start one layer, not {len(found)}")
    layer = found[0].layer
    started = StartedLayer(entry.index, entry.engine, entry.group, layer, cube=entry.cube, cubes=entry.cubes)
    data = _taken(arrays, f"layer_{number}_data", "uint8", (layer.dst.layout.nbytes,), where)
    packed = _taken(arrays, f"layer_{number}_mask", "uint8", (-(-len(data) // 8),), where)
    mask = np.unpackbits(packed, count=len(data)).astype(np.bool_)
    return SeenLayer(started, layer.dst.layout, entry.ram, Patch(entry.address, data, mask), entry.beats_before)


def _beats(ram: Ram, arrays: Mapping[str, NDArray[Any]], number: int, where: str) -> Beats:
    data = _taken(arrays, f"beats_{number}_data", "uint8", (None, None), where)
    count, lanes = data.shape
    address = _taken(arrays, f"beats_{number}_address", "uint64", (count,), where)
    if count and int(address.max()) >= _ADDRESS_LIMIT:
        raise RecordError(f"{where}: addresses of beats must be below {_ADDRESS_LIMIT:#x}, not {int(address.max()):#x}")
    strobe = _taken(arrays, f"beats_{number}_strobe", "bool", (count, lanes), where)
    cycle = _taken(arrays, f"beats_{number}_cycle", "int64", (count,), where)
    return Beats(ram, address, data, strobe, cycle, _taken(arrays, f"beats_{number}_axi_id", "int64", (count,), where))


def _taken(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: str, shape: tuple[int | None, ...], where: str
) -> NDArray[Any]:
    """Return an array of the record; a side of None may have any size."""
    if name not in arrays:
        raise RecordError(f"{where}: the record must hold {name}")
    array = arrays[name]
    fits = array.ndim == len(shape) and all(s in (None, n) for s, n in zip(shape, array.shape, strict=True))
    if array.dtype != dtype or not fits:
        sides = ", ".join("N" if side is None else str(side) for side in shape)
        raise RecordError(f"{where}: {name} must be {dtype} ({sides}), not {array.dtype} {array.shape}")
    return array
