"""Scenarios of the Deep Learning HDL processor: a network, its frames, and how the host drives them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.draw import AnyLayerEntry, Size, draw_frames, draw_network
from dlhdl_tb.program import Program, compiled
from nvdla_models.errors import InputError
from nvdla_models.limits import NUMBER_BITS
from nvdla_models.reading import read_json
from nvdla_tb.array_files import read_array
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.layers.entries import Entry
from nvdla_tb.stimulus.generate.plan_file import PlanFile, read_plan
from nvdla_tb.stimulus.scenario import check_name
from nvdla_tb.stimulus.settings import BenchSettings

FILE_NAME = "scenario.json"
_FILES = ("input_file", "expected_file")


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


_Slots = Annotated[int, Meta(ge=1, le=64)]
_Cycles = Annotated[int, Meta(ge=0, le=1 << 20)]


class ScenarioEntry(Entry, frozen=True, kw_only=True):
    """What a plan says of a scenario besides its name and purpose.

    Attributes:
        input: shape of the input: channels, height and width, or values of the fully connected module.
        layer: the layers.
        settings: of the bench.
        mode: how frames are given.
        frames: how many; 1 without the key, or those of ``input_file``.
        input_slots: frames that the input's memory has room for, when streaming.
        output_slots: results that the output's memory has room for.
        endless: whether FrameCount is 0.
        input_wait_cycles: how long the host waits before each InputNext.
        output_wait_cycles: how long before each OutputNext.
        reset_within: last cycle before which the core is reset; 0 for never.
        reset_clears: whether registers are 0 then.
        hold_within: last cycle before which the core is held by IPCore_Enable for a while; 0 for never.
        custom_addresses: whether the host writes addresses of its own.
        skew_bytes: how far they lie beside the usual ones.
        loud_padding: whether padding is large numbers in place of 0.
        input_file: file of input frames.
        expected_file: file of results.
    """

    input: tuple[Size, ...]
    layer: tuple[AnyLayerEntry, ...]
    settings: BenchSettings = BenchSettings()
    mode: Mode = Mode.BATCH
    frames: Annotated[int, Meta(ge=1, le=4096)] | None = None
    input_slots: _Slots | None = None
    output_slots: _Slots | None = None
    endless: bool = False
    input_wait_cycles: _Cycles = 0
    output_wait_cycles: _Cycles = 0
    reset_within: _Cycles = 0
    reset_clears: bool = False
    hold_within: _Cycles = 0
    custom_addresses: bool = False
    skew_bytes: Annotated[int, Meta(ge=0, le=4095)] = 0
    loud_padding: bool = False
    input_file: str | None = None
    expected_file: str | None = None


class DlhdlPlanFile(PlanFile, frozen=True, kw_only=True):
    """A plan of this system."""

    system: Literal["dlhdl"]


@dataclass(frozen=True)
class DlhdlEntry:
    """A scenario of a plan before its data exist; ``TEST.SEED`` is its identity."""

    name: str
    about: str
    data: dict[str, Any]
    seed: int = 1

    def build(self, config: DlhdlConfig, seed: int) -> DlhdlScenario:
        """Return the scenario for one seed and core; the same seed gives the same bytes.

        Raises:
            PlanError: when the description cannot be understood.
        """
        check_name(self.name)
        if not 0 <= seed < 1 << NUMBER_BITS:
            raise PlanError(f"{self.name}: seed must be 0 to {(1 << NUMBER_BITS) - 1:#x}, not {seed}")
        entry = converted(self.data, ScenarioEntry, self.name, PlanError)
        try:
            return self._built(entry, config, seed)
        except InputError as error:
            raise PlanError(f"{self.name}: {error}") from error

    def _built(self, entry: ScenarioEntry, config: DlhdlConfig, seed: int) -> DlhdlScenario:
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        port = entry.settings.port
        if port.reorder or port.pause_period_cycles or port.write_latency_cycles is not None:
            allowed = "latency_cycles, jitter_cycles, ready_stall, valid_stall"
            raise PlanError(f"settings.port may have {allowed} here")
        given, expected = _array("input_file", entry.input_file), _array("expected_file", entry.expected_file)
        frames = entry.frames or (1 if given is None else len(given))
        slots = (frames, frames)
        if entry.mode is Mode.STREAM:
            slots = (entry.input_slots or 2, entry.output_slots or 2)
        else:
            entry.leave_out("in batch mode", "input_slots", "output_slots", "endless")
        host = Host(
            entry.mode,
            endless=entry.endless,
            input_wait_cycles=entry.input_wait_cycles,
            output_wait_cycles=entry.output_wait_cycles,
            reset_cycle=int(rng.integers(1, entry.reset_within + 1)) if entry.reset_within else None,
            reset_clears=entry.reset_clears,
            hold_cycle=int(rng.integers(1, entry.hold_within + 1)) if entry.hold_within else None,
        )
        network = draw_network(config, entry.input, entry.layer, rng)
        custom, skew = entry.custom_addresses, entry.skew_bytes
        program = compiled(network, *slots, custom=custom, skew_bytes=skew, loud=entry.loud_padding)
        if given is None:
            images = tuple(draw_frames(network, frames, rng))
        else:
            images = _checked("input_file", given, (frames, *network.shape), config)
        results = None
        if expected is not None:
            results = _checked("expected_file", expected, (frames, *network.tensors[-1].shape), config)
        return DlhdlScenario(self.name, config, seed, program, images, host, entry.settings, self.data, results)


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
    _, scenarios = read_plan(path, DlhdlPlanFile)
    entries = []
    for one in scenarios:
        named = {key: one.keys[key] for key in _FILES if isinstance(one.keys.get(key), str)}
        files = {key: str(path.parent / name) for key, name in named.items()}
        entries.append(DlhdlEntry(one.name, one.about, one.keys | files, one.seed))
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


def _array(key: str, path: str | None) -> NDArray[Any] | None:
    """Return the array of a file that a key names, None without the key."""
    if path is None:
        return None
    array = read_array(Path(path), PlanError)
    if not array.ndim:
        raise PlanError(f"{key} must hold one array for all frames, not a single number")
    return array


def _checked(where: str, array: NDArray[Any], shape: tuple[int, ...], config: DlhdlConfig) -> tuple[NDArray[Any], ...]:
    """Return the arrays of all frames."""
    dtype = config.data_type.dtype
    if array.shape != shape or array.dtype != dtype:
        raise PlanError(f"{where} must be {dtype} of shape {shape}, not {array.dtype} of shape {array.shape}")
    return tuple(np.ascontiguousarray(array))
