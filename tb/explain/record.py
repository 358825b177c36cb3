"""What was seen of a failed run, in a file of its folder, so that it can be explained later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from models.config import HwConfig
from models.errors import InputError
from tb.explain.memory import Patch
from tb.explain.seen import Seen, SeenLayer
from tb.judge.beats import Beats
from tb.judge.tracker import LayerTracker, StartedLayer
from tb.memory import Ram
from tb.program.codec import encode
from tb.program.ops import RegWrite

FILE_NAME = "writes.npz"
"""Name of the file in the folder of a failed run."""

_BEAT_FIELDS = ("address", "data", "strobe", "cycle", "axi_id")


class RecordError(InputError):
    """A file that is no record of a failed run."""


def save(path: Path, seen: Seen, config: HwConfig, config_name: str) -> None:
    """Store what was seen.

    Args:
        path: the file.
        seen: the run.
        config: of the bench.
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
    """Return what was seen of a run, and the configuration.

    Args:
        path: what ``save`` wrote.
        config_name: name or path of the configuration, None for that of the run.

    Raises:
        RecordError: when the file is no such record, or is for another configuration.
    """
    try:
        with np.load(path) as file:
            if "facts" not in file.files:
                raise RecordError(f"{path}: the file must hold facts, as the record of a failed run does")
            facts = json.loads(str(file["facts"]))
            config = HwConfig.load(config_name or facts["config"])
            layers = [_layer(entry, file, number, config) for number, entry in enumerate(facts["layers"])]
            beats = [
                Beats(Ram(ram), *(file[f"beats_{number}_{name}"] for name in _BEAT_FIELDS))
                for number, ram in enumerate(facts["beats"])
            ]
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from error
    except (BadZipFile, KeyError) as error:
        raise RecordError(f"{path}: cannot be read as the record of a failed run: {error}") from error
    return Seen(tuple(layers), tuple(beats)), config


def _layer(entry: dict[str, Any], file: Any, number: int, config: HwConfig) -> SeenLayer:
    tracker = LayerTracker(config)
    found = [
        started
        for register, value in entry["writes"]
        for started in tracker.write(tracker.state.registers.parse(register), value)
    ]
    if len(found) != 1:
        raise RecordError(f"layer {entry['index']}: its registers must start one layer, not {len(found)}")
    facts = {name: entry[name] for name in ("index", "engine", "group", "cube", "cubes")}
    started = StartedLayer(**facts, layer=found[0].layer)
    data = file[f"layer_{number}_data"]
    mask = np.unpackbits(file[f"layer_{number}_mask"], count=len(data)).astype(np.bool_)
    layout = started.layer.dst.layout
    return SeenLayer(started, layout, Ram(entry["ram"]), Patch(entry["address"], data, mask), entry["beats_before"])
