"""The Deep Learning HDL processor as a system of the bench."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dlhdl_models
from dlhdl_tb import deployment, ports, scenario
from dlhdl_tb.config import PLAN, SYSTEM, DlhdlConfig, embedded_configs
from dlhdl_tb.explain.runs import explain_dlhdl, seen_in
from dlhdl_tb.random import random_entry
from dlhdl_tb.scenario import DlhdlEntry, DlhdlPlanFile, DlhdlScenario, ScenarioEntry
from nvdla_tb.explain import Explanation
from nvdla_tb.explain.record import Record
from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.ports import Port, PortMap
from nvdla_tb.run.system import Entry, System

_STAND_IN = "the embedded stand-in proves the bench, not the vendor's arithmetic"
_OWN_BOUND = "the bound of single is the bench's own, as none is published"


class Dlhdl(System[DlhdlConfig, DlhdlScenario]):
    """The system; ``DLHDL`` is its one object, which the bench finds through an entry point."""

    name = SYSTEM
    config_type = DlhdlConfig
    top = ports.TOP
    entry_module = "dlhdl_tb.sim.entry"
    plan = PLAN
    plan_types = (DlhdlPlanFile, ScenarioEntry)
    folders = (Path(__file__).parent, Path(dlhdl_models.__path__[0]))
    recipe = (Path(ports.__file__),)

    def embedded(self) -> tuple[DlhdlConfig, ...]:
        """Return the configurations of all embedded cores."""
        return embedded_configs()

    def load_config(self, name_or_path: str) -> DlhdlConfig:
        """Return the configuration of a name or file."""
        return DlhdlConfig.load(name_or_path)

    def load_plan(self, path: Path) -> Sequence[DlhdlEntry]:
        """Return the scenarios of a plan."""
        return scenario.load_plan(path)

    def random_entry(self, config: DlhdlConfig, seed: int, source: str) -> DlhdlEntry:
        """Return the scenario that a seed draws."""
        return random_entry(config, seed)

    def in_short(self, entry: Entry[DlhdlConfig, DlhdlScenario], config: DlhdlConfig, seed: int) -> str:
        """Return the input's shape and the kinds of the layers of a scenario in a line."""
        assert isinstance(entry, DlhdlEntry)
        kinds = ", ".join(layer["kind"] for layer in entry.data["layer"])
        return f"{'x'.join(map(str, entry.data['input']))}: {kinds}"

    def save(self, scenario_: DlhdlScenario, folder: Path) -> None:
        """Write a scenario where the simulator's side reads it."""
        scenario.save(scenario_, folder)

    def read(self, folder: Path, config: DlhdlConfig) -> DlhdlScenario:
        """Return the scenario that ``save`` wrote."""
        return scenario.read(folder, config)

    def filelist(self, config: DlhdlConfig) -> Path:
        """Return the filelist of the stand-in, which is one for all embedded cores."""
        return HDL / f"{SYSTEM}.f"

    def wrapper(
        self,
        config: DlhdlConfig,
        top: str,
        ports_: Sequence[Port],
        port_map: PortMap,
        *,
        embedded: bool,
        dump: bool,
        native: bool,
    ) -> str:
        """Return the Verilog of ``tb_top`` around a core, whose ports are checked."""
        ports.check_ports(config, top, ports_)
        return ports.top_text(config, top, ports_, embedded=embedded, dump=dump)

    def port_facts(self, config: DlhdlConfig) -> list[Any]:
        """Return the sizes that decide the widths of the ports."""
        return [config.name, config.conv_thread_number, config.data_type.value]

    def explain(self, record: Record, folder: Path, config: DlhdlConfig, most: int) -> list[Explanation]:
        """Return explanations of the first layers that left wrong bytes."""
        played = scenario.read(folder, config)
        return explain_dlhdl(seen_in(record, played), played, most)

    def parameters(self, config: DlhdlConfig) -> dict[str, int]:
        """Return the parameters of the embedded core's top module."""
        return config.parameters

    def note(self, rtl: str | None) -> str:
        """Return what a reader of results must know."""
        return "; ".join(text for text in (_STAND_IN if rtl is None else "", _OWN_BOUND) if text)

    def refuse(self, path: Path) -> None:
        """Refuse deployment files."""
        deployment.refuse([path])


DLHDL = Dlhdl()
