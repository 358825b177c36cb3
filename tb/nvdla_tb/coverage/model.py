"""Coverage models: points and crosses of each unit as data, and what a configuration cannot reach, with reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from nvdla_models.config import HwConfig
from nvdla_models.limits import CROSS_BINS, POINT_BINS
from nvdla_models.precision import Precision
from nvdla_models.reading import read_toml, shown
from nvdla_tb.coverage.attributes import UNITS
from nvdla_tb.coverage.bins import Bin, parse_bins, sizes_of
from nvdla_tb.paths import COVERAGE
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.generate.errors import PlanError

Key = tuple[str, ...]
"""Labels of the bins that an item's points fell into; one for a point."""


@dataclass(frozen=True)
class Item:
    """A point, or a cross of points.

    Attributes:
        unit: whose layers are looked at.
        points: names of one or more points.
        keys: all bins.
    """

    unit: str
    points: tuple[str, ...]
    keys: tuple[Key, ...]

    @property
    def name(self) -> str:
        """``UNIT.point`` or ``UNIT.point*point``."""
        return f"{self.unit}.{'*'.join(self.points)}"

    @property
    def is_cross(self) -> bool:
        """Whether it combines points."""
        return len(self.points) > 1

    def bin_name(self, key: Key) -> str:
        """Return the name of a bin in results: ``UNIT.point=label`` or ``UNIT.point*point=label*label``."""
        return f"{self.name}={'*'.join(key)}"


@dataclass(frozen=True)
class CoverageModel:
    """The bins of a configuration.

    Attributes:
        config: the configuration.
        bins: bins of every point, by unit and name.
        items: points and crosses, in the order of the files.
        excluded: why a bin cannot be reached, by its name.
        open: why a bin that could be reached is not yet, by its name; it counts as a hole.
    """

    config: HwConfig
    bins: dict[str, dict[str, tuple[Bin, ...]]]
    items: tuple[Item, ...]
    excluded: dict[str, str]
    open: dict[str, str]

    def reachable(self) -> Iterator[str]:
        """Yield the names of all bins that the configuration can reach."""
        for item in self.items:
            for key in item.keys:
                name = item.bin_name(key)
                if name not in self.excluded:
                    yield name

    def items_like(self, names: tuple[str, ...]) -> tuple[Item, ...]:
        """Return items by name; ``UNIT.prefix*`` means all whose name begins so.

        Raises:
            PlanError: for an unknown name.
        """
        found: dict[str, Item] = {}
        for name in names:
            matching = [
                item
                for item in self.items
                if item.name == name or (name.endswith("*") and item.name.startswith(name.removesuffix("*")))
            ]
            if not matching:
                raise PlanError(f"coverage must be a point or a cross of the model, not {name}")
            found |= {item.name: item for item in matching}
        return tuple(found.values())


class _Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bins that are not reached, by the labels of their points, and why; on configurations with some parameters."""

    reason: str
    where: dict[str, tuple[str, ...]]
    when: dict[str, Any] = {}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The bins of a unit, by point, and the points that are combined."""

    unit: str
    points: dict[str, tuple[str, ...]]
    crosses: tuple[Annotated[tuple[str, ...], Meta(min_length=2)], ...] = ()
    exclude: tuple[_Rule, ...] = ()
    open: tuple[_Rule, ...] = ()


@cache
def model_of(config_name: str) -> CoverageModel:
    """Return the project's own model for a configuration, read once by this process."""
    return load_model(COVERAGE, HwConfig.load(config_name))


def load_model(folder: Path, config: HwConfig) -> CoverageModel:
    """Read the model of all units from a folder with one TOML file a unit.

    The configuration decides sizes, and which exclusions hold.

    Raises:
        PlanError: when a file cannot be understood; the message names place and rule.
    """
    bins: dict[str, dict[str, tuple[Bin, ...]]] = {}
    items: list[Item] = []
    reasons: dict[str, dict[str, str]] = {"exclude": {}, "open": {}}
    try:
        paths = sorted(folder.glob("*.toml"))
    except (OSError, ValueError) as error:  # a name that is too long or holds a NUL
        raise PlanError(f"{shown(folder)}: cannot be read: {shown(error)}") from error
    if not paths:
        raise PlanError(f"{folder} must hold the coverage model, one TOML file a unit")
    for path in paths:
        file = converted(read_toml(path, PlanError), _File, path.name, PlanError)
        unit = file.unit
        if unit not in UNITS:
            raise PlanError(f"{path.name}: unit must be one of {', '.join(UNITS)}, not {shown(unit)}")
        if unit in bins:
            raise PlanError(f"{path.name}: unit {unit} must have one file")
        bins[unit] = _points(path.name, file, config)
        points = (Item(unit, (name,), tuple((one.label,) for one in found)) for name, found in bins[unit].items())
        fresh = [*points, *_crosses(path.name, file, bins[unit])]
        for key, rules in (("exclude", file.exclude), ("open", file.open)):
            for rule in rules:
                reasons[key] |= _reasons(f"{path.name}: {key}", rule, fresh, bins[unit], config)
        items += fresh
    return CoverageModel(config, bins, tuple(items), reasons["exclude"], reasons["open"])


def _points(where: str, file: _File, config: HwConfig) -> dict[str, tuple[Bin, ...]]:
    sizes = sizes_of(config)
    for name, labels in file.points.items():
        if len(labels) > POINT_BINS:
            raise PlanError(f"{where}: {name} must have at most {POINT_BINS} bins, not {len(labels)}")
    return {name: parse_bins(f"{where}: {name}", labels, sizes) for name, labels in file.points.items()}


def _crosses(where: str, file: _File, points: Mapping[str, tuple[Bin, ...]]) -> Iterator[Item]:
    for names in file.crosses:
        for name in names:
            if name not in points:
                raise PlanError(f"{where}: a cross must be of points of {file.unit}, not {name}")
        count = math.prod(len(points[name]) for name in names)
        if count > CROSS_BINS:
            raise PlanError(f"{where}: a cross must have at most {CROSS_BINS} bins, not {count}")
        yield Item(file.unit, names, tuple(product(*([one.label for one in points[name]] for name in names))))


def _reasons(
    where: str, rule: _Rule, items: list[Item], points: Mapping[str, tuple[Bin, ...]], config: HwConfig
) -> dict[str, str]:
    """Return the reason for all bins that one rule means: those whose points all fall into what it names."""
    for name, labels in rule.where.items():
        allowed = [one.label for one in points.get(name, ())]
        for label in labels:
            if label not in allowed:
                raise PlanError(f"{where}: {name} must be one of {', '.join(allowed) or 'no bin'}, not {label}")
    if not all(_setting(where, config, name) == value for name, value in rule.when.items()):
        return {}
    return {
        item.bin_name(key): rule.reason
        for item in items
        if set(rule.where) <= set(item.points)
        for key in item.keys
        if all(key[item.points.index(name)] in labels for name, labels in rule.where.items())
    }


def _setting(where: str, config: HwConfig, name: str) -> object:
    """Return a parameter of the configuration as TOML would write it."""
    if not hasattr(config, name):
        raise PlanError(f"{where}: when must name parameters of the configuration, not {name}")
    value = getattr(config, name)
    if not isinstance(value, tuple):
        return value
    return [entry.name if isinstance(entry, Precision) else entry for entry in value]
