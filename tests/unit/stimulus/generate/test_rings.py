"""Convolutions whose lines, or whose weights, end beside the end of their banks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.coverage.observe import observe
from nvdla_tb.stimulus.generate.draw.rings import draw_rings
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.generate.building import Keys, entry

pytestmark = pytest.mark.slow

ENDS = {"one_before", "at_end", "one_after"}


def rows(config: HwConfig, seeds: int) -> list[list[Keys]]:
    drawn = [draw_rings(np.random.default_rng(seed), config) for seed in range(seeds)]
    return [[each.layer for each in row] for row in drawn]


def ends(layers: list[Keys]) -> list[tuple[object, object, object]]:
    """Return the share of the banks and the ends of lines and weights of each convolution of a scenario."""
    scenario = entry(*layers, order="back_to_back").build(SMALL, 1)
    seen = [each.attributes for each in observe(scenario, SMALL) if each.unit == "CONV"]
    return [(each["data_share"], each["data_end"], each["weight_end"]) for each in seen]


def test_every_row_ends_beside_the_end_of_its_banks_and_goes_on_after_it() -> None:
    found = rows(SMALL, 60)
    assert all(found)
    for layers in found:
        seen = ends(layers)
        if len(layers) == 1:
            assert seen[0][2] in ENDS
        else:
            assert seen[-2][1] in ENDS
            assert len({tuple(layer["banks"]) for layer in layers}) == 1


def test_all_shares_and_all_ends_are_drawn() -> None:
    several = [ends(layers)[-2] for layers in rows(SMALL, 160) if len(layers) > 1]
    assert {(share, end) for share, end, _ in several} == {
        (share, end) for share in ("quarter", "half", "most", "almost_all") for end in ENDS
    }


def test_images_lie_before_between_and_after_cubes() -> None:
    several = [["image" in layer for layer in layers] for layers in rows(SMALL, 160) if len(layers) > 1]
    beside = {(one, other) for row in several for one, other in pairwise(row)}
    assert beside == {(one, other) for one in (False, True) for other in (False, True)}


def test_weights_end_beside_the_end_of_any_number_of_banks() -> None:
    alone = [layers for layers in rows(SMALL, 160) if len(layers) == 1]
    assert {ends(layers)[0][2] for layers in alone} == ENDS
    assert max(layers[0]["banks"][1] for layers in alone) > 24


@pytest.mark.parametrize("config", [SMALL, FULL], ids=lambda config: config.name)
def test_they_are_legal(config: HwConfig) -> None:
    for seed, layers in enumerate(rows(config, 40)):
        assert refusal(entry(*layers).build(config, seed).ops, config) is None, seed
