"""Mutation: the same for the same seed, and plain data that a plan holds; most of it the rules allow."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_steer import mutate
from nvdla_steer.mutate import MOST_LAYERS, mutated
from nvdla_tb.stimulus.generate.draw.numbers import Description
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.generate.plan_text import plan_text
from nvdla_tb.stimulus.generate.random import ENGINES, random_entry

CONFIG = HwConfig.load("nv_small")


def drawn(seed: int) -> Description:
    return random_entry(CONFIG, seed, ENGINES).data


def children(count: int) -> list[Description]:
    return [mutated(np.random.default_rng(n), drawn(n % 20), drawn(100 + n % 30)) for n in range(count)]


def test_the_same_seed_gives_the_same_child_and_another_one_others() -> None:
    assert children(12) == children(12)
    parent, other = drawn(3), drawn(4)
    different = {str(mutated(np.random.default_rng(seed), parent, other)) for seed in range(30)}
    assert len(different) > 20


def test_parents_stay_as_they_are() -> None:
    parent, other = drawn(3), drawn(4)
    before = copy.deepcopy((parent, other))
    for seed in range(60):
        child = mutated(np.random.default_rng(seed), parent, other)
        child["layer"].clear()
    assert (parent, other) == before


def test_every_child_is_what_a_plan_of_it_says_and_most_are_allowed(tmp_path: Path) -> None:
    found = children(90)
    path = tmp_path / "children.toml"
    path.write_text(plan_text("nv_small", [(f"c{n}", "a child", data) for n, data in enumerate(found)]), "utf-8")
    entries = load_plan(path)
    assert [entry.data for entry in entries] == found
    endings: Counter[str] = Counter()
    for entry in entries:
        try:
            entry.build(CONFIG, 1)
            endings["allowed"] += 1
        except InputError:
            endings["refused"] += 1
    assert endings["allowed"] > 40
    assert endings["refused"] > 0


def two_layers(first: str, second: str) -> Description:
    return {"order": first, "layer": [{"engine": "SDP", "shape": [n, 1, 1]} for n in (1, 2)], "carries": [12, 12]} | {
        "settings": {"port": {"latency_cycles": 1, "reorder": False}, "csb_stall": 0.5},
        "writes": second,
    }


@pytest.mark.parametrize("way", [way for way in dict.fromkeys(mutate._WAYS)], ids=lambda way: way.__name__)
def test_each_way_changes_something(way: Any) -> None:
    parent = two_layers("in_turn", "all")
    other: Description = {
        "layer": [{"engine": "SDP", "shape": [7, 7, 7], "dst_skip": 1}],
        "settings": {"csb_stall": 0.1},
    }
    found = []
    for seed in range(20):
        child = copy.deepcopy(parent)
        way(np.random.default_rng(seed), child, other)
        found.append(child)
    assert any(child != parent for child in found)


def test_layers_are_spliced_from_both_and_never_too_many() -> None:
    parent = {"layer": [{"engine": "SDP", "shape": [n, 1, 1]} for n in range(1, MOST_LAYERS)]}
    other = {"layer": [{"engine": "PDP", "shape": [n, 1, 1]} for n in range(1, MOST_LAYERS)]}
    both = 0
    for seed in range(40):
        child = copy.deepcopy(parent)
        mutate._splice(np.random.default_rng(seed), child, other)
        assert len(child["layer"]) <= MOST_LAYERS
        engines = [layer["engine"] for layer in child["layer"]]
        assert engines == sorted(engines, reverse=True)
        both += len(set(engines)) == 2
    assert both > 20
