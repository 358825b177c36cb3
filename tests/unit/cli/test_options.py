"""Options that cannot be used, or that nothing would read, are refused by name before anything is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.reading import shown
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.plan import load_plan
from tests.unit.conftest import Run

COUNT = len(load_plan(PLANS / "nv_small.toml"))
SEEDS = "must be 0 to 9223372036854775807"
SECONDS = "must be 0.001 to 3.1536e+07"


@pytest.mark.parametrize("option", ["--plan mine.toml", "--seeds 20"])
def test_a_level_says_itself_what_it_plays(tb: Run, option: str) -> None:
    message = f"{option.split()[0]} must not be given with --level, which says what is played"
    assert tb(f"regress plan --level L1 {option}").refusal == message


def test_score_lets_nobody_choose_its_processes(tb: Run) -> None:
    assert tb("score --list --isolate").refusal == "unrecognized arguments: --isolate"


@pytest.mark.parametrize("command", ["run --json", "trace one --json", "coverage --html"])
@pytest.mark.parametrize("path", ["none/results", "/", "n" * 300])
def test_results_are_not_lost_for_want_of_a_folder(tb: Run, tmp_path: Path, command: str, path: str) -> None:
    message = f"argument {command.split()[-1]}: must be a file in a folder that exists, not {shown(path)}"
    assert tb(f"{command} {path}").refusal == message
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["run", "regress random", "score"])
@pytest.mark.parametrize("count", ["0", "-2", "two", "5000000", "9" * 5000])
def test_one_to_ten_thousand_simulations_are_played_at_a_time(tb: Run, command: str, count: str) -> None:
    assert tb(f"{command} --jobs={count}").refusal == f"argument --jobs: must be 1 to 10000, not {shown(count)}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run --seed=-1", f"--seed: {SEEDS}, not -1"),
        ("score --seed=-1", f"--seed: {SEEDS}, not -1"),
        ("score --mutants 2 --number 0", "--number: must be 1 to 9223372036854775807, not 0"),
        ("run --timeout=nan", f"--timeout: {SECONDS}, not nan"),
        ("run --timeout=inf", f"--timeout: {SECONDS}, not inf"),
        ("run --timeout=0", f"--timeout: {SECONDS}, not 0"),
        ("replay x --timeout=-1", f"--timeout: {SECONDS}, not -1"),
        ("regress random --seed=-1", f"--seed: {SEEDS}, not -1"),
        ("regress random --seeds=0", f"--seeds: must be 1 to {1 << 62}, not 0"),
        ("regress plan --seeds=1000000000", "--seeds: must be 1 to 100000, not 1000000000"),
        ("regress plan --seeds=1e3", "--seeds: must be 1 to 100000, not 1e3"),
        ("regress random --time-budget=nan", "--time-budget: must be 0 to 3.1536e+07, not nan"),
        ("regress random --until-coverage=101", "--until-coverage: must be 0 to 100, not 101"),
        ("regress show 0", "RUN: must be 1 to 9223372036854775807, not 0"),
        ("bench layout --mib 65", "--mib: must be 1 to 64, not 65"),
        ("bench layout --mib 0", "--mib: must be 1 to 64, not 0"),
        ("bench sim --rounds 0", "--rounds: must be 1 to 10000, not 0"),
        ("bench regress --tasks 0", "--tasks: must be 1 to 100000, not 0"),
        ("bench regress --workers 0", "--workers: must be 1 to 10000, not 0"),
        ("bench regress --seconds=-1", "--seconds: must be 0 to 3.1536e+07, not -1"),
    ],
)
def test_numbers_out_of_range_are_refused(tb: Run, words: str, message: str) -> None:
    assert tb(words).refusal == f"argument {message}"


@pytest.mark.parametrize(
    "words",
    ["trace net.dln", "trace net.dln --config dlhdl_int8_9", "run --config dlhdl --plan net.dln", "network net.dln"],
)
def test_a_deployment_file_is_refused_with_what_lacks_to_play_it(tb: Run, words: str) -> None:
    Path("net.dln").touch()
    ran = tb(words)
    lacking = "what lacks is the order, width and meaning of the fields of a deployment file"
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: net.dln: .dln files cannot be played; {lacking}\n")


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("sdp_chain_of_tree", "; closest: sdp_chain_of_three"),
        ("pdp_max_3x3", "; closest: pdp_max_2x2"),
        ("spd_chain*", "; closest: sdp_chain*"),
        ("nope", ""),
    ],
)
def test_a_scenario_that_there_is_not_is_told_with_the_closest_ones(tb: Run, pattern: str, meant: str) -> None:
    message = f"no scenario of {COUNT} matches {pattern}{meant}; see nvdla-tb run --list"
    assert tb(f"run --only {pattern}").refusal == message


def test_engines_that_there_are_not_are_refused_before_anything_is_said(tb: Run) -> None:
    ran = tb("regress random --only POOL")
    engines = "SDP, PDP, CDP, CONV, RUBIK, BDMA"
    assert (ran.out, ran.refusal) == ("", f"--only: no engine matches POOL; engines are {engines}")
    assert (
        tb("regress random --only SPD").refusal
        == f"--only: no engine matches SPD; engines are {engines}; closest: SDP, PDP"
    )


@pytest.mark.parametrize(
    "option",
    [
        *("--sim icarus", "--top mine", "--backend coroutine", "--jobs 99", "--isolate", "--timeout 5"),
        *("--stop-at-first", "--waves-from cycle:5", "--stages stages.toml", "--plusarg +depth=4"),
        *("--rtl x.f", "--waves", "--debug", "--port-map x.toml"),
    ],
)
def test_the_model_alone_takes_no_option_of_a_simulation(tb: Run, option: str) -> None:
    message = f"{option.split()[0]} must be left out: --model-only plays no RTL"
    assert tb("trace --model-only traces", option).refusal == message
