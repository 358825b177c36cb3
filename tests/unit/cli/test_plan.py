"""``plan`` and ``coverage``: features with what a store knows of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nvdla_models.config import BUILTIN_DIR, HwConfig
from nvdla_tb.coverage.model import model_of
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import HDL
from nvdla_tb.run.evidence import with_evidence
from nvdla_tb.run.regress.features import FEATURES, load_feature_plan, planned_tests
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Dut
from tests.unit.conftest import Run as Tb
from tests.unit.run.regress.tasks import DUT, ended, task

pytestmark = pytest.mark.slow


CONFIG = HwConfig.load("nv_small")
NOW = with_evidence(DUT, ())
"""The embedded device as it is."""


def planned(test: str, dut: Dut = NOW, **changes: Any) -> Task:
    """Return the task of a scenario of the test plan."""
    sources = {
        known.name: known.source for known in planned_tests(load_feature_plan(FEATURES, model_of("nv_small")).features)
    }
    return replace(task(1, test), **{"kind": "plan", "source": sources[test], "dut": dut, **changes})


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A store in which one scenario passed, another hung, and two random ones ended."""
    bins = list(model_of("nv_small").reachable())
    tasks = [planned("pdp_max_2x2"), planned("conv_chain"), *(replace(task(seed), dut=NOW) for seed in (1, 2))]
    endings = [Ending.PASSED, Ending.HANG, Ending.PASSED, Ending.MISMATCH]
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("L1", tasks)
        for entry, ending in zip(tasks, endings, strict=True):
            coverage = dict.fromkeys(bins, 1) if ending is Ending.PASSED else {}
            store.add(run, ended(entry, ending, coverage=coverage))
        store.start("newer", tasks)
    return tmp_path


def test_without_a_store_every_feature_lacks_something(tb: Tb, tmp_path: Path) -> None:
    ran = tb(f"plan --results {tmp_path / 'none'}")
    assert ran.code == 0
    assert "features, 0 without holes" in ran.out
    assert "random scenarios" not in ran.out


def test_results_and_coverage_of_a_store_are_shown(tb: Tb, results: Path) -> None:
    lines = tb(f"plan --results {results}").out.splitlines()
    (units,) = [line for line in lines if line.startswith("units_at_once")]
    assert "1 failed, 8 not played" in units
    assert "100.0 % of" in units
    assert "failed: units_at_once: conv_chain" in lines
    assert "random scenarios: 1 passed, 1 failed (1 mismatch), 0 refused" in lines
    assert any(line.startswith("conv_reuse") and "8 not played" in line and "HOLE" in line for line in lines)


def test_a_level_shows_its_features_and_one_run_its_own_coverage(tb: Tb, results: Path) -> None:
    out = tb(f"plan --level L0 --run 2 --results {results}").out
    assert "1 feature, 0 without holes, 1 with; coverage 0.0 % of" in out


@pytest.fixture
def own(results: Path) -> Path:
    """A configuration of the user's own, of which the store has a third run on the user's RTL: pdp_max_2x2 hung."""
    config = results / "my_build.toml"
    config.write_text((BUILTIN_DIR / "nv_small.toml").read_text(encoding="utf-8"), encoding="utf-8")
    hung = planned("pdp_max_2x2", replace(DUT, config=str(config), rtl=str(results / "my.f"), evidence="theirs"))
    with Store(results / "results.sqlite") as store:
        run = store.start("own", [hung])
        store.add(run, ended(hung, Ending.HANG, coverage={"PDP.group=0": 1}))
    return config


def test_results_of_another_device_or_with_other_options_are_not_shown(tb: Tb, results: Path, own: Path) -> None:
    assert "coverage 100.0 % of" in tb(f"plan --results {results}").out
    (results / "my.f").write_text(f"-f {HDL / 'nv_small.f'}\n+define+MINE\n", encoding="utf-8")
    for other in (f"--config {own}", "--rtl my.f", "--sim icarus", "--plusarg +bug=sdp_dst_base", "--top other"):
        out = tb(f"plan {other} --results {results}").out
        assert "coverage 0.0 % of" in out, other
        assert "1 passed" not in out, other


def test_the_rtl_of_the_project_file_is_meant_and_its_results_are_shown(tb: Tb, tmp_path: Path) -> None:
    (tmp_path / "my.f").write_text(f"-f {HDL / 'nv_small.f'}\n", encoding="utf-8")
    (tmp_path / "nvdla-tb.toml").write_text('rtl = "my.f"\nresults = "out"\n', encoding="utf-8")
    mine = planned("pdp_max_2x2", with_evidence(replace(DUT, rtl=str(tmp_path / "my.f")), ()))
    with Store(tmp_path / "results.sqlite") as store:
        store.add(store.start("L1", [mine]), ended(mine, Ending.PASSED))
    lines = tb(f"plan --results {tmp_path}").out.splitlines()
    assert lines[0].startswith(f"DUT: {tmp_path / 'my.f'}")
    assert any(line.startswith("smoke") and "1 passed, 3 not played" in line for line in lines)
    (tmp_path / "my.f").write_text(f"-f {HDL / 'nv_small.f'}\n+define+CHANGED\n", encoding="utf-8")
    lines = tb(f"plan --results {tmp_path}").out.splitlines()
    assert any(line.startswith("smoke") and "4 not played" in line for line in lines), "the RTL has changed since"
    what = "of other content, options or simulators, or of another testbench"
    assert f"not shown: 1 run of nv_small on {tmp_path / 'my.f'} {what}" in lines


def test_a_scenario_of_the_same_name_in_another_plan_is_another_test(tb: Tb, tmp_path: Path) -> None:
    same = planned("pdp_max_2x2", source=str(tmp_path / "mine.toml"))
    with Store(tmp_path / "results.sqlite") as store:
        store.add(store.start("plan", [same]), ended(same, Ending.PASSED))
    assert "1 passed" not in tb(f"plan --results {tmp_path}").out


def test_a_seed_that_failed_is_not_hidden_by_another_that_passes(tb: Tb, tmp_path: Path) -> None:
    bad, good = (planned("pdp_max_2x2", seed=seed) for seed in (3, 1))
    with Store(tmp_path / "results.sqlite") as store:
        store.add(store.start("L2", [bad]), ended(bad, Ending.HANG))
        store.add(store.start("run", [good]), ended(good, Ending.PASSED))
    assert "failed: smoke: pdp_max_2x2" in tb(f"plan --results {tmp_path}").out
    with Store(tmp_path / "results.sqlite") as store:
        store.add(store.start("L2", [bad]), ended(bad, Ending.PASSED))
    assert "failed: smoke" not in tb(f"plan --results {tmp_path}").out


def test_what_run_plays_reaches_the_plan_and_is_no_regression(tb: Tb, tmp_path: Path) -> None:
    assert tb("run --only pdp_max_2x2,sdp_pass_through_one_element --sim icarus").code == 0
    shown = tb("plan --sim icarus --results sim_build/regress").out
    line = next(line for line in shown.splitlines() if line.startswith("smoke"))
    assert "passed" in line
    assert " 0.0 % of" not in line
    assert "1 passed" not in tb("plan --results sim_build/regress").out, "Verilator has played nothing"
    assert tb("regress show --results sim_build/regress").refusal == "the store holds no run of regress"


def test_one_run_is_shown_as_what_it_is_of(tb: Tb, results: Path, own: Path) -> None:
    lines = tb(f"plan --run 3 --results {results}").out.splitlines()
    theirs = f"{own} on {results / 'my.f'}"
    assert lines[0] == f"run 3: {theirs}"
    assert "failed: smoke: pdp_max_2x2" in lines
    message = f"run 3 must be of nv_small on the embedded DUT, not of {theirs}"
    assert tb(f"coverage 3 --config nv_small --results {results}").refusal == message


def test_coverage_does_not_merge_what_was_shown_of_different_contents(tb: Tb, results: Path) -> None:
    before = planned("pdp_max_2x2", replace(NOW, evidence="before"))
    with Store(results / "results.sqlite") as store:
        store.start("before", [before])
    assert tb(f"coverage 1 3 --results {results}").refusal == (
        "run 3 cannot be merged with run 1: nv_small on the embedded DUT, its options or the testbench was another then"
    )
    assert tb(f"coverage --all --results {results}").out.startswith("Coverage of nv_small in run 3\n")


def test_a_run_is_not_resumed_on_another_content(tb: Tb, results: Path) -> None:
    before = planned("pdp_max_2x2", replace(NOW, evidence="before"))
    with Store(results / "results.sqlite") as store:
        store.start("before", [before])
    assert tb(f"regress resume 3 --results {results}").refusal == (
        "run 3 cannot be resumed, start a new one: the embedded DUT, its configuration, ports or the testbench "
        "has changed since the run was started"
    )


def test_coverage_merges_only_runs_of_one_device(tb: Tb, results: Path, own: Path) -> None:
    title = f"Coverage of my_build on {results / 'my.f'} in run 3\n"
    for words in ("", "3", "--all", "--config my_build.toml --rtl my.f"):
        assert tb(f"coverage {words} --results {results}").out.startswith(title)
    assert tb(f"coverage --config nv_small --results {results}").out.startswith("Coverage of nv_small in run 2\n")
    assert tb(f"coverage --config nv_small --all --results {results}").out.startswith(
        "Coverage of nv_small in run 1, run 2\n"
    )
    for words, message in (
        ("1 3", f"run 3 must be of nv_small on the embedded DUT, not of {own} on {results / 'my.f'}"),
        ("--config nv_full", f"{results} holds no run of nv_full on the embedded DUT"),
        ("--all 1 2", "--all must not come with numbers of runs, here 1, 2"),
    ):
        assert tb(f"coverage {words} --results {results}").refusal == message


@pytest.mark.parametrize(
    "words", ["coverage", "plan --run 1", "regress show", "regress resume", "regress rerun-failed"]
)
def test_a_store_that_is_not_there_is_not_made_by_reading_it(tb: Tb, tmp_path: Path, words: str) -> None:
    message = "--results must be a folder with results.sqlite, which regress makes, not nowhere"
    assert tb(f"{words} --results nowhere").refusal == message
    assert not (tmp_path / "nowhere").exists()


def test_printed_commands_find_the_run_again(tb: Tb, results: Path) -> None:
    lines = tb(f"regress show 1 --results {results}").out.splitlines()
    assert f"holes: nvdla-tb coverage 1 --results {results}" in lines
    assert tb(f"coverage 1 --results {results}").out.startswith("Coverage of nv_small in run 1\n")
    assert f"resume: nvdla-tb regress resume 2 --results {results}" in tb(f"regress show --results {results}").out


def test_a_run_without_failures_is_not_played_again(tb: Tb, results: Path) -> None:
    ran = tb(f"regress rerun-failed 2 --results {results}")
    assert (ran.code, ran.out) == (0, "run 2 has no failures\n")


def test_a_level_that_there_is_not_is_refused(tb: Tb, tmp_path: Path) -> None:
    assert tb(f"plan --level L7 --results {tmp_path}").refusal == "level must be one of L0, L1, L2, L3, not L7"


def test_coverage_is_that_of_the_newest_run_of_one_or_of_all(tb: Tb, results: Path) -> None:
    newest = tb(f"coverage --results {results}").out
    assert newest.startswith("Coverage of nv_small in run 2\n")
    assert "hole: SDP.group 0/2: 0, 1" in newest
    page = results / "coverage.html"
    for words in ("1", "--all"):
        out = tb(f"coverage {words} --excluded --html {page} --results {results}").out
        assert "hole:" not in out
        assert "excluded: 2 of SDP.input_precision: the configuration has INT8 only" in out
    assert "Coverage of nv_small in run 1, run 2" in page.read_text(encoding="utf-8")
