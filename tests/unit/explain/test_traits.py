"""Traits of wrong elements, and causes at one site of the arithmetic: where inside a layer it goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.arithmetic import HARDWARE, Rounding, Rules, Site, Step
from nvdla_tb.explain import diagnose
from nvdla_tb.explain.build import run_of
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.traits import element_leads, traits_of, watched
from nvdla_tb.nvdla.layers import Layer
from tests.unit.explain import cases

MEMORY = cases.memory_for(3)
CONVOLUTION = replace(cases.conv_layer(), params=replace(cases.conv_layer().params, truncate=9))


def off_by_one(layer: Layer, choose: Callable[[Evidence], np.ndarray]) -> Evidence:
    """Return the evidence of a layer of which chosen elements, (C, H, W), are one too low."""
    chosen = choose(cases.evidence_of(layer, MEMORY))

    def change(cube: np.ndarray) -> np.ndarray:
        full = np.zeros(cube.shape, dtype=bool)
        full[: len(chosen)] = chosen
        return np.where(full & (cube > -128), cube - 1, cube)

    return cases.recast(layer, MEMORY, change)


def sums_just_below_a_half(evidence: Evidence) -> np.ndarray:
    """Return which negative sums drop bits right above a half, where a sticky bit decides."""
    assert evidence.rerun is not None
    events = watched(evidence, evidence.rerun)[1]
    [shift] = [event for event in events if (event.site, event.step) == (Site.CACC, Step.SHIFT_RIGHT)]
    half = 1 << (shift.amount - 1)
    dropped = shift.values & (2 * half - 1)
    return (shift.values < 0) & (dropped > half) & (dropped < half + half // 4)


def test_a_fault_of_some_sums_is_found_by_what_the_truncation_drops() -> None:
    evidence = off_by_one(CONVOLUTION, sums_just_below_a_half)
    assert diagnose(evidence).probable is None
    traits = traits_of(evidence)
    assert traits is not None
    assert traits.wrong >= 4
    [lead] = element_leads([traits])
    assert lead.startswith(
        f"all {traits.wrong} wrong elements that were looked at have a negative number whose dropped bits are above "
        "a half by less than an eighth in the truncation of CACC, and "
    )


def test_layers_of_a_few_wrong_elements_each_say_more_together() -> None:
    def one_of_them(right: Evidence) -> np.ndarray:
        chosen = np.argwhere(sums_just_below_a_half(right))
        single = np.zeros(right.cube.shape, dtype=bool)
        single[tuple(chosen[len(chosen) // 2])] = True
        return single

    one = traits_of(off_by_one(CONVOLUTION, one_of_them))
    assert one is not None
    assert element_leads([one]) == [], "chance gives as much"
    assert len(element_leads([one] * 8)) == 1


def test_elements_that_were_chosen_by_chance_have_no_telling_trait() -> None:
    rng = np.random.default_rng(8)
    for layer in (cases.conv_layer(), cases.sdp_layer(), cases.pdp_layer(), cases.cdp_layer()):
        traits = traits_of(off_by_one(layer, lambda right: rng.random(right.cube.shape) < 0.05))
        assert traits is not None
        assert traits.tried > 20
        assert element_leads([traits]) == []
    assert element_leads([]) == []


def test_a_block_of_wrong_elements_has_its_place_in_common_and_missing_ones_have_no_values() -> None:
    def block(right: Evidence) -> np.ndarray:
        chosen = np.zeros(right.cube.shape, dtype=bool)
        chosen[2:5, 1, :] = True
        return chosen

    def missing(patch: Patch) -> Patch:
        mask = patch.mask.copy()
        mask[::7] = False
        return replace(patch, mask=mask)

    assert traits_of(off_by_one(cases.copy_layer(), block)) is None
    assert traits_of(cases.evidence_of(cases.copy_layer(), MEMORY, missing)) is None


@pytest.mark.parametrize(
    ("layer", "site"),
    [
        (cases.pdp_layer(), Site.PDP_WIDTH),
        (cases.pdp_layer(), Site.PDP_HEIGHT),
        (cases.sdp_layer(), Site.X2),
        (cases.sdp_layer(), Site.SDP_OUTPUT),
    ],
)
def test_rounding_that_is_wrong_at_one_site_alone_is_named_with_the_site(layer: Layer, site: Site) -> None:
    wrong = replace(run_of(layer), rules=Rules(rounding=Rounding.FLOOR, site=site)).patch(MEMORY)
    probable = diagnose(cases.evidence_of(layer, MEMORY, lambda _: wrong)).probable
    assert probable is not None
    assert probable.text == f"wrong rounding: towards minus infinity in the {site.value} alone"


def test_rules_hold_at_their_site_alone() -> None:
    everywhere, there = Rules(Rounding.FLOOR), Rules(Rounding.FLOOR, site=Site.X1)
    assert everywhere.at(Site.X2) is everywhere
    assert there.at(Site.X1) is there
    assert there.at(Site.X2) is HARDWARE
