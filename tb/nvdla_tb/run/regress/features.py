"""The test plan as data: features, the tests that aim at them, the coverage that proves it, and levels of effort."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

from nvdla_models.limits import RUN_TASKS
from nvdla_models.reading import read_text, read_toml, resolved, shown
from nvdla_tb.coverage.model import CoverageModel, Item
from nvdla_tb.paths import PACKAGE, PLANS
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import load_plan, plan_of
from nvdla_tb.stimulus.generate.random import ENGINES

FEATURES = PLANS / "features.toml"
"""The test plan of the testbench."""

_MODULE = re.compile(r"\w+(\.\w+)*", re.ASCII)

_Count = Annotated[int, msgspec.Meta(ge=0, le=RUN_TASKS)]


class Level(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much is played.

    Attributes:
        name: ``L0`` and so on.
        about: purpose.
        seeds: seeds of every test.
        search: random seeds that are looked at.
        steered: how many of them are played at most, those that reach what would be missing.
        random: random seeds that are played as they come.
    """

    name: str
    about: str
    seeds: Annotated[int, msgspec.Meta(ge=1, le=RUN_TASKS)]
    search: _Count
    steered: _Count
    random: _Count


class _Feature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says of a feature; tests and points of coverage by name, with ``*`` for any."""

    name: str
    about: str
    level: str
    tests: tuple[str, ...] = ()
    random: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    configs: tuple[str, ...] = ()
    bare_registers: bool = False


class FeaturesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Plan files beside the file, modules of tests in Python, and what uses them."""

    plans: tuple[str, ...]
    level: tuple[Level, ...]
    feature: tuple[_Feature, ...]
    bench: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedTest:
    """A scenario of a plan file, or a test of the bench in a module; ``config`` None means any."""

    name: str
    source: str
    kind: str
    config: str | None = None


@dataclass(frozen=True)
class Feature:
    """Something to be verified.

    Attributes:
        name: name of the feature.
        about: description.
        level: the first that plays its tests.
        tests: tests that aim at it.
        random: units whose random layers exercise it.
        items: points and crosses that tell whether it was exercised.
        configs: configurations that have it; none means all.
        bare_registers: whether its tests are for CSB itself, so that a DUT with another register port has none of it.
    """

    name: str
    about: str
    level: str
    tests: tuple[PlannedTest, ...]
    random: tuple[str, ...]
    items: tuple[Item, ...]
    configs: tuple[str, ...]
    bare_registers: bool = False


@dataclass(frozen=True)
class FeaturePlan:
    """All of it, for one configuration.

    Attributes:
        model: of coverage.
        levels: from the smallest to the largest.
        features: that the configuration has.
        aimless: names of tests that no feature has, so that no level plays them.
    """

    model: CoverageModel
    levels: tuple[Level, ...]
    features: tuple[Feature, ...]
    aimless: tuple[str, ...]

    def level(self, name: str) -> Level:
        """Return a level by its name.

        Raises:
            PlanError: when there is none.
        """
        for level in self.levels:
            if level.name == name:
                return level
        raise PlanError(f"level must be one of {', '.join(level.name for level in self.levels)}, not {name}")

    def up_to(self, name: str) -> list[Feature]:
        """Return the features of a level and of those before it."""
        names = [level.name for level in self.levels]
        last = names.index(self.level(name).name)
        return [feature for feature in self.features if names.index(feature.level) <= last]


def planned_tests(features: Sequence[Feature]) -> list[PlannedTest]:
    """Return the tests of features, each once, in their order."""
    return list(dict.fromkeys(test for feature in features for test in feature.tests))


def load_feature_plan(path: Path, model: CoverageModel) -> FeaturePlan:
    """Read the test plan of the configuration that a coverage model is for, and the plan files beside it.

    Raises:
        PlanError: for a test, a unit, a point of coverage or a level that does not exist.
    """
    file, config = _read(path), model.config
    tests = [test for name in file.plans for test in _scenarios(path.parent / name)]
    tests += [test for module in file.bench for test in _bench_tests(path, module)]
    home = plan_of(config, path.parent).stem
    features = [_feature(path, one, file, tests, home, model) for one in file.feature]
    here = tuple(feature for feature in features if not feature.configs or config.name in feature.configs)
    known = [test.name for test in tests if test.config in (None, home)]
    aimed = {test.name for test in planned_tests(features)}
    return FeaturePlan(model, file.level, here, tuple(name for name in known if name not in aimed))


def _read(path: Path) -> FeaturesFile:
    return converted(read_toml(path, PlanError), FeaturesFile, path.name, PlanError)


@cache
def bench_modules(path: Path) -> frozenset[str]:
    """Return the modules of tests in Python that a test plan names: no others are imported for a stored task."""
    return frozenset(_read(path).bench)


def _scenarios(path: Path) -> Iterator[PlannedTest]:
    for entry in load_plan(path):
        yield PlannedTest(entry.name, str(resolved(path)), "plan", entry.config)


def _bench_tests(path: Path, module: str) -> Iterator[PlannedTest]:
    """Yield the coroutines of a module of bench tests, without importing it."""
    file = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    # Path.is_file raises for a name that is too long.
    if not _MODULE.fullmatch(module) or not os.path.isfile(file):
        raise PlanError(f"{path.name}: bench must name modules, not {shown(module)}")
    try:
        tree = ast.parse(read_text(file, error=PlanError))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PlanError(f"{shown(file)}: cannot be read as Python: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list:
            yield PlannedTest(f"{module.rpartition('.')[2]}.{node.name}", module, "bench")


def _feature(
    path: Path, one: _Feature, file: FeaturesFile, tests: Sequence[PlannedTest], home: str, model: CoverageModel
) -> Feature:
    where = f"{path.name}: {shown(one.name)}"
    levels = [level.name for level in file.level]
    if one.level not in levels:
        raise PlanError(f"{where}: level must be one of {', '.join(levels)}, not {shown(one.level)}")
    found = [test for pattern in one.tests for test in _matching(where, pattern, tests)]
    for engine in one.random:
        if engine not in ENGINES:
            raise PlanError(f"{where}: random must be of {', '.join(ENGINES)}, not {shown(engine)}")
    try:
        items = model.items_like(one.coverage)
    except PlanError as error:
        raise PlanError(f"{where}: {error}") from error
    here = [test for test in dict.fromkeys(found) if test.config in (None, home)]
    return Feature(one.name, one.about, one.level, tuple(here), one.random, items, one.configs, one.bare_registers)


def _matching(where: str, pattern: str, tests: Sequence[PlannedTest]) -> list[PlannedTest]:
    found = [test for test in tests if fnmatchcase(test.name, pattern)]
    if not found:
        raise PlanError(f"{where}: a test must be a scenario or a test of the bench, not {pattern}")
    return found
