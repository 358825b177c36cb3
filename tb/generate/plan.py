"""Plans: named scenarios as data, each reproducible from its seed."""

from __future__ import annotations

import tomllib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.config import HwConfig
from tb.generate.describe import PlanError, Table
from tb.generate.layers import Workshop, build_layer
from tb.layers import Layer
from tb.memory import MemoryImage, Ram
from tb.program.codec import encode, engine_of, uses_lut
from tb.program.ops import CheckNothing, Op, SyncWait
from tb.program.state import GROUPS
from tb.scenario import Scenario, memory_ops
from tb.settings import BenchSettings

_ORDERS = ("in_turn", "back_to_back")


@dataclass(frozen=True)
class PlanEntry:
    """One scenario of a plan before its data exist; ``TEST.SEED`` is its identity."""

    name: str
    about: str
    config: str
    data: dict[str, Any]

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
        descriptions = table.take("layer", list, required=True)
        table.done()
        rng = np.random.default_rng([seed, zlib.crc32(self.name.encode())])
        shop = Workshop(config, MemoryImage(limit=1 << config.memif_address_width_bits), rng)
        layers: list[Layer] = []
        for number, description in enumerate(descriptions):
            where = Table(f"{self.name}.layer[{number}]", description)
            layers.append(build_layer(shop, f"l{number}", where, layers[-1] if layers else None))
        ops = (*memory_ops(shop.memory, Ram.MC), *sequence(layers, config, in_turn=order == "in_turn"))
        return Scenario(self.name, config.name, ops, seed, settings)


def load_plan(path: Path) -> tuple[PlanEntry, ...]:
    """Read a plan file.

    Raises:
        PlanError: when it is not a plan; the message names the key and what is allowed.
    """
    try:
        raw = Table(path.name, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{path}: {error}") from error
    config = raw.take("config", str, required=True)
    scenarios = raw.take("scenario", list, required=True)
    raw.done()
    entries = []
    for number, data in enumerate(scenarios):
        table = Table(f"{path.name}: scenario[{number}]", data)
        name = table.take("name", str, required=True)
        about = table.take("about", str, required=True)
        entries.append(PlanEntry(name, about, config, {k: v for k, v in data.items() if k not in ("name", "about")}))
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"{path.name}: scenario name {name} must be unique")
    return tuple(entries)


def sequence(layers: Sequence[Layer], config: HwConfig, *, in_turn: bool) -> tuple[Op, ...]:
    """Return the program that runs layers, alternating the register groups of each engine.

    Args:
        layers: In the order of their programming.
        config: The configuration they run on.
        in_turn: True programs a layer only when the one before is done; False as soon as its
            register group is free, so that both groups and several units work at once. A layer with
            lookup tables waits for all before it on its unit, because both groups share the tables.
    """
    ops: list[Op] = []
    by_engine: dict[str, list[str]] = {}
    previous: str | None = None
    for number, layer in enumerate(layers):
        engine = engine_of(layer)
        history = by_engine.setdefault(engine.name, [])
        waits_for = 1 if uses_lut(layer) else GROUPS
        awaited = previous if in_turn else (history[-waits_for] if len(history) >= waits_for else None)
        if awaited is not None:
            ops += [SyncWait(unit, awaited) for unit in engine.units]
        previous = f"layer_{number}"
        ops += encode(layer, config, group=len(history) % GROUPS, sync_id=previous)
        ops.append(CheckNothing(previous))
        history.append(previous)
    return tuple(ops)
