"""Options that cannot be used, or that nothing would read, are refused by name before anything is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.reading import shown
from tb.places import PLANS
from tb.stimulus.generate.plan import load_plan
from tests.unit.cli.conftest import Run
from tests.unit.stimulus.trace.measured_files import CARRIED

COUNT = len(load_plan(PLANS / "nv_small.toml"))


@pytest.mark.parametrize("option", ["--plan mine.toml", "--seeds 20"])
def test_a_level_says_itself_what_it_plays(tb: Run, option: str) -> None:
    ran = tb(f"regress plan --level L1 {option}")
    name = option.split()[0]
    assert (ran.code, ran.err) == (2, f"error: {name} must not be given with --level, which says what is played\n")


def test_score_lets_nobody_choose_its_processes(tb: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        tb("score --list --isolate")
    assert capsys.readouterr().err.endswith("error: unrecognized arguments: --isolate\n")


@pytest.mark.parametrize("command", ["run --json", "trace one --json", "coverage --html"])
def test_results_are_not_lost_for_want_of_a_folder(
    tb: Run, capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
) -> None:
    for path in ("none/results", str(tmp_path)):
        with pytest.raises(SystemExit, match=r"^2$"):
            tb(f"{command} {path}")
        option = command.split()[-1]
        said = f"error: argument {option}: must be a file in a folder that exists, not {path}\n"
        assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize("command", ["run", "regress random", "score"])
@pytest.mark.parametrize("count", ["0", "-2", "two", "5000000", "9" * 5000])
def test_one_to_ten_thousand_simulations_are_played_at_a_time(
    tb: Run, capsys: pytest.CaptureFixture[str], command: str, count: str
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        tb(f"{command} --jobs={count}")
    assert capsys.readouterr().err.endswith(f"error: argument --jobs: must be 1 to 10000, not {shown(count)}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run --seed=-1", "--seed: must be 0 to 9223372036854775807, not -1"),
        ("score --seed=-1", "--seed: must be 0 to 9223372036854775807, not -1"),
        ("score --mutants 2 --number 0", "--number: must be 1 to 9223372036854775807, not 0"),
        ("run --timeout=nan", "--timeout: must be 0.001 to 3.1536e+07, not nan"),
        ("run --timeout=inf", "--timeout: must be 0.001 to 3.1536e+07, not inf"),
        ("run --timeout=0", "--timeout: must be 0.001 to 3.1536e+07, not 0"),
        ("replay x --timeout=-1", "--timeout: must be 0.001 to 3.1536e+07, not -1"),
        ("regress random --first=-1", "--first: must be 0 to 9223372036854775807, not -1"),
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
def test_numbers_out_of_range_are_refused(
    tb: Run, capsys: pytest.CaptureFixture[str], words: str, message: str
) -> None:
    with pytest.raises(SystemExit, match=r"^2$"):
        tb(words)
    assert capsys.readouterr().err.endswith(f"error: argument {message}\n")


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
        ("nope", ""),
    ],
)
def test_a_scenario_that_there_is_not_is_told_with_the_closest_ones(tb: Run, pattern: str, meant: str) -> None:
    ran = tb(f"run --only {pattern}")
    message = f"error: no scenario of {COUNT} matches {pattern}{meant}; see python -m tb run --list\n"
    assert (ran.code, ran.err) == (2, message)


@pytest.mark.parametrize(
    "option",
    [
        *("--sim icarus", "--top mine", "--backend coroutine", "--jobs 99", "--isolate", "--timeout 5"),
        *("--stop-at-first", "--waves-from cycle:5", "--stages stages.toml", "--plusarg +depth=4"),
    ],
)
def test_the_model_alone_takes_no_option_of_a_simulation(tb: Run, option: str) -> None:
    ran = tb("trace --model-only", str(CARRIED), option)
    name = option.split()[0]
    assert (ran.code, ran.err) == (2, f"error: {name} must be left out: --model-only plays no RTL\n")
