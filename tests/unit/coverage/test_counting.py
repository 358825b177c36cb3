"""What programs cover: decoded layers, what runs beside them, and the counts in a model's bins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.coverage.model import CoverageModel, load_model
from nvdla_tb.coverage.observe import Observation, observe
from nvdla_tb.coverage.reach import choose, count, reached
from nvdla_tb.coverage.status import item_status, text, totals
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.generate.random import random_entry
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import read, write

MODEL = PLANS / "coverage"
CONFIG = HwConfig.load("nv_small")
ENTRIES = {entry.name: entry for entry in load_plan(PLANS / "nv_small.toml")}

SMALL = """
unit = "PDP"
crosses = [["method", "group"]]
[points]
method = ["max", "min"]
group = ["0", "1"]
height = ["1..4", "5.."]
[[exclude]]
where = { method = ["max"], group = ["1"] }
reason = "the model says so"
[[open]]
where = { method = ["min"], group = ["0"] }
reason = "nobody draws it"
[[open]]
where = { method = ["max"] }
reason = "but it was hit"
"""
SDP = {"engine": "SDP", "shape": [9, 3, 3]}
PDP = {"engine": "PDP", "shape": [9, 4, 4], "method": "max", "kernel": [2, 2], "stride": [2, 2]}


def scenario(*layers: dict[str, object], order: str = "back_to_back") -> Scenario:
    return PlanEntry("it", "", "nv_small", {"order": order, "layer": [dict(layer) for layer in layers]}).build(
        CONFIG, 1
    )


def system(played: Scenario, name: str) -> list[object]:
    return [seen.attributes[name] for seen in observe(played, CONFIG) if seen.unit == "SYSTEM"]


@pytest.fixture(scope="module")
def model() -> CoverageModel:
    return load_model(MODEL, CONFIG)


@pytest.fixture
def small(tmp_path: Path) -> CoverageModel:
    (tmp_path / "pdp.toml").write_text(SMALL, encoding="utf-8")
    return load_model(tmp_path, CONFIG)


def test_layers_that_nothing_waits_for_run_beside_each_other() -> None:
    played = scenario(SDP, PDP, SDP, PDP)
    assert system(played, "beside") == ["alone", "SDP", "PDP", "SDP"]
    assert system(played, "both_groups") == ["no", "no", "yes", "yes"]
    assert system(played, "group") == [0, 0, 1, 1]


def test_layers_in_turn_run_alone() -> None:
    played = scenario(SDP, PDP, SDP, order="in_turn")
    assert system(played, "beside") == ["alone"] * 3
    assert system(played, "behind") == ["first", "SDP", "PDP"]


def test_a_third_layer_of_a_unit_waits_for_the_first() -> None:
    assert system(scenario(SDP, SDP, SDP), "both_groups") == ["no", "yes", "yes"]


def test_a_layer_that_reads_what_another_wrote_is_told_from_one_that_reads_memory() -> None:
    played = scenario(SDP, PDP, {"engine": "SDP", "chain": True})
    assert system(played, "reads_from") == ["memory", "memory", "PDP"]


def test_the_attributes_are_those_of_the_registers(model: CoverageModel) -> None:
    x1 = {"alu": "max", "alu_operand": "channel", "operand_bytes": 2, "relu": True}
    layer = {**SDP, "src_gaps": [1, 9], "x1": x1, "converter": [-5, 3, 63]}
    (seen, _) = observe(scenario(layer), CONFIG)
    expected = {
        **{"channels": 9, "tail": 1, "surfaces": 2, "src.line_gap": 1, "src.surface_gap": 9, "dst.line_gap": 0},
        **{"stages": "x1", "x1.works": "alu", "x1.alu": "max", "x1.alu.from": "channel", "x1.mul.from": None},
        **{"x1.memory.holds": "alu", "x1.memory.bytes": 2, "x1.relu": "yes", "x2.relu": None},
        **{"converter.offset": -5, "converter.scale": 3, "converter.shift": 63, "latency": 50},
    }
    assert {name: seen.attributes[name] for name in expected} == expected
    hits = count(model, [seen])
    assert hits["SDP.x1.alu*x1.alu.from=max*channel"] == 1
    assert hits["SDP.converter.offset*converter.shift=-32768..-1*63"] == 1
    assert not any(name.startswith(("SDP.x2.works", "SDP.x1.mul.from", "PDP.", "SYSTEM.")) for name in hits)


@pytest.mark.parametrize("name", ["sdp_x1_and_x2_together", "pdp_split_in_four_average", "cdp_lookup_of_the_element"])
def test_a_trace_covers_what_its_scenario_does(tmp_path: Path, model: CoverageModel, name: str) -> None:
    played = ENTRIES[name].build(CONFIG, 3)
    write(played, tmp_path / "trace")
    expected = reached(model, played)
    assert len(expected) > 60
    assert reached(model, read(tmp_path / "trace", CONFIG)) == expected


def drawn(model: CoverageModel, seed: int, *engines: str) -> frozenset[str]:
    """Return the bins that the random scenario of a seed hits."""
    return frozenset(reached(model, random_entry(CONFIG, seed, engines).build(CONFIG, seed)))


def test_every_attribute_of_the_model_exists_and_many_bins_are_drawn(model: CoverageModel) -> None:
    hits = frozenset[str]().union(*(drawn(model, seed, "SDP", "PDP", "CDP", "CONV") for seed in range(40)))
    assert not hits & model.excluded.keys()
    assert len(hits) > 0.4 * len(set(model.reachable()))


def test_an_attribute_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pdp.toml").write_text('unit = "PDP"\n[points]\nmetod = ["max"]\n', encoding="utf-8")
    wrong = load_model(tmp_path, CONFIG)
    with pytest.raises(
        PlanError, match=r"^PDP\.metod must be an attribute: behind, beside, both_groups, buffer_room, "
    ):
        count(wrong, observe(scenario(PDP), CONFIG))


def test_an_illegal_program_covers_nothing(model: CoverageModel) -> None:
    played = scenario(SDP)
    writes = {"SDP.D_DP_EW_CFG": RegWrite("SDP.D_DP_EW_CFG", 0)}
    ops = tuple(writes.get(op.register, op) if isinstance(op, RegWrite) else op for op in played.ops)
    with pytest.raises(Refused, match=r"^SDP\.D_DP_EW_CFG\.ew_bypass must be YES, not NO"):
        reached(model, replace(played, ops=ops))


def test_a_write_where_no_register_is_covers_nothing(model: CoverageModel) -> None:
    (unmapped,) = (e for e in load_plan(PLANS / "nv_small_registers.toml") if e.name == "registers_unmapped")
    assert reached(model, unmapped.build(CONFIG, 1)) == {}


def test_tables_that_are_written_again_end_the_layer_that_uses_them_although_nothing_waits_for_it() -> None:
    (entry,) = (e for e in load_plan(PLANS / "nv_small_registers.toml") if e.name == "interrupts_of_layers")
    seen = [seen for seen in observe(entry.build(CONFIG, 1), CONFIG) if seen.unit == "CDP"]
    assert len(seen) == 14, "two layers, and twelve runs"
    assert {observation.attributes["both_groups"] for observation in seen} == {"no"}


def test_hits_count_in_points_and_crosses_of_the_unit_alone(small: CoverageModel) -> None:
    seen = Observation("PDP", {"method": "max", "group": 0, "height": 4})
    assert count(small, [seen, Observation("SDP", {}), seen]) == {
        **{"PDP.method=max": 2, "PDP.group=0": 2, "PDP.height=1..4": 2},
        "PDP.method*group=max*0": 2,
    }
    assert count(small, [replace(seen, attributes={**seen.attributes, "group": 2})]) == {
        "PDP.method=max": 1,
        "PDP.height=1..4": 1,
    }


def test_status_tells_holes_exclusions_and_hits_against_the_model(small: CoverageModel) -> None:
    hits = count(
        small,
        [
            Observation("PDP", {"method": "max", "group": 0, "height": 4}),
            Observation("PDP", {"method": "max", "group": 1, "height": None}),
        ],
    )
    statuses = item_status(small, hits)
    assert (totals(statuses).hit, totals(statuses).reachable, totals(statuses).excluded) == (5, 9, 1)
    assert text(small, hits, excluded=True).splitlines() == [
        "unit      points  crosses   bins    hit      %  excluded",
        "PDP            3        1      9      5   55.6         1",
        "all            3        1      9      5   55.6         1",
        "",
        "hole: PDP.method 1/2: min",
        "hole: PDP.height 1/2: 5..",
        "hole: PDP.method*group 1/3: min*0, min*1",
        "open: 1 of PDP.method*group: nobody draws it",
        "excluded but hit: PDP.method*group=max*1",
        "",
        "excluded: 1 of PDP.method*group: the model says so",
    ]


def test_scenarios_are_chosen_by_what_they_add() -> None:
    hits = [set(bins) for bins in ("ab", "abc", "cd", "d", "x")]
    assert list(choose(hits, "abcd")) == [1, 2]
    assert list(choose(hits, "abcd", most=1)) == [1]
    assert list(choose(hits, "z")) == []


def test_a_seed_is_drawn_and_looked_at_alike_every_time(model: CoverageModel) -> None:
    assert drawn(model, 5, "SDP", "PDP") == drawn(model, 5, "SDP", "PDP")
    assert drawn(model, 5, "SDP", "PDP") != drawn(model, 6, "SDP", "PDP")


def test_a_layer_that_hands_its_result_on_counts_for_both_units() -> None:
    played = ENTRIES["sdp_pooled_on_the_fly"].build(CONFIG, 1)
    seen = list(observe(played, CONFIG))
    assert [one.unit for one in seen] == ["SDP", "PDP", "SYSTEM"]
    sdp, pdp, system = (one.attributes for one in seen)
    assert (sdp["output"], sdp["dst.offset"], pdp["input"], pdp["src.offset"]) == ("PDP", None, "SDP", None)
    assert pdp["dst.offset"] is not None
    assert system["unit"] == "PDP"
