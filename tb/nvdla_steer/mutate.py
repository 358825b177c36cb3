"""Descriptions of scenarios that differ a little from others: what a corpus grows by."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nvdla_tb.stimulus.generate.draw.numbers import Description

MOST_LAYERS = 12
_MOST_CHANGES = 3
"""Powers of two of changes at a time."""

_TAKEN = 0.4
_LONGEST = 13
"""Bits of the sizes that numbers jump to."""

Leaf = tuple[Any, Any, bool | int | float]
"""A table or list, the key or index of a number in it, and the number."""


def mutated(rng: np.random.Generator, parent: Description, other: Description) -> Description:
    """Return a description that differs from one in a few places, some of which are as in another one.

    ::

        child = mutated(np.random.default_rng(1), entry.data, random_entry(config, 1, ENGINES).data)

    The rules of plans may refuse it. The same randomness gives the same one; neither of the two is changed.
    """
    child = copy.deepcopy(parent)
    for _ in range(1 << int(rng.integers(0, _MOST_CHANGES))):
        way = _WAYS[int(rng.integers(len(_WAYS)))]
        way(rng, child, other)
    return child


def _splice(rng: np.random.Generator, child: Description, other: Description) -> None:
    """Follow the first layers by the last ones of the other."""
    own, others = child.get("layer", []), other.get("layer", [])
    if own and others:
        joined = own[: int(rng.integers(1, len(own) + 1))] + others[int(rng.integers(len(others))) :]
        child["layer"] = copy.deepcopy(joined[:MOST_LAYERS])


def _insert(rng: np.random.Generator, child: Description, other: Description) -> None:
    """Add a layer of the other, or one of its own again, anywhere."""
    own, others = child.get("layer", []), other.get("layer", [])
    source = others if others and rng.random() < 0.5 else own
    if source and len(own) < MOST_LAYERS:
        own.insert(int(rng.integers(len(own) + 1)), copy.deepcopy(source[int(rng.integers(len(source)))]))


def _drop(rng: np.random.Generator, child: Description, _: Description) -> None:
    """Leave a layer out."""
    own = child.get("layer", [])
    if len(own) > 1:
        del own[int(rng.integers(len(own)))]


def _swap(rng: np.random.Generator, child: Description, _: Description) -> None:
    """Exchange two layers."""
    own = child.get("layer", [])
    if len(own) > 1:
        one, two = rng.choice(len(own), 2, replace=False)
        own[one], own[two] = own[two], own[one]


def _bench(rng: np.random.Generator, child: Description, other: Description) -> None:
    """Take some of what is not of a layer from the other: order, settings, places."""
    _take(rng, child, other, skipped=("layer", "settings"))
    settings, others = child.setdefault("settings", {}), other.get("settings", {})
    _take(rng, settings, others, skipped=("port",))
    _take(rng, settings.setdefault("port", {}), others.get("port", {}))


def _graft(rng: np.random.Generator, child: Description, other: Description) -> None:
    """Take some of a layer from a layer of the same engine of the other."""
    own = child.get("layer", [])
    if not own:
        return
    layer = own[int(rng.integers(len(own)))]
    alike = [each for each in other.get("layer", []) if each["engine"] == layer["engine"]]
    if alike:
        _take(rng, layer, alike[int(rng.integers(len(alike)))])


def _take(rng: np.random.Generator, own: Description, others: Description, skipped: tuple[str, ...] = ()) -> None:
    for key in sorted((own.keys() | others.keys()) - {*skipped, "engine"}):
        if rng.random() >= _TAKEN:
            continue
        if key in others:
            own[key] = copy.deepcopy(others[key])
        else:
            del own[key]


def _number(rng: np.random.Generator, child: Description, _: Description) -> None:
    """Change a number, most of which lie in layers."""
    leaves = list(_leaves(child))
    if leaves:
        table, key, value = leaves[int(rng.integers(len(leaves)))]
        table[key] = _changed(rng, value)


def _leaves(table: Any) -> Iterator[Leaf]:
    for key, value in table.items() if isinstance(table, dict) else enumerate(table):
        if isinstance(value, dict | list):
            yield from _leaves(value)
        elif not isinstance(value, str):
            yield table, key, value


def _changed(rng: np.random.Generator, value: bool | int | float) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return round(float(rng.choice([0.0, value / 2, 1 - (1 - value) / 2, rng.random()])), 2)
    power = 1 << int(rng.integers(0, _LONGEST))
    near = power + int(rng.integers(-1, 2))
    return int(rng.choice([value + 1, value - 1, value + power, value - power, 2 * value, value // 2, near, -value, 0]))


_WAYS: tuple[Callable[[np.random.Generator, Description, Description], None], ...] = (
    *(_splice, _insert, _drop, _swap, _bench, _graft, _graft),
    *(_number, _number, _number),
)
"""In the shares in which they are chosen."""
