"""The test plan: what it names exists, what it lacks shows, and levels add up."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nvdla_models.config import BUILTIN_DIR, HwConfig, builtin_names
from nvdla_tb.coverage.model import CoverageModel, load_model, model_of
from nvdla_tb.coverage.status import totals
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.markup import render
from nvdla_tb.paths import PLANS
from nvdla_tb.report.features_table import FeatureStatus, feature_status, lines, section
from nvdla_tb.run.regress.features import FeaturePlan, load_feature_plan, planned_tests
from nvdla_tb.run.regress.store import Latest
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import plan_of
from nvdla_tb.stimulus.generate.random import ENGINES

FEATURES = PLANS / "features.toml"
CONFIG = HwConfig.load("nv_small")

SCENARIOS = """
config = "nv_small"
[[scenario]]
name = "sdp_a"
about = "a"
[[scenario.layer]]
engine = "SDP"
shape = [1, 1, 1]
[[scenario]]
name = "sdp_b"
about = "b"
[[scenario.layer]]
engine = "SDP"
shape = [2, 1, 1]
"""
MODEL = """
unit = "SDP"
[points]
group = ["0", "1"]
stages = ["none", "x1"]
"""
GOOD = """
plans = ["plan.toml"]
[[level]]
name = "L0"
about = "smoke"
seeds = 1
search = 0
steered = 0
random = 0
[[level]]
name = "L1"
about = "more"
seeds = 2
search = 5
steered = 3
random = 1
[[feature]]
name = "smoke"
about = "one"
level = "L0"
tests = ["sdp_a"]
coverage = ["SDP.group"]
[[feature]]
name = "all"
about = "all <of> it"
level = "L1"
tests = ["sdp_*"]
random = ["SDP"]
coverage = ["SDP.*"]
[[feature]]
name = "nothing"
about = "forgotten"
level = "L1"
"""


def written(root: Path, text: str = GOOD) -> Path:
    plan = root / "tests" / "plan"
    plan.mkdir(parents=True)
    (plan / "plan.toml").write_text(SCENARIOS, encoding="utf-8")
    (plan / "features.toml").write_text(text, encoding="utf-8")
    return plan / "features.toml"


def page(statuses: Sequence[FeatureStatus]) -> str:
    return render("sections.html", title="plan", heading="plan", sections=[section(statuses)])


@pytest.fixture
def model(tmp_path: Path) -> CoverageModel:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "sdp.toml").write_text(MODEL, encoding="utf-8")
    return load_model(tmp_path / "model", CONFIG)


@pytest.fixture
def plan(tmp_path: Path, model: CoverageModel) -> FeaturePlan:
    return load_feature_plan(written(tmp_path), model)


@pytest.mark.parametrize("name", builtin_names())
def test_everything_that_the_plan_of_the_project_names_exists(name: str) -> None:
    loaded = load_feature_plan(FEATURES, model_of(name))
    assert [level.name for level in loaded.levels] == ["L0", "L1", "L2", "L3"]
    assert len(loaded.features) > 30


def test_a_configuration_of_the_users_own_plays_the_scenarios_of_nv_small(tmp_path: Path) -> None:
    path = tmp_path / "my_build.toml"
    path.write_text((BUILTIN_DIR / "nv_small.toml").read_text(encoding="utf-8"), encoding="utf-8")
    own, small = (load_feature_plan(FEATURES, model_of(config)) for config in (str(path), "nv_small"))
    assert planned_tests(own.features) == planned_tests(small.features)
    assert plan_of(HwConfig.load(path), FEATURES.parent) == plan_of(CONFIG, FEATURES.parent)
    assert plan_of(HwConfig.load("nv_full"), FEATURES.parent).name == "nv_full.toml"


def test_the_plan_of_the_project_looks_at_every_bin_that_can_be_reached() -> None:
    loaded = load_feature_plan(FEATURES, model_of("nv_small"))
    looked_at = {item.name for feature in loaded.features for item in feature.items}
    integers = {f"{unit}.nan_to_zero" for unit in ("CONV", "SDP", "CDP", "PDP")}
    assert {item.name for item in loaded.model.items} - looked_at == integers


def test_a_level_plays_what_the_levels_before_it_play(plan: FeaturePlan) -> None:
    assert [test.name for test in planned_tests(plan.up_to("L0"))] == ["sdp_a"]
    assert [test.name for test in planned_tests(plan.up_to("L1"))] == ["sdp_a", "sdp_b"]
    assert [feature.name for feature in plan.up_to("L1")] == ["smoke", "all", "nothing"]
    with pytest.raises(PlanError, match=r"^level must be one of L0, L1, not L9$"):
        plan.up_to("L9")


def latest_of(plan: FeaturePlan, **by_test: dict[Ending, int]) -> Latest:
    """Return how tests of a plan ended."""
    sources = {test.name: test.source for test in planned_tests(plan.features)}
    return {(name, sources[name]): endings for name, endings in by_test.items()}


def test_a_feature_without_test_or_coverage_is_a_hole(plan: FeaturePlan) -> None:
    latest = latest_of(plan, sdp_a={Ending.PASSED: 2}, sdp_b={Ending.PASSED: 1, Ending.HANG: 1})
    statuses = feature_status(plan, plan.features, latest, {"SDP.group=0": 3})
    assert list(lines(statuses)) == [
        "feature  level  tests  result              random  coverage",
        "smoke    L0     1      1 passed            -       50.0 % of 2",
        "all      L1     2      1 passed, 1 failed  SDP     25.0 % of 4",
        "nothing  L1     0      -                   -       -            HOLE: no test, no coverage",
        "failed: all: sdp_b",
    ]
    assert totals([]).percent == 0.0, "nothing was shown"


def test_a_test_that_no_feature_has_is_told(tmp_path: Path, model: CoverageModel) -> None:
    assert load_feature_plan(written(tmp_path, GOOD.replace('["sdp_*"]', '["sdp_a"]')), model).aimless == ("sdp_b",)


def test_every_test_of_the_shipped_plan_aims_at_a_feature() -> None:
    assert load_feature_plan(FEATURES, model_of("nv_small")).aimless == ()


def test_a_feature_of_which_nothing_was_covered_is_a_hole(plan: FeaturePlan) -> None:
    (status, *_) = feature_status(plan, plan.features, {}, {})
    assert (status.unplayed, status.holes) == (("sdp_a",), ("nothing passed", "nothing covered"))


def test_a_refused_test_has_not_passed_and_a_feature_of_which_nothing_passed_is_a_hole(plan: FeaturePlan) -> None:
    latest = latest_of(plan, sdp_a={Ending.REFUSED: 2}, sdp_b={Ending.PASSED: 1, Ending.REFUSED: 1})
    smoke, both, _ = feature_status(plan, plan.features, latest, {"SDP.group=0": 3})
    for status, refused in ((smoke, ("sdp_a",)), (both, ("sdp_a", "sdp_b"))):
        assert (status.passed, status.refused, status.holes) == (0, refused, ("nothing passed",))
    table = list(lines([smoke]))
    assert table[1:] == [
        "smoke    L0     1      1 refused  -       50.0 % of 2  HOLE: nothing passed",
        "refused: smoke: sdp_a",
    ]
    assert '<span class="other">1 refused</span>' in page([smoke])
    (smoke, *_) = feature_status(plan, plan.features, latest_of(plan, sdp_a={Ending.REFUSED: 1, Ending.HANG: 1}), {})
    assert (smoke.failed, smoke.refused) == (("sdp_a",), ())


def test_the_plan_on_a_page_is_escaped(plan: FeaturePlan) -> None:
    text = page(feature_status(plan, plan.features, {}, {}))
    assert "all &lt;of&gt; it" in text
    assert text.count("<tr>") == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["sdp_*"]', '["spd_*"]', "features.toml: all: a test must be a scenario or a test of the bench, not spd_*"),
        ('["SDP.*"]', '["SPD.*"]', "features.toml: all: coverage must be a point or a cross of the model, not SPD.*"),
        ('random = ["SDP"]', 'random = ["EW"]', f"features.toml: all: random must be of {', '.join(ENGINES)}, not EW"),
        ('level = "L0"', 'level = "L7"', "features.toml: smoke: level must be one of L0, L1, not L7"),
        ("seeds = 2", "seeds = 0", "features.toml: level[1].seeds must be an integer from 1 to 100000, not 0"),
        (
            *("tests =", "test ="),
            "features.toml: feature[0].test is unknown; "
            "allowed: name, about, level, tests, random, coverage, configs, bare_registers",
        ),
        (
            *("plans =", 'bench = ["tests.sim.none"]\nplans ='),
            "features.toml: bench must name modules, not tests.sim.none",
        ),
    ],
)
def test_a_plan_that_names_what_there_is_not_is_refused(
    tmp_path: Path, model: CoverageModel, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(PlanError) as error:
        load_feature_plan(path, model)
    assert str(error.value) == message
