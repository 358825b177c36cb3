"""NVDLA as a system: the first one, which brings more than the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nvdla_models.config import BUILTIN_DIR, HwConfig, builtin_names
from nvdla_tb.explain import Explanation, explain_run
from nvdla_tb.explain.record import Record, seen_of
from nvdla_tb.paths import HDL, PACKAGE, PLANS
from nvdla_tb.run.compile.ports import Port, PortMap, check, expected_ports, load_port_map
from nvdla_tb.run.compile.wrapper import wrapper_text
from nvdla_tb.run.system import Entry, System
from nvdla_tb.stimulus.generate.layer_text import layers_text
from nvdla_tb.stimulus.generate.plan import NvdlaPlanFile, PlanEntry, ScenarioEntry, load_plan
from nvdla_tb.stimulus.generate.random import random_entry
from nvdla_tb.stimulus.handed_over import FILE_NAME as HANDED_OVER
from nvdla_tb.stimulus.handed_over import hand_over
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import read, write


class Nvdla(System[HwConfig, Scenario]):
    """NVDLA; its configurations name no system."""

    name = "nvdla"
    config_type = HwConfig
    top = "NV_nvdla"
    entry_module = "nvdla_tb.sim.entry"
    plan = PLANS / "nv_small.toml"
    plan_types = (NvdlaPlanFile, ScenarioEntry)
    folders = (PACKAGE, BUILTIN_DIR.parent, HDL)

    def embedded(self) -> tuple[HwConfig, ...]:
        """Return the configurations of all embedded devices."""
        return tuple(HwConfig.load(name) for name in builtin_names() if (HDL / f"{name}.f").is_file())

    def load_config(self, name_or_path: str) -> HwConfig:
        """Return the configuration of a name or file."""
        return HwConfig.load(name_or_path)

    def load_plan(self, path: Path) -> Sequence[PlanEntry]:
        """Return the scenarios of a plan."""
        return load_plan(path)

    def random_entry(self, config: HwConfig, seed: int, source: str) -> PlanEntry:
        """Return the scenario that a seed draws of some engines."""
        return random_entry(config, seed, tuple(source.split(",")))

    def in_short(self, entry: Entry[HwConfig, Scenario], config: HwConfig, seed: int) -> str:
        """Return the layers of a scenario in a line; what it is for, for one without layers."""
        assert isinstance(entry, PlanEntry)
        return layers_text(entry.layers(config, seed)) or entry.about

    def save(self, scenario: Scenario, folder: Path) -> None:
        """Write a scenario as a trace, in the place of what was handed over."""
        (folder / HANDED_OVER).unlink(missing_ok=True)
        write(scenario, folder)

    def hand_over(self, scenario: Scenario, folder: Path) -> None:
        """Write a scenario as data."""
        hand_over(scenario, folder)

    def read(self, folder: Path, config: HwConfig) -> Scenario:
        """Return the scenario of a trace."""
        return read(folder, config)

    def filelist(self, config: HwConfig) -> Path:
        """Return the filelist of the embedded device, which need not exist."""
        return HDL / f"{config.name}.f"

    def wrapper(
        self,
        config: HwConfig,
        top: str,
        ports: Sequence[Port],
        port_map: PortMap,
        *,
        embedded: bool,
        dump: bool,
        native: bool,
    ) -> str:
        """Return the Verilog of ``tb_top`` around a top module, whose ports are checked."""
        check(config, top, ports, port_map)
        return wrapper_text(config, top, ports, port_map, dump=dump, native=native)

    def port_facts(self, config: HwConfig) -> list[Any]:
        """Return the ports."""
        return [asdict(port) for port in expected_ports(config)]

    def explain(self, record: Record, scenario: Path, config: HwConfig, most: int) -> list[Explanation]:
        """Return explanations of the first layers that left wrong bytes."""
        return explain_run(seen_of(record, config), read(scenario, config).ops, most)

    def load_port_map(self, path: Path, config: HwConfig) -> PortMap:
        """Return how the ports of a user's RTL differ."""
        return load_port_map(path, config)

    def owns(self, name_or_path: str) -> bool:
        """Return whether a configuration names no system."""
        return True


NVDLA = Nvdla()
