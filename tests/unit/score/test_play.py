"""Bugs and mutants are played with the user's configuration, and a failure names the command that repeats just it."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.config import BUILTIN_DIR, HwConfig
from nvdla_models.errors import InputError
from nvdla_score import play
from nvdla_score.catalogue import load_catalogue
from nvdla_score.command import main, rerun
from nvdla_score.journal import Played
from nvdla_score.mutants import play_mutants
from nvdla_score.mutate import mutants_of
from nvdla_score.play import Bench, job_of
from nvdla_score.reach import Case, Reached, survey
from nvdla_score.scenarios import Source
from nvdla_tb.cli.main import parser
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.jobs import Job, Setup
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.run.regress.tasks import wrong
from tests.unit.score.processes import PASSED, FakeProcess

SMALL = HwConfig.load("nv_small")
SOURCE = Source("empty", lambda config, seed: Scenario("empty", config.name, (), seed))
NO_MODEL: Any = None


def bench(folder: Path) -> Bench:
    """Return a bench of a user's configuration."""
    own = folder / "mine.toml"
    shutil.copyfile(BUILTIN_DIR / "nv_small.toml", own)
    dut = Dut(str(own), "verilator", backend="native")
    return Bench(NO_MODEL, HwConfig.load(own), dut, "nvdla-tb score --seed 5", folder, 1.0)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Job, Dut]]:
    """Return the jobs that are played instead of simulations, each with the device that it is given."""
    seen: list[tuple[Job, Dut]] = []

    def run_job(job: Job, setup: Setup, *_: Any, **__: Any) -> Result:
        seen.append((job, setup.dut))
        return job.result(setup.dut, PASSED)

    monkeypatch.setattr(play, "run_job", run_job)
    monkeypatch.setattr(play.SharedProcess, "takes", lambda *_: False)
    return seen


def test_simulations_load_the_configuration_that_the_user_gave(tmp_path: Path, played: list[tuple[Job, Dut]]) -> None:
    mine = bench(tmp_path)
    list(survey([Case(SOURCE, 5)], mine, None, workers=1))
    ((job, dut),) = played
    assert HwConfig.load(job.request(dut, tmp_path).config) == replace(SMALL, name="mine")
    assert (job.rerun, job.waves_option) == ("nvdla-tb score --seed 5", None)


def shared(monkeypatch: pytest.MonkeyPatch, *verdicts: Verdict) -> FakeProcess:
    """Return the process that all scenarios share from now on."""
    process = FakeProcess(*verdicts)
    monkeypatch.setattr(play, "SharedProcess", lambda *_: process)
    return process


def test_a_process_for_many_scenarios_is_asked_for_the_configuration_that_the_user_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = shared(monkeypatch, PASSED, PASSED)
    cases = [Case(SOURCE, 5), Case(replace(SOURCE, name="other"), 5)]
    assert not any(reached.alarm for reached in survey(cases, bench(tmp_path), None, workers=1))
    assert [request.config for request in process.asked] == [str(tmp_path / "mine.toml")] * 2
    assert process.closed == 1


def test_a_scenario_that_fails_without_a_bug_is_a_false_alarm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared(monkeypatch, Verdict(), PASSED, Verdict(refused="no Y"))
    cases = [Case(replace(SOURCE, name=name), 5) for name in ("a", "b", "c")]
    found = list(survey(cases, bench(tmp_path), None, workers=1))
    assert [(reached.identity, bool(reached.alarm), reached.fails) for reached in found] == [
        ("a.5", True, True),
        ("b.5", False, False),
        ("c.5", True, False),
    ]


def test_scenarios_are_played_until_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = shared(monkeypatch, PASSED, Verdict(judged_bytes=8, findings=[wrong(cycle=7)]))
    mine: Any = process
    jobs = [bench(tmp_path).job(replace(SOURCE, name=name), 5) for name in ("a", "b", "c")]
    ended = play.until_caught(jobs, bench(tmp_path), tmp_path, mine)
    assert ended.catch is not None
    assert (ended.played, ended.seconds, ended.catch.scenario, ended.catch.number) == (2, 2.0, "b.5", 2)
    assert (ended.catch.checks, ended.catch.cycle) == ((Check.VALUE,), 7)
    process.verdicts = [PASSED]
    assert play.until_caught(jobs[:1], bench(tmp_path), tmp_path, mine) == Played(1, None, 1.0)


def test_a_bug_is_repeated_by_its_name(tmp_path: Path) -> None:
    bug = next(bug for bug in load_catalogue().bugs if bug.place is play.Place.RTL)
    job = job_of(bug, SOURCE, bench(tmp_path), 5)
    assert job is not None
    assert job.rerun == f"nvdla-tb score --seed 5 --only {bug.name}"


def test_a_mutant_is_repeated_by_its_number(tmp_path: Path, played: list[tuple[Job, Dut]]) -> None:
    (tmp_path / "sum.v").write_text("module sum (input a, input b, output c);\n  assign c = a + b;\nendmodule\n")
    mutant = next(mutants_of(tmp_path / "sum.v"))
    cases = [
        (Case(SOURCE, 5), Reached("a.5", 1.0, [7])),
        (Case(replace(SOURCE, name="b"), 5), Reached("b.5", 1.0, [6])),
    ]
    ((_, ended),) = play_mutants([(7, mutant)], cases, bench(tmp_path), workers=1, most=9)
    assert ended.played == 1
    ((job, _),) = played
    assert (job.rerun, job.plusargs) == ("nvdla-tb score --seed 5 --number 7", ("+mutant=7",))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--number 1", r"^--number must only be given with --mutants$"),
        ("--mutants 2 --modules nvdla_sdp_cvt --number 3", r"^--number must be from 1 to 2, not 3$"),
    ],
)
def test_a_mutant_that_there_is_not_is_refused(words: str, message: str) -> None:
    args = parser().parse_args(["score", *words.split()])
    with pytest.raises(InputError, match=message):
        main(args)


@pytest.mark.parametrize(
    "words",
    [
        "--seed 3 --config nv_full --sim icarus",
        "--mutants 40 --modules '*sdp*,*pdp*' --scenarios 'sdp_*' --rtl my.f --top mine --hang-cycles 9",
        "--mutants 40 --level L2 --random 0 --each 7",
    ],
)
def test_the_command_selects_the_same_again(words: str) -> None:
    args = parser().parse_args(["score", *shlex.split(words)])
    command = shlex.split(rerun(args))
    assert command[:2] == ["nvdla-tb", "score"]
    # Wherever it is carried out, it means the same filelist.
    args.rtl = args.rtl and args.rtl.resolve()
    assert parser().parse_args(command[1:]) == args
