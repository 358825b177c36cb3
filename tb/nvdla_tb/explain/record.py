"""The record of a failed run in a file of its folder, so that it can be explained later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import RECORD_BYTES
from nvdla_models.reading import parse_json
from nvdla_tb.array_files import read_arrays, text_of
from nvdla_tb.explain.build import OtherLayer
from nvdla_tb.explain.evidence import AnyStarted
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.writers import SeenLayer
from nvdla_tb.judge.beats import BEAT_FIELDS, Beats
from nvdla_tb.judge.tracker import LayerTracker, StartedLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.conv_buffer import ConvBuffer
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.plain_data import converted
from nvdla_tb.writing import writing

SCENARIO_FOLDER = "scenario"
"""Name of the scenario in the folder of a run."""

FILE_NAME = "writes.npz"
"""Name of the file in the folder of a failed run."""


class RecordError(InputError):
    """A file that is no record of a failed run."""


_ADDRESS_LIMIT = 1 << 62
_Natural = Annotated[int, Meta(ge=0, lt=_ADDRESS_LIMIT)]


@dataclass(frozen=True)
class LayerFacts:
    """What the record says of a layer besides its bytes.

    ``writes`` are the registers of a layer of NVDLA; ``number`` and ``frame`` say which one it is in another system.
    """

    index: _Natural
    engine: str
    group: _Natural
    cube: _Natural
    cubes: _Natural
    writes: list[tuple[str, Annotated[int, Meta(ge=0, lt=1 << 32)]]]
    ram: Ram
    address: _Natural
    beats_before: int
    number: _Natural | None = None
    frame: _Natural | None = None
    slack: Annotated[float, Meta(ge=0)] = 0.0
    cut: bool = False


@dataclass(frozen=True)
class _Facts:
    config: str
    layers: list[LayerFacts]
    beats: list[Ram]
    altered: tuple[_Natural, ...] = ()


def save(path: Path, seen: Seen, config: HwConfig | None, config_name: str) -> None:
    """Store what was seen.

    Args:
        path: the file.
        seen: the run.
        config: configuration of NVDLA, None for another system.
        config_name: name or path that it was loaded by.
    """
    arrays: dict[str, Any] = {}
    for number, layer in enumerate(seen.layers):
        arrays[f"layer_{number}_data"] = layer.expected.data
        arrays[f"layer_{number}_mask"] = np.packbits(layer.expected.mask)
    for number, part in enumerate(seen.beats):
        arrays |= {f"beats_{number}_{name}": getattr(part, name) for name in BEAT_FIELDS}
    arrays |= {f"altered_{number}": patch.data for number, patch in enumerate(seen.altered)}
    layers, ports = [_facts(layer, config) for layer in seen.layers], [part.ram for part in seen.beats]
    facts = _Facts(config_name, layers, ports, tuple(patch.address for patch in seen.altered))
    with writing(path):
        np.savez_compressed(path, facts=np.array(msgspec.json.encode(facts).decode()), **arrays)


def _facts(layer: SeenLayer, config: HwConfig | None) -> LayerFacts:
    started, played = layer.started, layer.started.layer
    writes = []
    if not isinstance(played, OtherLayer):
        assert config is not None
        writes = [(op.register, op.value) for op in encode(played, config) if isinstance(op, RegWrite)]
    index, engine, group, cube, cubes, frame = msgspec.structs.astuple(started.id)
    number = played.number if isinstance(played, OtherLayer) else None
    place = (layer.ram, layer.expected.address, layer.beats_before)
    return LayerFacts(index, engine, group, cube, cubes, writes, *place, number, frame, layer.slack, layer.cut)


@dataclass(frozen=True)
class Record:
    """The record of a run, whose layers its system must make again.

    Attributes:
        path: its file.
        config: name or path of the configuration of the run.
        layers: what it says of the layers.
    """

    path: Path
    config: str
    layers: list[LayerFacts]
    _beats: list[Ram]
    _arrays: _Arrays
    _altered: tuple[int, ...] = ()

    def seen(self, started: Sequence[AnyStarted]) -> Seen:
        """Return the run, from its layers.

        Raises:
            RecordError: for arrays that are missing or of another shape.
        """
        pairs = zip(self.layers, started, strict=True)
        layers = [_layer(entry, one, number, self._arrays) for number, (entry, one) in enumerate(pairs)]
        beats = [_beats(ram, number, self._arrays) for number, ram in enumerate(self._beats)]
        altered = [_altered(address, number, self._arrays) for number, address in enumerate(self._altered)]
        return Seen(tuple(layers), tuple(beats), tuple(altered))


def read_record(path: Path) -> Record:
    """Return the record of a run in a file that ``save`` wrote.

    Raises:
        RecordError: when the file is no such record.
    """
    arrays = read_arrays(path, RECORD_BYTES, RecordError)
    if "facts" not in arrays:
        raise RecordError(f"{path}: the file must hold facts, as the record of a failed run does")
    where = f"{path}: facts"
    raw = parse_json(text_of(arrays["facts"], where, RecordError), where, RecordError)
    facts = converted(raw, _Facts, where, RecordError)
    return Record(path, facts.config, facts.layers, facts.beats, _Arrays(str(path), arrays), facts.altered)


def seen_of(record: Record, config: HwConfig) -> Seen:
    """Return the run of NVDLA that a record is of.

    Raises:
        RecordError: when it is for another configuration.
    """
    buffer = ConvBuffer()
    return record.seen([_started(entry, config, buffer, str(record.path)) for entry in record.layers])


def _started(entry: LayerFacts, config: HwConfig, buffer: ConvBuffer, where: str) -> StartedLayer:
    """Return a layer of NVDLA."""
    # A layer may take lines and weights that the one before has left.
    tracker = LayerTracker(config, buffer)
    found = [
        started
        for register, value in entry.writes
        for started in tracker.write(tracker.state.registers.parse(register), value)
    ]
    if len(found) != 1:
        raise RecordError(f"{where}: layer {entry.index}: its registers must start one layer, not {len(found)}")
    layer = found[0].layer
    return StartedLayer(entry.index, entry.engine, entry.group, layer, cube=entry.cube, cubes=entry.cubes)


def _layer(entry: LayerFacts, started: AnyStarted, number: int, arrays: _Arrays) -> SeenLayer:
    layer = started.layer
    layout = layer.layout if isinstance(layer, OtherLayer) else layer.dst.layout
    data = arrays.take(f"layer_{number}_data", "uint8", layout.nbytes)
    packed = arrays.take(f"layer_{number}_mask", "uint8", -(-len(data) // 8))
    mask = np.unpackbits(packed, count=len(data)).astype(np.bool_)
    expected = Patch(entry.address, data, mask)
    return SeenLayer(started, layout, entry.ram, expected, entry.beats_before, entry.slack, cut=entry.cut)


def _beats(ram: Ram, number: int, arrays: _Arrays) -> Beats:
    data = arrays.take(f"beats_{number}_data", "uint8", None, None)
    count, lanes = data.shape
    address = arrays.take(f"beats_{number}_address", "uint64", count)
    if count and int(address.max()) >= _ADDRESS_LIMIT:
        rule = f"addresses of beats must be below {_ADDRESS_LIMIT:#x}, not {int(address.max()):#x}"
        raise RecordError(f"{arrays.where}: {rule}")
    strobe = arrays.take(f"beats_{number}_strobe", "bool", count, lanes)
    cycle, axi_id = (arrays.take(f"beats_{number}_{name}", "int64", count) for name in ("cycle", "axi_id"))
    return Beats(ram, address, data, strobe, cycle, axi_id)


def _altered(address: int, number: int, arrays: _Arrays) -> Patch:
    data = arrays.take(f"altered_{number}", "uint8", None)
    return Patch(address, data, np.ones(len(data), dtype=np.bool_))


@dataclass(frozen=True)
class _Arrays:
    """The arrays of a record by their names, and the path of the file."""

    where: str
    named: Mapping[str, NDArray[Any]]

    def take(self, name: str, dtype: str, *shape: int | None) -> NDArray[Any]:
        """Return an array; a side of None may have any size."""
        if name not in self.named:
            raise RecordError(f"{self.where}: the record must hold {name}")
        array = self.named[name]
        fits = array.ndim == len(shape) and all(s in (None, n) for s, n in zip(shape, array.shape, strict=True))
        if array.dtype != dtype or not fits:
            sides = ", ".join("N" if side is None else str(side) for side in shape)
            raise RecordError(f"{self.where}: {name} must be {dtype} ({sides}), not {array.dtype} {array.shape}")
        return array
