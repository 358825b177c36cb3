"""Bugs and mutants are played with the user's configuration, and a failure names the command that repeats just it."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.config import BUILTIN_DIR, HwConfig
from models.errors import InputError
from tb.__main__ import parser
from tb.cli.score import main, rerun
from tb.regress.jobs import Job, JobResult
from tb.scenario import Scenario
from tb.score import play
from tb.score.catalogue import load_catalogue
from tb.score.mutants import play_mutants
from tb.score.mutate import mutants_of
from tb.score.play import Bench, job_of
from tb.score.scenarios import Source
from tb.verdict import Outcome

SMALL = HwConfig.load("nv_small")
SOURCE = Source("empty", lambda config, seed: Scenario("empty", config.name, (), seed))
NO_MODEL: Any = None


def bench(folder: Path) -> Bench:
    """Return a bench of a user's configuration."""
    own = folder / "mine.toml"
    shutil.copyfile(BUILTIN_DIR / "nv_small.toml", own)
    return Bench(NO_MODEL, HwConfig.load(own), str(own), "python -m tb score --seed 5", folder, 1.0)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Job, str]]:
    """Return the jobs that are played instead of simulations, each with the configuration that it is given."""
    seen: list[tuple[Job, str]] = []

    def run_job(job: Job, built: None, config_name: str, *_: Any, **__: Any) -> JobResult:
        seen.append((job, config_name))
        return JobResult(job, Outcome.PASSED, (), 0.0, None)

    monkeypatch.setattr(play, "run_job", run_job)
    monkeypatch.setattr(play.SharedProcess, "fits", lambda built: False)
    return seen


def test_simulations_load_the_configuration_that_the_user_gave(tmp_path: Path, played: list[tuple[Job, str]]) -> None:
    mine = bench(tmp_path)
    list(play.false_alarms([SOURCE], mine, seed=5, workers=1))
    ((job, config_name),) = played
    assert HwConfig.load(config_name) == replace(SMALL, name="mine")
    assert (job.rerun, job.waves) == ("python -m tb score --seed 5", False)


def test_a_process_for_many_scenarios_loads_the_configuration_that_the_user_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    def shared_process(built: None, config_name: str, *_: Any) -> Any:
        given.append(config_name)
        return play.SharedProcess(NO_MODEL, "module.test", {}, tmp_path)

    monkeypatch.setattr(play, "shared_process", shared_process)
    monkeypatch.setattr(play.SharedProcess, "fits", lambda built: True)
    with bench(tmp_path).process(tmp_path):
        assert given == [str(tmp_path / "mine.toml")]


def test_a_bug_is_repeated_by_its_name(tmp_path: Path) -> None:
    bug = next(bug for bug in load_catalogue().bugs if bug.place is play.Place.RTL)
    job = job_of(bug, SOURCE, bench(tmp_path), 5)
    assert job is not None
    assert job.rerun == f"python -m tb score --seed 5 --only {bug.name}"


def test_a_mutant_is_repeated_by_its_number(tmp_path: Path, played: list[tuple[Job, str]]) -> None:
    (tmp_path / "sum.v").write_text("module sum (input a, input b, output c);\n  assign c = a + b;\nendmodule\n")
    mutant = next(mutants_of(tmp_path / "sum.v"))
    list(play_mutants([(7, mutant)], [SOURCE], bench(tmp_path), seed=5, workers=1))
    ((job, _),) = played
    assert (job.rerun, job.plusargs) == ("python -m tb score --seed 5 --number 7", ("+mutant=7",))


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
    ],
)
def test_the_command_selects_the_same_again(words: str) -> None:
    args = parser().parse_args(["score", *shlex.split(words)])
    command = shlex.split(rerun(args))
    assert command[:4] == ["python", "-m", "tb", "score"]
    assert parser().parse_args(command[3:]) == args
