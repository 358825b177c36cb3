"""Plans: named scenarios as data, each reproducible from its seed."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_models.limits import LAYERS
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import Op, RegWrite
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.generate import plan_file
from nvdla_tb.stimulus.generate.engines import build_layer
from nvdla_tb.stimulus.generate.errors import PlanError, of_key
from nvdla_tb.stimulus.generate.interrupts import crossed_interrupts, layer_interrupts, software_interrupts
from nvdla_tb.stimulus.generate.layers.entries import AnyLayerEntry, Entry, Pair
from nvdla_tb.stimulus.generate.layers.workshop import LEAST_CARRY, Workshop, span
from nvdla_tb.stimulus.generate.registers import Kind, register_program, running_program
from nvdla_tb.stimulus.generate.rewriting import with_answers, with_other_words_before, without_kept
from nvdla_tb.stimulus.generate.sequence import sequence
from nvdla_tb.stimulus.scenario import Scenario, memory_ops
from nvdla_tb.stimulus.settings import BenchSettings

_LATEST_RESET = 1 << 20


class NvdlaPlanFile(plan_file.PlanFile, frozen=True, kw_only=True):
    """A plan; ``config`` is the configuration that it was written for."""

    config: str


class ScenarioEntry(Entry, frozen=True, kw_only=True):
    """What a plan says of a scenario besides its name, purpose and markers.

    Attributes:
        order: whether layers run one after the other, or as early as registers are free.
        settings: of the bench.
        counters: whether statistics are read after each layer.
        stalls: which stalls of memory they count.
        base: where the data of the scenario lie.
        carries: lowest and highest address bit whose border cubes lie around.
        registers: accesses to registers in place of layers, or while they run.
        units: whose registers; all without the key.
        interrupts: interrupts that the program sets itself, or those of the layers, which it polls for, alone or
            while it clears those of others.
        layer: the layers.
        reset_within: first and last cycle of which one resets the device.
        preset: words of registers that are written first, by name.
        writes: whether registers are left out that have their value from an earlier layer, or whether all of them are
            written with any words before.
        ignored: what fields hold that a layer does not use, their values after reset or any.
        non_posted: share of the layers' register writes that are not posted, and of those right behind a read.
    """

    order: Literal["in_turn", "back_to_back"] = "in_turn"
    settings: BenchSettings = BenchSettings()
    counters: bool = False
    stalls: Literal["READ", "WRITE"] | None = None
    base: Annotated[int, Meta(ge=0)] = 0x8000_0000
    carries: Pair | None = None
    registers: Kind | Literal["running"] | None = None
    units: tuple[str, ...] = ()
    interrupts: Literal["software", "layers", "crossed"] | None = None
    layer: tuple[AnyLayerEntry, ...] = ()
    reset_within: Pair | None = None
    preset: Mapping[str, int] = {}
    writes: Literal["all", "changed", "twice"] = "all"
    ignored: Literal["reset", "any"] = "reset"
    non_posted: Annotated[float, Meta(ge=0, le=1)] = 0.0


@dataclass(frozen=True)
class PlanEntry:
    """One scenario of a plan before its data exist; ``TEST.SEED`` is its identity.

    Attributes:
        name: its name.
        about: what it is for.
        config: the configuration that its plan was written for.
        data: all else that the plan says of it.
        markers: by which pytest chooses.
        seed: the seed of its plan.
    """

    name: str
    about: str
    config: str
    data: dict[str, Any]
    markers: tuple[str, ...] = ()
    seed: int = 1

    def build(self, config: HwConfig, seed: int) -> Scenario:
        """Return the scenario for one seed; the same seed gives the same bytes.

        Args:
            config: Configuration to build for.
            seed: Any non-negative integer.

        Raises:
            PlanError: when the description cannot be understood.
        """
        entry = self._entry(seed)
        try:
            return self._built(entry, config, seed)
        except PlanError as error:
            raise PlanError(f"{self.name}: {error}") from error

    def layers(self, config: HwConfig, seed: int) -> tuple[Layer, ...]:
        """Return the layers of the scenario that ``build`` returns; none for accesses to registers.

        Raises:
            PlanError: when the description cannot be understood.
        """
        entry = self._entry(seed)
        try:
            return tuple(self._prepared(entry, config, seed)[2])
        except PlanError as error:
            raise PlanError(f"{self.name}: {error}") from error

    def _entry(self, seed: int) -> ScenarioEntry:
        if seed < 0:
            raise PlanError(f"seed must be at least 0, not {seed}")
        described = plan_file.with_layers(self.name, self.data)
        return converted(described, ScenarioEntry, self.name, PlanError)

    def _prepared(
        self, entry: ScenarioEntry, config: HwConfig, seed: int
    ) -> tuple[Workshop, BenchSettings, list[Layer]]:
        """Return memory and randomness after all layers have been built, the settings of the bench, and the layers."""
        in_turn, registers = entry.order == "in_turn", entry.registers
        if entry.counters and not in_turn:
            raise PlanError(f"counters needs the order in_turn, not {entry.order}")
        if entry.stalls and not entry.counters:
            raise PlanError("stalls needs counters = true")
        if "layer" not in self.data and registers in (None, "running") and entry.interrupts != "software":
            raise PlanError("layer is missing")
        if len(entry.layer) > LAYERS:
            raise PlanError(f"layer must be at most {LAYERS} layers, not {len(entry.layer)}")
        width = config.memif_address_width_bits
        carries = None if entry.carries is None else span("carries", entry.carries, (LEAST_CARRY, width - 1))
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        settings = entry.settings
        if registers == "unmapped":
            settings = replace(settings, unmapped_accesses="count")
        if entry.reset_within is not None:
            first, last = span("reset_within", entry.reset_within, (1, _LATEST_RESET))
            settings = replace(settings, reset_cycle=int(rng.integers(first, last + 1)))
        if entry.interrupts:
            settings = replace(settings, serve_interrupts=False)
        shop = Workshop(config, MemoryImage(entry.base, 1 << width), rng, carries)
        layers: list[Layer] = []
        for number, described in enumerate(entry.layer):
            with of_key(f"layer[{number}]"):
                layers.append(build_layer(shop, f"l{number}", described, layers))
        return shop, settings, layers

    def _built(self, entry: ScenarioEntry, config: HwConfig, seed: int) -> Scenario:
        shop, settings, layers = self._prepared(entry, config, seed)
        rng, registers, in_turn = shop.rng, entry.registers, entry.order == "in_turn"
        program: tuple[Op, ...]
        if registers == "running":
            program = running_program(layers, config, rng)
        elif registers is not None:
            program = register_program(registers, config, rng, entry.units)
        elif entry.interrupts == "software":
            program = software_interrupts(config, rng)
        elif entry.interrupts == "crossed":
            program = crossed_interrupts(layers, config, rng)
        elif entry.interrupts:
            program = layer_interrupts(layers, config)
        else:
            program = sequence(
                layers,
                config,
                in_turn=in_turn,
                counters=entry.counters,
                stalls=entry.stalls or "",
                ignored=rng if entry.ignored == "any" else None,
            )
            if entry.writes == "changed":
                program = tuple(without_kept(program))
            elif entry.writes == "twice":
                program = tuple(with_other_words_before(program, rng))
            if entry.non_posted:
                program = tuple(with_answers(program, entry.non_posted, rng))
        preset = [RegWrite(register, value) for register, value in entry.preset.items()]
        ops = (*memory_ops(shop.memory, Ram.MC), *preset, *program)
        return Scenario(self.name, config.name, ops, seed, settings)


def plan_of(config: HwConfig, folder: Path) -> Path:
    """Return the plan in a folder that a configuration plays.

    A configuration without one plays that of nv_small, which is written in elements and fits every configuration.
    """
    own = folder / f"{config.name}.toml"
    return own if own.is_file() else folder / "nv_small.toml"


def load_plan(path: Path) -> tuple[PlanEntry, ...]:
    """Read a plan file.

    Raises:
        PlanError: when it is not a plan; the message names the key and what is allowed.
    """
    file, described = plan_file.read_plan(path, NvdlaPlanFile)
    entries = []
    for one in described:
        own = dict(one.keys)
        markers = converted(own.pop("markers", ()), tuple[str, ...], one.where, PlanError, "markers")
        entries.append(PlanEntry(one.name, one.about, file.config, own, markers, one.seed))
    return tuple(entries)
