"""Leads: what failing layers have and passing ones have not; nothing that chance explains as well."""

from __future__ import annotations

import msgspec
import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.coverage.attributes import Attributes
from nvdla_tb.coverage.observe import observe
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import PLANS
from nvdla_tb.report.leads import leads, with_leads
from nvdla_tb.stimulus.explained import Explained
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.result import Result
from tests.unit.report.test_network_page import facts
from tests.unit.run.regress.tasks import DUT, explained, wrong

RNG = np.random.default_rng(5)


def layer(x: int, y: int, **more: int | str | None) -> dict[str, Attributes]:
    return {"CONV": {"stride_x": x, "stride_y": y, "width": int(RNG.integers(1, 60)), "mode": "direct", **more}}


SQUARE = [layer(n % 3 + 1, n % 3 + 1) for n in range(30)]
OBLONG = [layer(1, 2), layer(2, 1), layer(3, 2), layer(1, 3)]


def test_a_relation_that_only_failing_layers_have_is_told() -> None:
    assert leads(OBLONG, SQUARE)[0] == (
        "all 4 failing layers of CONV have stride_x != stride_y, and none of the 30 that passed"
    )


def test_words_and_numbers_are_told_and_few_exceptions_counted() -> None:
    prelu = [{"SDP": {"x1.prelu": "yes", "x1.mul.shift": shift}} for shift in (9, 12, 7)]
    plain = [{"SDP": {"x1.prelu": "no", "x1.mul.shift": shift % 5}} for shift in range(40)]
    lucky = [{"SDP": {"x1.prelu": "yes", "x1.mul.shift": 0}}]
    found = leads(prelu, plain + lucky)
    assert "all 3 failing layers of SDP have x1.mul.shift >= 7, and none of the 41 that passed" in found
    assert "all 3 failing layers of SDP have x1.prelu = yes, and only 1 of the 41 that passed" in found


def test_that_a_size_is_odd_is_told() -> None:
    def of(width: int) -> dict[str, Attributes]:
        return {"SDP": {"width": width, "channels": 8}}

    found = leads([of(width) for width in (5, 31, 17, 9, 13)], [of(2 * n + 2) for n in range(20)])
    assert found[0] == "all 5 failing layers of SDP have width that is odd, and none of the 20 that passed"
    assert not any("odd" in lead for lead in leads([of(width) for width in (5, 31, 16, 9)], [of(6)] * 20))


def test_what_chance_explains_as_well_is_no_lead() -> None:
    assert leads(OBLONG[:1], SQUARE) == [], "one layer has many things that no other one has"
    assert leads(SQUARE[:6], SQUARE[6:]) == []
    assert leads([], SQUARE) == []
    assert leads(OBLONG, []) == []


def test_what_a_layer_lacks_is_in_no_relation() -> None:
    without = [layer(1, 1, dilation_x=None, dilation_y=None) for _ in range(30)]
    dilated = [layer(1, 1, dilation_x=n + 1, dilation_y=1) for n in range(4)]
    assert not any("dilation_x !=" in lead for lead in leads(dilated, without))


def played(name: str, seed: int, count: int, why: Explained | None) -> Result:
    """Return the result of a scenario whose first layer is wrong when it is explained, and whose others are right."""
    layers = [facts(n, wrong_bytes=8 if why is not None and n == 0 else 0) for n in range(count)]
    verdict = Verdict(judged_bytes=8, findings=[] if why is None else [wrong()])
    return Result(name, seed, DUT, "rerun", verdict, explained=why, layers=layers)


def test_results_without_a_cause_get_leads_from_their_scenarios() -> None:
    config = HwConfig.load("nv_small")
    entries = [entry for entry in load_plan(PLANS / "nv_small.toml") if entry.name.startswith("sdp_x")]
    none = explained()
    results, makers = [], {}
    for entry in entries:
        for seed in range(4):
            result = played(entry.name, seed, 1, none if "prelu" in entry.name else None)
            results.append(result)
            makers[result.identity] = lambda entry=entry, seed=seed: entry.build(config, seed)
    told = [result.explained.leads for result in with_leads(results, makers) if result.explained is not None]
    assert sum(map(bool, told)) == 1, "the first of them speaks for all"
    assert any("x1.prelu = yes, and none of the" in lead for lead in told[0])
    known = explained("dst-base")
    of_one_cause = [msgspec.structs.replace(result, explained=known) for result in results if result.explained]
    assert with_leads(of_one_cause, makers) == of_one_cause
    assert with_leads(results, {}) == results, "nothing is known of their layers"


def test_a_scenario_that_cannot_be_built_again_gives_no_leads() -> None:
    def broken() -> None:
        raise InputError("a file has gone")

    result = played("a", 1, 1, explained())
    assert with_leads([result], {result.identity: broken}) == [result]  # type: ignore[dict-item]
    assert result.ending is Ending.MISMATCH


def test_a_number_that_all_failing_layers_share_is_told_once_and_of_their_unit() -> None:
    failing = [{unit: {"group": 1} for unit in ("CONV", "SYSTEM")} for _ in range(6)]
    passing = [{unit: {"group": 0} for unit in ("CONV", "SYSTEM")} for _ in range(30)]
    assert leads(failing, passing) == ["all 6 failing layers of CONV have group = 1, and none of the 30 that passed"]


def test_layers_of_several_units_are_compared_by_what_is_around_them() -> None:
    failing = [{unit: {}, "SYSTEM": {"group": 1}} for unit in ("CONV", "SDP", "PDP", "PDP")]
    passing = [{"SDP": {}, "SYSTEM": {"group": 0}} for _ in range(30)]
    assert leads(failing, passing) == ["all 4 failing layers of SYSTEM have group = 1, and none of the 30 that passed"]


def test_later_layers_of_a_test_count_when_they_read_nothing_that_layers_left() -> None:
    config = HwConfig.load("nv_small")
    entries = {entry.name: entry for entry in load_plan(PLANS / "nv_small_limits.toml")}
    entry = entries["limits_sdp_shifted_operands"]
    none = explained()
    scenario = entry.build(config, 1)
    verdict = Verdict(judged_bytes=8, findings=[wrong()])
    seen = [layer for layer in observe(scenario, config) if layer.unit == "SDP"]
    bad = [layer.index for layer in seen if layer.attributes["x2.alu.shift"] == 30]
    layers = [facts(layer.index, wrong_bytes=8 if layer.index in bad else 0) for layer in seen]
    result = Result(entry.name, 1, DUT, "rerun", verdict, explained=none, layers=layers)
    [told] = with_leads([result], {result.identity: lambda: scenario})
    assert len(bad) > 1
    assert told.explained is not None
    assert any("x2.alu.shift = 30, and none of the" in lead for lead in told.explained.leads)


def test_a_layer_before_is_told_of_when_every_failing_one_has_it() -> None:
    def after(weight_bytes: int | None) -> dict[str, Attributes]:
        if weight_bytes is None:
            return {"CONV": {"again": "first", "width": 4}}
        return {"CONV": {"again": "again", "width": 4, "before.weight_bytes": weight_bytes}}

    failing = [after(weight_bytes) for weight_bytes in (12, 20, 9, 36, 15, 44)]
    passing = [after(weight_bytes) for weight_bytes in (8, 64, 16, 128, 256, *[None] * 20)]
    of = "all 6 failing layers of CONV"
    assert leads(failing, passing) == [
        f"{of} ran after another one of CONV, which may have left something, and only 5 of the 25 that passed",
        f"{of} have before.weight_bytes that is no multiple of 8, and none of the 25 that passed",
    ]
