"""Leads, where no cause is known: what the layers that failed have, and hardly any that passed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb, inf
from operator import eq, ge, gt, le, lt, mod, ne
from typing import Any

import msgspec

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.coverage.attributes import Attributes, Value
from nvdla_tb.coverage.observe import FIRST, MEMORY, observe
from nvdla_tb.explain.traits import element_leads
from nvdla_tb.report.summary import groups
from nvdla_tb.run.system import AnyScenario
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario

_MOST_LEADS = 3

_AGAIN, _BEFORE = "again", "before."
"""Whether a unit has run before, and the beginning of the names of what its layer before had."""

_UNITS_OF_BYTES = (8, 32)
"""Whose multiples may be all that hardware is right for."""

_SIZES, _PARITIES = ("width", "height", "channels", "kernels"), ("even", "odd")
"""Ends of names of what hardware may take in pairs."""

_ALL = "SYSTEM"
"""The observations of layers of any unit."""
_MOST_LOOKED_AT = 200
"""How many tests that failed, and as many that passed, are built again to look at their layers."""

_MOST_CHANCE = 0.25
"""How many features may be expected to fit as well by chance, of those that were looked at."""

_TWINS = (
    *((f"{name}_x", f"{name}_y") for name in ("stride", "dilation")),
    *((f"{prefix}width", f"{prefix}height") for prefix in ("", "kernel_", "out_")),
    *(("pad_left", "pad_top"), ("pad_right", "pad_bottom"), ("pad_left", "pad_right"), ("pad_top", "pad_bottom")),
)
"""Attributes that hardware may take for each other."""

Relation = Callable[[Any, Any], Any]
"""Of two values of one kind."""

Makers = Mapping[str, Callable[[], AnyScenario]]
"""What builds the scenario of a test, by its identity."""


@dataclass(frozen=True)
class Feature:
    """Something that a layer has or has not: its words, whether attributes have it, and the names of these."""

    text: str
    holds: Callable[[Attributes], bool]
    names: tuple[str, ...]


def with_leads(results: Sequence[Result], makers: Makers, until: float = inf) -> list[Result]:
    """Return results in which the first failure of each group without a probable cause has its leads.

    Of many tests a part is looked at, which is spread over all of them; their scenarios are built again. None is begun
    after ``until``, by ``time.monotonic``.
    """
    unexplained = [group for group in groups(results) if group.lacks_cause and group.members[0].explained is not None]
    if not unexplained:
        return list(results)
    failed = _some([result for group in unexplained for result in group.members])
    looked_at = failed + _some([result for result in results if not result.ending.is_failure])
    seen = {result.identity: _layers(result, makers) if time.monotonic() < until else {} for result in looked_at}
    passing = [layer for result in looked_at for layer in _right(result, seen[result.identity])]
    found = {}
    for group in unexplained:
        members = [result for result in group.members if result.identity in seen]
        failing = [layer for result in members for layer in _own_wrong(result, seen[result.identity])]
        tests = sum(bool(_wrong(result)) for result in members)
        explained = [layer for result in group.members if result.explained for layer in result.explained.layers]
        traits = [layer.traits for layer in explained if layer.traits is not None]
        inside = element_leads(traits)
        # What the wrong elements have in common says more than the settings of their layers.
        around = leads(failing, passing, one_test=tests == 1)
        found[group.members[0].identity] = [*inside, *(around[:1] if inside else around)]
    return [_with(result, found.get(result.identity, [])) for result in results]


def _some(results: Sequence[Result]) -> list[Result]:
    """Return at most ``_MOST_LOOKED_AT`` results, evenly spread."""
    return list(results[:: max(1, -(-len(results) // _MOST_LOOKED_AT))])


def leads(
    failing: Sequence[Mapping[str, Attributes]], passing: Sequence[Mapping[str, Attributes]], *, one_test: bool = False
) -> list[str]:
    """Return what all layers that fail have and hardly any that passes, in words, the most telling first.

    Nothing is returned that as good a feature may be expected of by chance: one failing layer alone has many
    things that no other one has.

    Args:
        failing: The attributes of each layer that failed, by unit.
        passing: Those of layers that passed.
        one_test: Whether all that failed are of one test, whose layers are alike by design: then the words say so.
    """
    if not failing:
        return []
    rated = []
    for unit in _comparable(failing):
        bad = [layer[unit] for layer in failing]
        good = [layer[unit] for layer in passing if unit in layer]
        own = list(_features(bad, earlier=False))
        features = [*own, *_features(bad, earlier=True)]
        seen = set()
        for number, feature in enumerate(features):
            # More may be said of two layers than of one: layers before them come second.
            tried = len(own) if number < len(own) else len(features)
            having = tuple(feature.holds(layer) for layer in good)
            if (feature.names, having) in seen:
                # As many have it as have a feature of the same attributes that was told before.
                continue
            seen.add((feature.names, having))
            others = sum(having)
            chance = tried * comb(others + len(bad), len(bad)) / comb(len(good) + len(bad), len(bad))
            if chance <= _MOST_CHANCE:
                rated.append((chance, number, unit, feature.names, _words(unit, feature, len(bad), others, len(good))))
    # Of each attribute the most telling feature alone.
    best = {(unit, names): text for _, _, unit, names, text in sorted(rated, reverse=True)}
    told = [(names, text) for *_, names, text in sorted(rated) if text in best.values()]
    # That there was a layer before says more than its settings, of which one is enough.
    first = [text for names, text in told if not names[0].startswith(_BEFORE)]
    found = [*first, *[text for names, text in told if names[0].startswith(_BEFORE)][:1]]
    alike = " (all of one test, whose layers are alike)" if one_test and len(failing) > 1 else ""
    return [f"{text}{alike}" for text in found[:_MOST_LEADS]]


def _comparable(failing: Sequence[Mapping[str, Attributes]]) -> list[str]:
    """Return the units whose layers are compared.

    That layers of one unit fail is known already: all that they have in common with each other alone would be theirs.
    """
    units = sorted(set.intersection(*(set(layer) for layer in failing)))
    return [unit for unit in units if unit != _ALL] if len(units) > 1 else units


def _words(unit: str, feature: Feature, bad: int, others: int, good: int) -> str:
    most = "none" if not others else f"only {others}"
    if feature.names == (_AGAIN,):
        after = f"all {bad} failing layers of {unit} ran after another one of {unit}, which may have left something"
        return f"{after}, and {most} of the {good} that passed"
    return f"all {bad} failing layers of {unit} have {feature.text}, and {most} of the {good} that passed"


def _features(layers: Sequence[Attributes], *, earlier: bool) -> Iterator[Feature]:
    """Yield what all of some layers have: relations of twins first, then words, then numbers.

    It is about their own attributes, or about those of the layers before them.
    """
    for one, other in () if earlier else _TWINS:
        for sign, relation in (("!=", ne), ("=", eq), (">", gt), ("<", lt)):
            holds = partial(_twins, one, other, relation)
            if all(map(holds, layers)):
                yield Feature(f"{one} {sign} {other}", holds, (one, other))
    common = set.intersection(*(set(layer) for layer in layers))
    names = sorted(name for name in common if name.startswith(_BEFORE) == earlier)
    for name in names:
        values = [layer[name] for layer in layers]
        if isinstance(values[0], str) and len(set(values)) == 1:
            yield _feature(name, "=", values[0], eq)
    for name in names:
        numbers = [value for layer in layers if isinstance(value := layer[name], int)]
        if len(numbers) < len(layers):
            continue
        low, high = min(numbers), max(numbers)
        if low == high:
            yield _feature(name, "=", low, eq)
        yield _feature(name, ">=", low, ge)
        yield _feature(name, "<=", high, le)
        if name.endswith(_SIZES) and len({number % 2 for number in numbers}) == 1:
            yield Feature(f"{name} that is {_PARITIES[low % 2]}", partial(_has_parity, name, low % 2), (name,))
        for unit in _UNITS_OF_BYTES if name.endswith("bytes") else ():
            if all(number % unit for number in numbers):
                yield _feature(name, "that is no multiple of", unit, mod)


def _has_parity(name: str, parity: int, layer: Attributes) -> bool:
    value = layer.get(name)
    return isinstance(value, int) and value % 2 == parity


def _twins(one: str, other: str, relation: Relation, layer: Attributes) -> bool:
    return _related(relation, layer.get(one), layer.get(other))


def _feature(name: str, sign: str, bound: Value, relation: Relation) -> Feature:
    return Feature(f"{name} {sign} {bound}", lambda layer: _related(relation, layer.get(name), bound), (name,))


def _related(relation: Relation, value: Value, bound: Value) -> bool:
    """Return whether two values of one kind are in a relation; what a layer lacks is in none."""
    return value is not None and type(value) is type(bound) and bool(relation(value, bound))


def _layers(result: Result, makers: Makers) -> dict[int, dict[str, Attributes]]:
    """Return the attributes of the layers of a test, by their number and unit; nothing of what cannot be looked at."""
    if result.identity not in makers or not result.layers:
        return {}
    try:
        scenario = makers[result.identity]()
        if not isinstance(scenario, Scenario):
            return {}
        layers: dict[int, dict[str, Attributes]] = defaultdict(dict)
        last: dict[str, Attributes] = {}
        for seen in observe(scenario, HwConfig.load(result.dut.config)):
            before = last.get(seen.unit)
            of_before = {f"{_BEFORE}{name}": value for name, value in (before or {}).items()}
            again = FIRST if before is None else "again"
            own = {**seen.attributes, **of_before, _AGAIN: again}
            # The highest address bits that change inside a surface.
            of_bits = (value for name, value in seen.attributes.items() if name.endswith("carry"))
            carries = [value for value in of_bits if isinstance(value, int)]
            layers[seen.index][seen.unit] = {**own, "any.carry": max(carries)} if carries else own
            last[seen.unit] = seen.attributes
    except InputError:
        return {}
    return dict(layers)


def _wrong(result: Result) -> list[int]:
    return [layer.index for layer in result.layers if layer.wrong_bytes or layer.missing_bytes]


def _own_wrong(result: Result, layers: Mapping[int, Mapping[str, Attributes]]) -> list[Mapping[str, Attributes]]:
    """Return the first wrong layer of a test, and later ones that do not read what a layer has left."""
    wrong = _wrong(result)

    def independent(index: int) -> bool:
        return all(attributes.get("reads_from") == MEMORY for attributes in layers[index].values())

    return [layers[index] for index in wrong if index in layers and (index == wrong[0] or independent(index))]


def _right(result: Result, layers: Mapping[int, Mapping[str, Attributes]]) -> list[Mapping[str, Attributes]]:
    """Return the layers of a test that are right; of those that were not judged nothing is known."""
    wrong = _wrong(result)
    if result.ending.is_failure and not wrong:
        return []
    right = [layer.index for layer in result.layers if layer.judged_bytes and layer.index not in wrong]
    return [layers[index] for index in right if index in layers]


def _with(result: Result, found: list[str]) -> Result:
    if not found or result.explained is None:
        return result
    return msgspec.structs.replace(result, explained=msgspec.structs.replace(result.explained, leads=found))
