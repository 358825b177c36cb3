from __future__ import annotations

import pytest

from tb.dlhdl.config import DlhdlConfig, embedded_configs
from tb.dlhdl.scenario import load_plan
from tb.places import PLANS

ENTRIES = load_plan(PLANS / "dlhdl.toml")


@pytest.mark.parametrize("config", embedded_configs(), ids=lambda config: config.name)
def test_each_scenario_of_the_plan_fits_each_embedded_core(config: DlhdlConfig) -> None:
    for entry in ENTRIES:
        scenario = entry.build(config, 1)
        assert scenario.program.network.results(scenario.frames[0])
