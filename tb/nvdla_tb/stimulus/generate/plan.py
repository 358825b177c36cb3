"""Plans: named scenarios as data, each reproducible from its seed."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.limits import LAYERS
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import Op, RegWrite
from nvdla_tb.stimulus.generate import plan_file
from nvdla_tb.stimulus.generate.describe import PlanError, Table
from nvdla_tb.stimulus.generate.engines import build_layer
from nvdla_tb.stimulus.generate.interrupts import layer_interrupts, software_interrupts
from nvdla_tb.stimulus.generate.layers.workshop import LEAST_CARRY, Workshop
from nvdla_tb.stimulus.generate.registers import KINDS, UNMAPPED, register_program, running_program
from nvdla_tb.stimulus.generate.sequence import sequence
from nvdla_tb.stimulus.scenario import Scenario, memory_ops
from nvdla_tb.stimulus.settings import BenchSettings

_BASE = 0x8000_0000
"""Where the data of a scenario lie unless it says otherwise."""

_RUNNING = "running"
_ORDERS = ("in_turn", "back_to_back")
_LATEST_RESET = 1 << 20


@dataclass(frozen=True)
class PlanEntry:
    """One scenario of a plan before its data exist; ``TEST.SEED`` is its identity, pytest chooses by ``markers``."""

    name: str
    about: str
    config: str
    data: dict[str, Any]
    markers: tuple[str, ...] = ()

    def build(self, config: HwConfig, seed: int) -> Scenario:
        """Return the scenario for one seed; the same seed gives the same bytes.

        Args:
            config: Configuration to build for.
            seed: Any non-negative integer.

        Raises:
            PlanError: when the description cannot be understood.
        """
        table = Table(self.name, self.data)
        order = table.one_of("order", _ORDERS, "in_turn")
        settings = BenchSettings.from_dict(table.take("settings", dict, {}))
        counters = table.take("counters", bool, False)
        if counters and order != "in_turn":
            raise PlanError(f"{self.name}.counters needs the order in_turn, not {order}")
        stalls = table.one_of("stalls", ("READ", "WRITE", ""), "")
        if stalls and not counters:
            raise PlanError(f"{self.name}.stalls needs counters = true")
        base = table.take("base", int, _BASE)
        if base < 0:
            raise PlanError(f"{self.name}.base must be at least 0, not {base}")
        width = config.memif_address_width_bits
        carries = table.span("carries", (LEAST_CARRY, width - 1)) if "carries" in table else None
        kind, units = table.one_of("registers", (*KINDS, _RUNNING, ""), ""), table.names("units")
        interrupts = table.one_of("interrupts", ("software", "layers", ""), "")
        alone = kind in KINDS or interrupts == "software"
        descriptions = plan_file.layers(self.name, table.take("layer", list, [], required=not alone))
        if len(descriptions) > LAYERS:
            raise PlanError(f"{self.name}.layer must be at most {LAYERS} layers, not {len(descriptions)}")
        if seed < 0:
            raise PlanError(f"seed must be at least 0, not {seed}")
        if kind == UNMAPPED:
            settings = replace(settings, unmapped_accesses="count")
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        if "reset_within" in table:
            first, last = table.span("reset_within", (1, _LATEST_RESET))
            settings = replace(settings, reset_cycle=int(rng.integers(first, last + 1)))
        preset = [RegWrite(register, value) for register, value in table.pairs("preset")]
        table.done()
        if interrupts:
            settings = replace(settings, serve_interrupts=False)
        shop = Workshop(config, MemoryImage(base, 1 << width), rng, carries)
        layers: list[Layer] = []
        for number, description in enumerate(descriptions):
            where = Table(f"{self.name}.layer[{number}]", description)
            layers.append(build_layer(shop, f"l{number}", where, layers))
        program: tuple[Op, ...]
        if kind in KINDS:
            program = register_program(kind, config, rng, units)
        elif kind:
            program = running_program(layers, config, rng)
        elif interrupts == "software":
            program = software_interrupts(config, rng)
        elif interrupts:
            program = layer_interrupts(layers, config)
        else:
            in_turn = order == "in_turn"
            program = sequence(layers, config, in_turn=in_turn, counters=counters, stalls=stalls)
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
    config, described = plan_file.read_plan(path, "config")
    entries = []
    for one in described:
        markers = Table(one.where, one.keys).names("markers")
        own = {key: value for key, value in one.keys.items() if key != "markers"}
        entries.append(PlanEntry(one.name, one.about, config, own, markers))
    return tuple(entries)
