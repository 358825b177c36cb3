from __future__ import annotations

from collections import Counter

import pytest

from dlhdl_tb.config import DlhdlConfig, embedded_configs
from dlhdl_tb.random import random_entry
from dlhdl_tb.scenario import Mode


@pytest.mark.parametrize("config", embedded_configs(), ids=lambda config: config.name)
def test_what_is_drawn_can_be_played(config: DlhdlConfig) -> None:
    kinds: Counter[str] = Counter()
    modes = set()
    for seed in range(25):
        scenario = random_entry(config, seed).build(config, seed)
        kinds.update(layer.kind.name for layer in scenario.program.network.layers)
        modes.add(scenario.host.mode)
    assert len(kinds) == 5
    assert modes == set(Mode)


def test_the_same_seed_gives_the_same_scenario_and_another_one_another() -> None:
    config = DlhdlConfig.load("dlhdl_int8_9")
    assert random_entry(config, 3) == random_entry(config, 3)
    assert random_entry(config, 3) != random_entry(config, 4)
