"""Plan files: their scenarios, one for each variant of a plan, and their layers, for each of several values and times.

::

    variant.slow = { about = "an answer after 900 cycles", settings = { port = { latency_cycles = 900 } } }
    variant.fast = { about = "an answer at once" }

    [[scenario]]
    name = "sdp_{variant}"                # sdp_slow and sdp_fast
    about = "SDP; {about}"
    layer = [
        { engine = "SDP", each = { shape = [[8, 1, 1], [9, 1, 1]] } },          # two layers
        { engine = "SDP", shape = [8, 2, 1], times = 3 },                       # three layers
    ]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from nvdla_models.limits import LAYERS, NUMBER_BITS, RUN_TASKS
from nvdla_models.reading import read_toml, shown
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.layers.entries import Entry
from nvdla_tb.stimulus.scenario import ScenarioError, check_name

_VARIANT, _ABOUT, _EACH, _TIMES = "{variant}", "{about}", "each", "times"


@dataclass(frozen=True)
class Described:
    """A scenario of a plan.

    Attributes:
        where: what messages call it.
        name: its name, which no other has.
        about: what it is for.
        keys: all else that the plan says of it.
        seed: the first seed of the plan's scenarios.
    """

    where: str
    name: str
    about: str
    keys: dict[str, Any]
    seed: int = 1


class PlanFile(Entry, frozen=True, kw_only=True):
    """What all plan files hold.

    Attributes:
        scenario: the scenarios.
        variant: keys of the scenarios whose name asks for it, by the name of the variant.
        seed: seed of the scenarios unless a command names another; 1 without the key.
    """

    scenario: tuple[dict[str, Any], ...]
    variant: Mapping[str, dict[str, Any]] = {}
    seed: Annotated[int, msgspec.Meta(ge=0, le=(1 << (NUMBER_BITS - 1)) - 1)] = 1


class _About(msgspec.Struct):
    about: str


class _Head(_About):
    name: str


F = TypeVar("F", bound=PlanFile)


def read_plan(path: Path, kind: type[F]) -> tuple[F, tuple[Described, ...]]:
    """Read a plan file, and return what it holds and its scenarios.

    Args:
        path: The file.
        kind: What files of the system hold.

    Raises:
        PlanError: when it is not a plan; the message names the key and what is allowed.
    """
    file = converted(read_toml(path, PlanError), kind, path.name, PlanError)
    found = []
    for place, data in _varied(path.name, file):
        one = converted(data, _Head, path.name, PlanError, place)
        try:
            check_name(one.name)
        except ScenarioError as error:
            raise PlanError(f"{path.name}: {place}.{error}") from error
        keys = {key: value for key, value in data.items() if key not in ("name", "about")}
        found.append(Described(f"{path.name}: {place}", one.name, one.about, keys, file.seed))
    for name, count in Counter(one.name for one in found).items():
        if count > 1:
            raise PlanError(f"{path.name}: scenario name {name} must be unique")
    return file, tuple(found)


def _varied(file_name: str, file: PlanFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield scenarios with their places in the file, one for each variant where the name asks for it."""
    abouts = {
        name: converted(data, _About, file_name, PlanError, f"variant.{name}").about
        for name, data in file.variant.items()
    }
    if len(file.scenario) * max(len(file.variant), 1) > RUN_TASKS:
        raise PlanError(f"{file_name} must have at most {RUN_TASKS} scenarios with its variants")
    named = False
    for number, data in enumerate(file.scenario):
        place = f"scenario[{number}]"
        where = f"{file_name}: {place}"
        if _VARIANT not in str(data.get("name")):
            yield place, data
            continue
        if not file.variant:
            raise PlanError(f"{where}.name must not contain {_VARIANT}: the plan has no variant")
        named = True
        for name, variant in file.variant.items():
            for key in variant:
                if key in data and key != "about":
                    raise PlanError(f"{where} must leave the key {key} to the variant {name}")
            own = {"name": data["name"].replace(_VARIANT, name)} if isinstance(data["name"], str) else {}
            if isinstance(data.get("about"), str):
                own["about"] = data["about"].replace(_ABOUT, abouts[name])
            yield place, {**variant, **data, **own}
    if file.variant and not named:
        raise PlanError(f"{file_name}: variant needs a scenario whose name contains {_VARIANT}")


def with_layers(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a scenario with its layers one by one, each with its engine, which is SDP if it names none."""
    found = data.get("layer", [])
    if not isinstance(found, list):
        return dict(data)
    each = layers(name, found)
    return {**data, "layer": [{"engine": "SDP", **one} if isinstance(one, Mapping) else one for one in each]}


def layers(name: str, descriptions: list[Any]) -> list[Any]:
    """Return the layers of a scenario, those with ``each`` once for each value, those with ``times`` as often.

    Raises:
        PlanError: for anything but lists of the same length, for a key that the layer has besides, and for a number
            of times that is none.
    """
    found: list[Any] = []
    for number, data in enumerate(descriptions):
        if not isinstance(data, Mapping):
            found.append(data)
            continue
        where = f"{name}: layer[{number}]"
        times = data.get(_TIMES, 1)
        if type(times) is not int or not 1 <= times <= LAYERS:
            raise PlanError(f"{where}.{_TIMES} must be 1 to {LAYERS}, not {shown(repr(times))}")
        some = _one_of_each(where, {key: value for key, value in data.items() if key != _TIMES})
        # One too many says as much as a hundred million.
        found += some * min(times, LAYERS // len(some) + 1)
        if len(found) > LAYERS:
            break
    return found


def _one_of_each(where: str, data: dict[str, Any]) -> list[Any]:
    """Return the layers that a description with ``each`` stands for, or itself."""
    if _EACH not in data:
        return [data]
    each = data.pop(_EACH)
    values = list(each.values()) if isinstance(each, Mapping) else []
    if not values or not all(isinstance(v, list) and v and len(v) == len(values[0]) for v in values):
        raise PlanError(f"{where}.{_EACH} must be a table of lists of the same length, not {shown(repr(each))}")
    for key in each:
        if key in data:
            raise PlanError(f"{where}.{_EACH} must not have the key {key} of the layer")
    return [{**data, **dict(zip(each, row, strict=True))} for row in zip(*values, strict=True)]
