"""What the launcher asks of a system: a kind of device with configurations, plans and scenarios of its own."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from nvdla_models.reading import read_toml
from nvdla_tb.explain import Explanation
from nvdla_tb.explain.record import Record
from nvdla_tb.run.compile.ports import Port, PortMap
from nvdla_tb.run.errors import BuildError
from nvdla_tb.stimulus.generate.layers.entries import Entry as ScenarioTable
from nvdla_tb.stimulus.generate.plan_file import PlanFile
from nvdla_tb.stimulus.settings import BenchSettings


class AnyConfig(Protocol):
    """The configuration of a device, of whichever system it is."""

    @property
    def name(self) -> str:
        """Its name."""


class AnyScenario(Protocol):
    """A scenario of whichever system, a dataclass."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def settings(self) -> BenchSettings:
        """The settings of its bench."""


C = TypeVar("C", bound=AnyConfig)
S = TypeVar("S", bound=AnyScenario)
Played = TypeVar("Played", bound=AnyConfig, contravariant=True)
Made = TypeVar("Made", bound=AnyScenario, covariant=True)


class Entry(Protocol[Played, Made]):
    """A scenario of a plan before its data exist; ``TEST.SEED`` is its identity."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def about(self) -> str:
        """What it is for, in a line."""

    @property
    def seed(self) -> int:
        """The seed of its plan."""

    def build(self, config: Played, seed: int) -> Made:
        """Return the scenario for a configuration; the same seed gives the same bytes."""


class System(ABC, Generic[C, S]):
    """A system: what differs between kinds of devices for whoever builds them, plays on them and explains them.

    Example::

        class Adder(System[AdderConfig, AdderScenario]):
            name = "adder"          # regress random --config adder
            config_type = AdderConfig
            top = "adder"
            entry_module = "adder_tb.entry"
            ...

        ADDER = Adder()             # pyproject.toml: [project.entry-points."nvdla_tb.systems"] adder = "adder_tb:ADDER"

    Attributes:
        name: Its name. As a configuration it means all embedded devices; the file of a configuration has it as
            ``system``.
        config_type: Type of its configurations.
        top: Top module of its embedded devices.
        entry_module: Module with the cocotb test ``play``, which plays the scenario that a ``Request`` names.
        plan: The plan that is played unless another one is named.
        plan_types: What files of plans hold, and what they say of a scenario.
        folders: Folders whose files decide what is played and how it is judged.
        recipe: Files that the text of the wrapper follows from.
    """

    name: str
    config_type: type[C]
    top: str
    entry_module: str
    plan: Path
    plan_types: tuple[type[PlanFile], type[ScenarioTable]]
    folders: tuple[Path, ...]
    recipe: tuple[Path, ...] = ()

    @abstractmethod
    def embedded(self) -> tuple[C, ...]:
        """Return the configurations of all embedded devices."""

    @abstractmethod
    def load_config(self, name_or_path: str) -> C:
        """Return the configuration of a name or file.

        Raises:
            InputError: for a name or file that is none.
        """

    @abstractmethod
    def load_plan(self, path: Path) -> Sequence[Entry[C, S]]:
        """Return the scenarios of a plan.

        Raises:
            InputError: for a file that is none.
        """

    @abstractmethod
    def random_entry(self, config: C, seed: int, source: str) -> Entry[C, S]:
        """Return the scenario that a seed draws; ``source`` is that of the task: its engines, or the system's name."""

    def in_short(self, entry: Entry[C, S], config: C, seed: int) -> str:
        """Return the layers of a scenario in a line; what it is for, for a system that says nothing of layers.

        Raises:
            InputError: for a scenario that cannot be built.
        """
        return entry.about

    @abstractmethod
    def save(self, scenario: S, folder: Path) -> None:
        """Write a scenario for a failure bundle, in a form that lasts."""

    def hand_over(self, scenario: S, folder: Path) -> None:
        """Write a scenario where the simulator's side reads it: what ``save`` writes, unless that is slow to read."""
        self.save(scenario, folder)

    @abstractmethod
    def read(self, folder: Path, config: C) -> S:
        """Return the scenario that ``save`` wrote.

        Raises:
            InputError: for a folder that holds none.
        """

    @abstractmethod
    def filelist(self, config: C) -> Path:
        """Return the filelist of the embedded device, which need not exist."""

    @abstractmethod
    def wrapper(
        self, config: C, top: str, ports: Sequence[Port], port_map: PortMap, *, embedded: bool, dump: bool, native: bool
    ) -> str:
        """Return the Verilog of ``tb_top`` around a top module.

        Args:
            config: The configuration.
            top: The top module.
            ports: Ports of that module.
            port_map: How they differ from the configuration's.
            embedded: Whether it is the embedded device.
            dump: Whether waves are written when ``+wave_file=`` is given.
            native: Whether the agents are compiled into the model.

        Raises:
            PortError: listing how the ports differ from those that the configuration asks for.
        """

    @abstractmethod
    def port_facts(self, config: C) -> list[Any]:
        """Return as JSON what the wrapper takes from a configuration: another model is built when it changes."""

    def explain(self, record: Record, scenario: Path, config: C, most: int) -> list[Explanation]:
        """Return explanations of the first layers that left wrong bytes; none for a system that explains nothing.

        Args:
            record: What was seen of the run.
            scenario: Folder of the scenario, as ``save`` wrote it.
            config: The configuration.
            most: Of how many layers.

        Raises:
            InputError: for a record or scenario that does not fit.
        """
        return []

    def load_port_map(self, path: Path, config: C) -> PortMap:
        """Return how the ports of a user's RTL differ.

        Raises:
            BuildError: for a system whose ports have the same names everywhere.
        """
        raise BuildError(f"a port map must be of NVDLA; the ports of {config.name} have the names of their core")

    def parameters(self, config: C) -> dict[str, int]:
        """Return the parameters of the embedded device's top that are not the default ones."""
        return {}

    def note(self, rtl: str | None) -> str:
        """Return what a reader of results must know of a device; empty for most.

        Args:
            rtl: The user's filelist, or None for an embedded device.
        """
        return ""

    def refuse(self, path: Path) -> None:
        """Refuse a file that looks as if it could be played, and cannot.

        Raises:
            InputError: saying what lacks.
        """

    def owns(self, name_or_path: str) -> bool:
        """Return whether a configuration is one of this system."""
        if name_or_path == self.name or name_or_path in {config.name for config in self.embedded()}:
            return True
        return system_named_in(name_or_path) == self.name

    def configs(self, name_or_path: str) -> tuple[C, ...]:
        """Return the configurations that a name stands for: that of the system is all embedded devices.

        Raises:
            InputError: for a name that does not exist, and a file that is no configuration.
        """
        return self.embedded() if name_or_path == self.name else (self.load_config(name_or_path),)


def system_named_in(name_or_path: str) -> object:
    """Return the system that the file of a configuration names, None for one that names none and for no file.

    Raises:
        InputError: for a file that cannot be read.
    """
    path = Path(name_or_path)
    # Path.is_file raises for a name that is too long.
    return read_toml(path).get("system") if path.suffix == ".toml" and os.path.isfile(path) else None
