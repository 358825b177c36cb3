"""A scenario that is handed over is the same on the other side, whatever a program may hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from nvdla_models.config import HwConfig
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.handed_over import hand_over, taken
from nvdla_tb.stimulus.scenario import Scenario, ScenarioError
from tests.unit.stimulus.trace.test_writing import scenarios

SMALL = HwConfig.load("nv_small")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(scenario=scenarios())
def test_any_scenario_is_taken_as_it_was_handed_over(tmp_path: Path, scenario: Scenario) -> None:
    hand_over(scenario, tmp_path / "it")
    assert taken(tmp_path / "it", HwConfig.load(scenario.config)) == scenario


def test_scenarios_of_a_plan_are_taken_with_their_settings(tmp_path: Path) -> None:
    entries = [entry for entry in load_plan(PLANS / "nv_small.toml") if "settings" in entry.data]
    assert entries
    for entry in entries[:3]:
        scenario = entry.build(SMALL, 1)
        hand_over(scenario, tmp_path / entry.name)
        assert taken(tmp_path / entry.name, SMALL) == scenario


def test_a_scenario_for_another_configuration_is_not_taken(tmp_path: Path) -> None:
    hand_over(Scenario("it", "nv_full", (), 1), tmp_path)
    with pytest.raises(ScenarioError, match=r"^a scenario for nv_full must not be played on nv_small$"):
        taken(tmp_path, SMALL)
