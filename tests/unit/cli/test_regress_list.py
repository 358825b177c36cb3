"""``regress --list`` and ``--write-plan``: what seeds would play, and one as a plan that gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli import run_play
from nvdla_tb.cli.main import parser
from nvdla_tb.cli.regress_list import drawn_plan
from nvdla_tb.cli.regress_tasks import tasks_of
from nvdla_tb.run.jobs import Job
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.generate.random import ENGINES, random_entry
from nvdla_tb.stimulus.handed_over import FILE_NAME, hand_over
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.conftest import Run

SEED_7 = "random.7  SDP 8x7x14, x1; PDP 8x5x25 -> 8x3x12, max 1x4, stride 2x2, split 6; SDP 6x3x10, x1"
SEEDS = 40


def test_seeds_are_listed_with_their_layers_and_nothing_is_played(tb: Run) -> None:
    ran = tb("regress random --seed 7 --seeds 2 --list")
    assert ran.code == 0
    first, second = ran.out.splitlines()
    assert first == SEED_7
    assert second.startswith("random.8  PDP 4x1x5 -> 4x1x4, average 1x5")
    assert list(Path().iterdir()) == []


def test_scenarios_of_plans_and_levels_and_tests_in_python_are_listed(tb: Run) -> None:
    ran = tb("regress plan --only pdp_split_in_two --seed 3 --seeds 2 --list")
    lines = [line.partition("  ") for line in ran.out.splitlines()]
    assert [name for name, _, _ in lines] == ["pdp_split_in_two.3", "pdp_split_in_two.4"]
    assert all("split 2" in layers for _, _, layers in lines)
    named = tb("regress plan --level L1 --only stress.a_throttled_csb_only_takes_longer,interrupt* --list").out
    assert "stress.a_throttled_csb_only_takes_longer.1  test in Python" in named.splitlines()


def test_a_scenario_without_layers_is_listed_with_its_purpose(tb: Run) -> None:
    ran = tb("regress plan --plan nv_small_registers --list")
    purposes = [line.partition("  ")[2] for line in ran.out.splitlines()]
    assert purposes
    assert all(purposes)


def test_random_scenarios_of_the_second_system_are_listed(tb: Run) -> None:
    assert tb("regress random --config dlhdl --seeds 3 --list").out.splitlines() == [
        "random.0  5x7x2: conv, max_pool",
        "random.1  5x3x5: fc, add",
        "random.2  9: fc, add, fc, fc",
    ]


def bytes_of(scenario: Scenario, folder: Path) -> bytes:
    """Return all that a simulator is handed of a scenario: program, memory, settings, name and seed."""
    folder.mkdir(exist_ok=True)
    hand_over(scenario, folder)
    return (folder / FILE_NAME).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nv_small", "nv_full"])
def test_the_plan_of_a_seed_gives_the_same_program_and_memory(name: str, tmp_path: Path) -> None:
    config, drawn, path = HwConfig.load(name), set(), tmp_path / "drawn.toml"
    for seed in range(SEEDS):
        entry = random_entry(config, seed, ENGINES)
        path.write_text(drawn_plan(entry, seed, ",".join(ENGINES)), encoding="utf-8")
        (planned,) = load_plan(path)
        assert planned.seed == seed
        again = bytes_of(planned.build(config, planned.seed), tmp_path / "again")
        assert again == bytes_of(entry.build(config, seed), tmp_path / "first")
        drawn |= {layer["engine"] for layer in entry.data["layer"]}
    assert drawn == set(ENGINES if name == "nv_full" else ENGINES[:4])


def test_a_written_plan_is_played_with_its_seed_by_run_and_regress(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tb("regress random --seed 7 --seeds 1 --only SDP,PDP --write-plan seed7.toml")
    (line, how) = ran.out.splitlines()
    assert how == "to play it: nvdla-tb run --plan seed7.toml --config nv_small --sim verilator --waves"
    assert tb("regress plan --plan seed7.toml --list").out.splitlines() == [line]
    assert tb("regress plan --plan seed7.toml --seed 1 --list").out.startswith("random.1  ")
    assert tb("run --plan seed7.toml --list").out.startswith("random ")
    jobs: list[Job] = []
    monkeypatch.setattr(run_play, "build_dut", lambda *_, **__: None)
    monkeypatch.setattr(run_play, "play_and_report", lambda _, plays, *__: jobs.extend(plays[0][1]) or 0)
    tb("run --plan seed7.toml")
    tb("run --plan seed7.toml --seed 2")
    assert [job.identity for job in jobs] == ["random.7", "random.2"]
    assert "--seed 7" in jobs[0].rerun
    (drawn,) = tasks_of(parser().parse_args(["regress", "random", "--seed", "7", "--seeds", "1", "--only", "SDP,PDP"]))
    assert bytes_of(jobs[0].nvdla_scenario(), Path("again")) == bytes_of(drawn.job().nvdla_scenario(), Path("first"))


def test_a_plan_of_several_seeds_or_over_another_file_is_refused(tb: Run) -> None:
    assert tb("regress random --seed 7 --write-plan a.toml").refusal == (
        "--write-plan needs --seeds 1, not 100: a plan holds the scenario of one seed"
    )
    assert tb("regress random --config dlhdl --seeds 1 --write-plan a.toml").refusal == (
        "--write-plan must be left out for dlhdl: only NVDLA's are written"
    )
    Path("mine.toml").write_text("", encoding="utf-8")
    assert tb("regress random --seeds 1 --write-plan mine.toml").refusal == (
        "--write-plan must name a new file, not mine.toml"
    )
    assert Path("mine.toml").read_text(encoding="utf-8") == ""


def test_a_seed_of_a_plan_that_is_none_is_refused(tb: Run) -> None:
    Path("mine.toml").write_text('config = "nv_small"\nseed = -1\nscenario = []\n', encoding="utf-8")
    assert tb("run --plan mine.toml --list").refusal.startswith("mine.toml: seed")


def test_a_scenario_that_cannot_be_built_does_not_hide_the_others(tb: Run) -> None:
    Path("mine.toml").write_text(
        'config = "nv_small"\n'
        '[[scenario]]\nname = "bad"\nabout = ""\nlayer = [{ shape = [8, 1, 1], precision = "fp16" }]\n'
        '[[scenario]]\nname = "good"\nabout = ""\nlayer = [{ shape = [8, 1, 1] }]\n',
        encoding="utf-8",
    )
    bad, good = tb("regress plan --plan mine.toml --list").out.splitlines()
    assert bad.startswith("bad.1  cannot be built: ")
    assert good == "good.1  SDP 8x1x1"
