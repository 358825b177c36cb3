"""Scenarios of the Deep Learning HDL processor: a network, its frames, and how the host drives them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dlhdl_tb.config import SYSTEM, DlhdlConfig
from dlhdl_tb.draw import draw_frames, draw_network
from dlhdl_tb.program import Program, compiled
from nvdla_models.limits import NUMBER_BITS
from nvdla_models.reading import read_json
from nvdla_tb.array_files import read_array
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.generate.describe import PlanError, Table
from nvdla_tb.stimulus.generate.plan_file import read_plan
from nvdla_tb.stimulus.scenario import check_name
from nvdla_tb.stimulus.settings import BenchSettings

FILE_NAME = "scenario.json"
_FILES = ("input_file", "expected_file")
_MOST_FRAMES = 4096
_MOST_SLOTS = 64


class Mode(Enum):
    """How frames are given."""

    BATCH = "batch"
    STREAM = "stream"


@dataclass(frozen=True)
class Host:
    """What the host does besides waiting for the core.

    Attributes:
        mode: batch or streaming.
        endless: whether FrameCount is 0, so that ``InputStop`` ends it.
        input_wait_cycles: how long it waits before each ``InputNext``.
        output_wait_cycles: how long before each ``OutputNext``.
        reset_cycle: how many cycles after its start the core is reset, and all is done anew; None for never.
        reset_clears: whether registers must be 0 then, as those of the stand-in are.
        hold_cycle: how many cycles after its start it is held by IPCore_Enable for a while; None for never.
    """

    mode: Mode = Mode.BATCH
    endless: bool = False
    input_wait_cycles: int = 0
    output_wait_cycles: int = 0
    reset_cycle: int | None = None
    reset_clears: bool = False
    hold_cycle: int | None = None


@dataclass(frozen=True, eq=False)
class DlhdlScenario:
    """Everything that is played and judged.

    Attributes:
        name: its name.
        config: the core.
        seed: of all data, and of the bench.
        program: network and places.
        frames: input frames.
        host: how they are given.
        settings: of the bench.
        described: what it was built from, for files.
        expected: the user's results of the network, one for each frame; None for those of the model.
    """

    name: str
    config: DlhdlConfig
    seed: int
    program: Program
    frames: tuple[NDArray[Any], ...]
    host: Host = field(default_factory=Host)
    settings: BenchSettings = field(default_factory=BenchSettings)
    described: Mapping[str, Any] = field(default_factory=dict)
    expected: tuple[NDArray[Any], ...] | None = None


@dataclass(frozen=True)
class DlhdlEntry:
    """A scenario of a plan before its data exist; ``TEST.SEED`` is its identity."""

    name: str
    about: str
    data: dict[str, Any]

    def build(self, config: DlhdlConfig, seed: int) -> DlhdlScenario:
        """Return the scenario for one seed and core; the same seed gives the same bytes.

        Raises:
            PlanError: when the description cannot be understood.
        """
        check_name(self.name)
        if not 0 <= seed < 1 << NUMBER_BITS:
            raise PlanError(f"{self.name}: seed must be 0 to {(1 << NUMBER_BITS) - 1:#x}, not {seed}")
        table = Table(self.name, self.data)
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        settings = BenchSettings.from_dict(table.take("settings", dict, {}))
        port = settings.port
        if port.reorder or port.pause_period_cycles or port.write_latency_cycles is not None:
            allowed = "latency_cycles, jitter_cycles, ready_stall, valid_stall"
            raise PlanError(f"{self.name}.settings.port may have {allowed} here")
        mode = table.choice("mode", Mode) or Mode.BATCH
        given, expected = (_array(table, key) for key in _FILES)
        frames = _count(table, "frames", 1 if given is None else len(given), _MOST_FRAMES)
        streams = mode is Mode.STREAM
        slots = [_count(table, key, 2, _MOST_SLOTS) if streams else frames for key in ("input_slots", "output_slots")]
        within = _count(table, "reset_within", 0, 1 << 20, least=0)
        hold = _count(table, "hold_within", 0, 1 << 20, least=0)
        host = Host(
            mode,
            endless=table.take("endless", bool, False),
            input_wait_cycles=_count(table, "input_wait_cycles", 0, 1 << 20, least=0),
            output_wait_cycles=_count(table, "output_wait_cycles", 0, 1 << 20, least=0),
            reset_cycle=int(rng.integers(1, within + 1)) if within else None,
            reset_clears=table.take("reset_clears", bool, False),
            hold_cycle=int(rng.integers(1, hold + 1)) if hold else None,
        )
        if host.endless and not streams:
            raise PlanError(f"{self.name}.endless must be false in batch mode")
        custom, skew = table.take("custom_addresses", bool, False), _count(table, "skew_bytes", 0, 4095, least=0)
        loud = table.take("loud_padding", bool, False)
        network = draw_network(config, table, rng)
        table.done()
        program = compiled(network, slots[0], slots[1], custom=custom, skew_bytes=skew, loud=loud)
        if given is None:
            images = tuple(draw_frames(network, frames, rng))
        else:
            images = _checked(f"{self.name}.input_file", given, (frames, *network.shape), config)
        results = None
        if expected is not None:
            shape = (frames, *network.tensors[-1].shape)
            results = _checked(f"{self.name}.expected_file", expected, shape, config)
        return DlhdlScenario(self.name, config, seed, program, images, host, settings, self.data, results)


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    """A scenario as its file holds it."""

    name: str
    config: str
    seed: int
    described: dict[str, Any]


def load_plan(path: Path) -> tuple[DlhdlEntry, ...]:
    """Read a plan file of this system.

    Raises:
        PlanError: when it is not one; the message names the key and what is allowed.
    """
    system, scenarios = read_plan(path, "system")
    if system != SYSTEM:
        raise PlanError(f"{path.name}.system must be {SYSTEM}, not {system}")
    entries = []
    for one in scenarios:
        named = {key: one.keys[key] for key in _FILES if isinstance(one.keys.get(key), str)}
        files = {key: str(path.parent / name) for key, name in named.items()}
        entries.append(DlhdlEntry(one.name, one.about, one.keys | files))
    return tuple(entries)


def save(scenario: DlhdlScenario, folder: Path) -> None:
    """Write a scenario to a folder, from which ``read`` builds the same bytes again."""
    folder.mkdir(parents=True, exist_ok=True)
    described = dict(scenario.described)
    for key, arrays in zip(_FILES, (scenario.frames, scenario.expected), strict=True):
        if key in described:
            assert arrays is not None
            described[key] = f"{key}.npy"
            np.save(folder / described[key], np.stack(arrays))
    data = _Saved(scenario.name, scenario.config.name, scenario.seed, described)
    (folder / FILE_NAME).write_bytes(msgspec.json.format(msgspec.json.encode(data), indent=1))


def read(folder: Path, config: DlhdlConfig) -> DlhdlScenario:
    """Return the scenario that ``save`` has written, for a core.

    Raises:
        InputError: for a file that holds none.
    """
    path = folder / FILE_NAME
    saved = converted(read_json(path), _Saved, f"{path} must hold a scenario")
    files = {key: str(folder / str(saved.described[key])) for key in _FILES if key in saved.described}
    return DlhdlEntry(saved.name, "", saved.described | files).build(config, saved.seed)


def _array(table: Table, key: str) -> NDArray[Any] | None:
    """Return the array of a file that a key names, None without the key."""
    path = table.take(key, str, "")
    if not path:
        return None
    array = read_array(Path(path), PlanError)
    if not array.ndim:
        raise PlanError(f"{table.where}.{key} must hold one array for all frames, not a single number")
    return array


def _checked(where: str, array: NDArray[Any], shape: tuple[int, ...], config: DlhdlConfig) -> tuple[NDArray[Any], ...]:
    """Return the arrays of all frames."""
    dtype = config.data_type.dtype
    if array.shape != shape or array.dtype != dtype:
        raise PlanError(f"{where} must be {dtype} of shape {shape}, not {array.dtype} of shape {array.shape}")
    return tuple(np.ascontiguousarray(array))


def _count(table: Table, key: str, default: int, most: int, least: int = 1) -> int:
    value: int = table.take(key, int, default)
    if not least <= value <= most:
        raise PlanError(f"{table.where}.{key} must be {least} to {most}, not {value}")
    return value
