"""Variants of scenarios, and layers for several values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import entry

SLOW = '[variant.slow]\nabout = "late"\nsettings = { port = { latency_cycles = 900 } }\n'
FAST = '[variant.fast]\nabout = "at once"\n'
VARIED = (
    '[[scenario]]\nname = "sdp_{variant}"\nabout = "SDP; {about}"\nlayer = [{ engine = "SDP", shape = [8, 1, 1] }]\n'
)
PLAIN = '[[scenario]]\nname = "plain"\nabout = "{about}"\nlayer = [{ engine = "SDP", shape = [8, 1, 1] }]\n'


def loaded(folder: Path, text: str) -> tuple[PlanEntry, ...]:
    path = folder / "plan.toml"
    path.write_text(f'config = "nv_small"\n{text}', encoding="utf-8")
    return load_plan(path)


def test_a_scenario_stands_for_one_of_each_variant(tmp_path: Path) -> None:
    layer = [{"engine": "SDP", "shape": [8, 1, 1]}]
    assert [(one.name, one.about, one.data) for one in loaded(tmp_path, SLOW + FAST + VARIED + PLAIN)] == [
        ("sdp_slow", "SDP; late", {"settings": {"port": {"latency_cycles": 900}}, "layer": layer}),
        ("sdp_fast", "SDP; at once", {"layer": layer}),
        ("plain", "{about}", {"layer": layer}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VARIED, "plan.toml: scenario[0].name must not contain {variant}: the plan has no variant"),
        (SLOW + PLAIN, "plan.toml: variant needs a scenario whose name contains {variant}"),
        ("[variant.slow]\nabout = 3\n" + VARIED, "plan.toml: variant.slow.about must be a text, not 3"),
        ("[variant.slow]\n" + VARIED, "plan.toml: variant.slow.about is missing"),
        ("[variant]\nslow = 3\n" + VARIED, "plan.toml: variant.slow must be a table, not 3"),
        (
            SLOW + VARIED + "settings = {}\n",
            "plan.toml: scenario[0] must leave the key settings to the variant slow",
        ),
        (SLOW + VARIED + VARIED, "plan.toml: scenario name sdp_slow must be unique"),
        (PLAIN + PLAIN, "plan.toml: scenario name plain must be unique"),
        ("scenario = [1]\n", "plan.toml: scenario[0] must be a table, not 1"),
        ("scenario = 1\n", "plan.toml: scenario must be a list, not 1"),
        *(
            (PLAIN.replace("plain", name), "plan.toml: scenario[0].name must be 1 to 200 printable characters, not '")
            for name in ("", "n" * 201, "a\\u0000b", "a\\nb")
        ),
        (
            "".join(f'[variant.a{n}]\nabout = ""\n' for n in range(400)) + VARIED * 251,
            "plan.toml must have at most 100000 scenarios with its variants",
        ),
    ],
)
def test_a_plan_whose_scenarios_or_variants_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        loaded(tmp_path, text)
    assert str(caught.value).startswith(message)


def test_a_layer_stands_for_one_of_each_value() -> None:
    each = {"engine": "SDP", "each": {"shape": [[8, 2, 1], [9, 2, 1]], "dst_gaps": [[1, 0], [0, 3]]}}
    apart = (
        {"engine": "SDP", "shape": [8, 2, 1], "dst_gaps": [1, 0]},
        {"engine": "SDP", "shape": [9, 2, 1], "dst_gaps": [0, 3]},
    )
    assert entry(each).build(SMALL, 1).ops == entry(*apart).build(SMALL, 1).ops


def test_a_layer_comes_as_often_as_it_says() -> None:
    layer = {"engine": "SDP", "shape": [8, 2, 1]}
    often = [{**layer, "times": 2}, {"engine": "SDP", "each": {"shape": [[8, 1, 1], [9, 1, 1]]}, "times": 2}]
    apart = [layer, layer, *({"engine": "SDP", "shape": [channels, 1, 1]} for channels in (8, 9, 8, 9))]
    assert entry(*often).build(SMALL, 1).ops == entry(*apart).build(SMALL, 1).ops


SAME_LENGTH = "probe: layer[0].each must be a table of lists of the same length, not"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"times": 0}, "probe: layer[0].times must be 1 to 10000, not 0"),
        ({"times": 10_001}, "probe: layer[0].times must be 1 to 10000, not 10001"),
        ({"times": True}, "probe: layer[0].times must be 1 to 10000, not True"),
        ({"times": "two"}, "probe: layer[0].times must be 1 to 10000, not 'two'"),
        ({"times": 10_000, "each": {"carry": [12, 13]}}, "probe: layer must be at most 10000 layers, not 10002"),
        ({"each": 3}, f"{SAME_LENGTH} 3"),
        ({"each": {}}, f"{SAME_LENGTH} {{}}"),
        ({"each": {"pad": []}}, f"{SAME_LENGTH} {{'pad': []}}"),
        ({"each": {"pad": [1], "banks": [1, 2]}}, f"{SAME_LENGTH} {{'pad': [1], 'banks': [1, 2]}}"),
        ({"each": {"shape": [[8, 1, 1]]}}, "probe: layer[0].each must not have the key shape of the layer"),
        ({"each": {"nothing": [1]}}, "probe: layer[0].nothing is unknown; allowed: "),
        ({"each": {"carry": [12] * 10_001}}, "probe: layer must be at most 10000 layers, not 10001"),
    ],
)
def test_numbers_of_times_and_values_that_cannot_be_are_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError) as caught:
        entry({"engine": "SDP", "shape": [8, 1, 1], **keys}).build(SMALL, 1)
    assert str(caught.value).startswith(message)
