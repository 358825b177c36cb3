"""Options of runs are checked before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.cli import run as run_command
from tb.cli.command import parser
from tb.cli.playing import prepared
from tb.run.jobs import Job
from tb.stimulus.scenario import Scenario
from tests.unit.cli.conftest import Run

STAGES = "the file must hold tables [[stage]], and may hold [[reader]] and [[writer]], not nothing"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--waves-from cycle:1", "--waves-from must only be given with --waves"),
        ("--waves --waves-from cycle:-1", "--waves-from must be cycle:N or layer:N, not cycle:-1"),
        ("--waves --waves-from cycle:" + "1" * 19, f"--waves-from must be cycle:N or layer:N, not cycle:{'1' * 19}"),
        ("--stages stages.toml", f"stages.toml: {STAGES}"),
        ("--stages old.toml", "old.toml: a stage must have the key unit"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_is_built(
    tb: Run, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.setattr(run_command, "build_dut", lambda *_, **__: pytest.fail("it was built"))
    Path("stages.toml").write_text("", encoding="utf-8")
    text = '[[stage]]\nname = "a"\nengines = "SDP"\nvalue = "entered"\nvalid = "v"\ndata = "d"\n'
    Path("old.toml").write_text(text, encoding="utf-8")
    assert tb(f"run {words}").refusal == message


def test_plusargs_go_to_the_simulator_and_into_the_command_that_repeats_a_test(
    capsys: pytest.CaptureFixture[str],
) -> None:
    job = Job("one", 1, "python -m tb run --only one", lambda: Scenario("one", "nv_small", (), 1))
    args = parser().parse_args(["run", "--plusarg", "+depth=4", "--plusarg", "+my text"])
    (done,) = prepared(args, [job])
    assert done.plusargs == ("+depth=4", "+my text")
    assert done.rerun == "python -m tb run --only one --plusarg +depth=4 --plusarg '+my text'"
    with pytest.raises(SystemExit, match=r"^2$"):
        parser().parse_args(["run", "--plusarg", "depth=4"])
    assert "argument --plusarg: must begin with +, not be depth=4" in capsys.readouterr().err


def test_settings_that_options_choose_are_those_of_the_scenario_and_in_the_command_that_repeats_it() -> None:
    job = Job("one", 1, "rerun", lambda: Scenario("one", "nv_small", (), 1))
    (done,) = prepared(parser().parse_args(["run", "--exact", "--stop-at-first"]), [job])
    settings = done.make().settings
    assert (settings.exact, settings.stop_at_first) == (True, True)
    assert done.rerun == "rerun --exact --stop-at-first"
