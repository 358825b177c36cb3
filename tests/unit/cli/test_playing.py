"""Playing: options are checked first, runs are kept apart, and some failures are played again to look inside."""

from __future__ import annotations

import argparse
import dataclasses
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_tb.cli import playing
from nvdla_tb.cli import run_play as run_command
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.main import parser
from nvdla_tb.cli.playing import prepared, with_handovers
from nvdla_tb.judge.finding import Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.paths import PLANS
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.inside import is_worth_it
from nvdla_tb.run.jobs import Job, Setup
from nvdla_tb.run.regress.held import being_played
from nvdla_tb.run.regress.store import Store
from nvdla_tb.stimulus.explained import Explained, Pointed
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import write
from tests.unit.conftest import Run
from tests.unit.run.regress.tasks import DUT, explained, hang, wrong


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--waves-from cycle:1", "--waves-from must only be given with --waves"),
        ("--waves --waves-from cycle:-1", "--waves-from must be cycle:N or layer:N, not cycle:-1"),
        ("--waves --waves-from cycle:" + "1" * 19, f"--waves-from must be cycle:N or layer:N, not cycle:{'1' * 19}"),
        ("--cycles-against none.json", "none.json: cannot be read: No such file or directory"),
        ("--cycles-against stages.toml", "stages.toml must be JSON: Expecting value: line 1 column 1 (char 0)"),
        ("--cycles-against none.json --slower nan", "argument --slower: must be 0 to 1000, not nan"),
        ("--cycles-against none.json --slower inf", "argument --slower: must be 0 to 1000, not inf"),
        ("--stages stages.toml", "stages.toml: stage is missing"),
        ("--stages old.toml", "old.toml: stage[0].unit is missing"),
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


def test_plusargs_go_to_the_simulator_and_into_the_command_that_repeats_a_test(tb: Run) -> None:
    job = Job("one", 1, "nvdla-tb run --only one", lambda: Scenario("one", "nv_small", (), 1))
    args = parser().parse_args(["run", "--plusarg", "+depth=4", "--plusarg", "+my text"])
    (done,) = prepared(args, [job])
    assert done.plusargs == ("+depth=4", "+my text")
    assert done.rerun == "nvdla-tb run --only one --plusarg +depth=4 --plusarg '+my text'"
    assert tb("run --plusarg depth=4").refusal == "argument --plusarg: must begin with +, not be depth=4"


def test_settings_that_options_choose_are_those_of_the_scenario_and_in_the_command_that_repeats_it() -> None:
    job = Job("one", 1, "rerun", lambda: Scenario("one", "nv_small", (), 1))
    (done,) = prepared(parser().parse_args(["run", "--exact", "--stop-at-first"]), [job])
    settings = done.make().settings
    assert (settings.exact, settings.stop_at_first) == (True, True)
    assert done.rerun == "rerun --exact --stop-at-first"


SMALL = HwConfig.load("nv_small")
ENTRY = load_plan(PLANS / "nv_small.toml")[0]
BUILT = Built(BuildSpec(SMALL), Path("/builds/model"), None, 0.0, True)


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Two different traces called ``one``."""
    for number, folder in enumerate(("a", "b")):
        (tmp_path / folder).mkdir()
        write(dataclasses.replace(ENTRY.build(SMALL, number), name="one", seed=0), tmp_path / folder / "one")
    return tmp_path


@pytest.mark.parametrize(("command", "name"), [("trace", "one.0"), ("regress traces", "one")])
def test_two_traces_of_one_name_are_refused_with_both_paths(tb: Run, twice: Path, command: str, name: str) -> None:
    assert tb(f"{command} a b").refusal == f"traces must have different names, not both {name}: a/one and b/one"


def test_a_run_waits_for_another_one_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two runs of one plan the second plays nothing before the first one has ended."""
    monkeypatch.chdir(tmp_path)
    began, go_on, events = threading.Event(), threading.Event(), []

    def run_jobs(jobs: list[Job], setup: Setup, *_: Any, **__: Any) -> Iterator[tuple[Job, Result]]:
        events.append(f"{jobs[0].name} starts")
        began.set()
        assert jobs[0].name == "second" or go_on.wait(30)
        events.append(f"{jobs[0].name} ends")
        yield jobs[0], jobs[0].result(setup.dut, Verdict(judged_bytes=8))

    def run(name: str) -> int:
        args: argparse.Namespace = parser().parse_args(["run"])
        job = Job(name, 1, "rerun", lambda: Scenario(name, "nv_small", (), 1))
        return playing.play_and_report(args, [(args, [job], BUILT)], "nv_small")

    monkeypatch.setattr(playing, "run_jobs", run_jobs)
    first, second = (threading.Thread(target=run, args=(name,)) for name in ("first", "second"))
    first.start()
    assert began.wait(30)
    second.start()
    waiting = "another run plays in sim_build/runs/nv_small: waiting for its end"
    said, until = "", time.monotonic() + 30
    while waiting not in said:
        assert time.monotonic() < until, said
        time.sleep(0.01)
        said += capsys.readouterr().out
    go_on.set()
    first.join(30)
    second.join(30)
    assert events == ["first starts", "first ends", "second starts", "second ends"]


def test_runs_of_different_devices_have_different_folders() -> None:
    embedded = Dut("nv_small", "verilator")
    duts = [
        embedded,
        replace(embedded, config="nv_full"),
        replace(embedded, simulator="icarus"),
        replace(embedded, rtl="/a/my.f"),
        replace(embedded, rtl="/b/my.f"),
        replace(embedded, rtl="/a/my.f", top="other"),
        replace(embedded, config="/a/nv_small.toml"),
    ]
    names = [playing.run_name(title, dut) for title in ("nv_small", "nv_full") for dut in duts]
    assert len(set(names)) == len(names)
    assert names[:3] == ["nv_small", "nv_small-nv_full", "nv_small-icarus"]
    assert names[3].startswith("nv_small-my-")


OWN = Dut("nv_small", "verilator", "my.f")


def of(engine: str) -> Finding:
    return replace(wrong(), layer=LayerId(0, engine, 0))


def failed(name: str, cycles: int, cause: str | None = None, engine: str = "CONV", dut: Dut = DUT) -> Result:
    """Return a failure that took so many cycles, of a cause or of an unknown one."""
    why = explained() if cause is None else explained(cause, headline=cause)
    return Result(name, 1, dut, "rerun", Verdict(findings=[of(engine)], cycles=cycles), explained=why)


@pytest.mark.parametrize(
    ("result", "worth"),
    [
        (failed("a", 100), True),
        (failed("a", 100, engine="CONV-PDP"), True),
        (failed("a", 100, cause="dst-base"), True),
        (failed("a", 600_001), False),
        (failed("a", 100, engine="PDP"), False),
        (failed("a", 100, cause="dst-base", engine="SDP"), True),
        (replace(failed("a", 100), explained=None), False),
        (replace(failed("a", 100), verdict=Verdict(findings=[hang("SDP_0")], cycles=100)), False),
        (failed("a", 100, dut=replace(OWN, config="nv_full")), False),
        (failed("a", 100, dut=OWN), True),
        (failed("a", 100, engine="SDP", dut=OWN), True),
        (failed("a", 100, cause="dst-base", engine="CDP", dut=OWN), True),
        (failed("a", 100, cause="dst-base", engine="BDMA", dut=OWN), False),
    ],
)
def test_short_failures_inside_whose_engine_hand_overs_are_named_are_worth_another_look(
    result: Result, worth: bool
) -> None:
    assert is_worth_it(result) == worth


def looked_at(
    results: list[Result], found: Mapping[str, Explained], folder: Path, seconds: float = 60.0
) -> tuple[list[str], list[Result]]:
    """Return what was played again, and the results after it; what is not found is returned as it was."""
    order = []

    def watch(job: Job, result: Result, setup: Setup, work_dir: Path) -> Result:
        order.append(job.name)
        assert work_dir.parent == folder
        assert setup.dut is DUT
        return replace(result, explained=found[job.name]) if job.name in found else result

    setup = Setup(Built(BuildSpec(HwConfig.load("nv_small")), folder, None, 0.0, True), DUT, 1.0)
    jobs = {
        result.identity: Job(result.test, 1, "rerun", lambda: Scenario("a", "nv_small", (), 1)) for result in results
    }
    played = {identity: (job, setup) for identity, job in jobs.items()}
    until = time.monotonic() + seconds
    after = with_handovers(results, played, folder, Console(), until, watch)
    return order, after


def located(cause: str | None = None, *, sure: bool = True) -> Explained:
    why = failed("a", 1, cause).explained
    assert why is not None
    return replace(why, units=[Pointed("CACC: because")], interface=["a line"], located=sure)


def test_the_shortest_is_played_again_until_one_says_where(tmp_path: Path) -> None:
    results = [failed("long", 900), failed("short", 100), failed("image", 50), failed("other", 800)]
    found = {"image": located(sure=False), "short": located()}
    order, after = looked_at(results, found, tmp_path)
    assert order == ["image", "short"]
    assert [result.test for result in after] == ["long", "short", "image", "other"]
    assert [bool(result.explained and result.explained.located) for result in after] == [False, True, False, False]
    assert looked_at(results, {}, tmp_path)[0] == ["image", "short", "other", "long"]


def test_nothing_is_looked_into_when_the_time_is_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = [failed("short", 100), failed("long", 900)]
    assert looked_at(results, {"short": located()}, tmp_path)[0] == ["short"]
    assert capsys.readouterr().out == ""
    assert looked_at(results, {"short": located()}, tmp_path, seconds=0.0) == ([], results)
    assert capsys.readouterr().out == (
        "the time for looking inside failures was over, 1 of 1 kind not looked into: --explain SECONDS allows more\n"
    )


def test_a_cause_that_lies_elsewhere_is_looked_for_in_the_whole_group(tmp_path: Path) -> None:
    results = [failed(f"t{n}", n, "bus-lanes") for n in range(1, 7)]
    assert looked_at(results, {"t1": located("bus-lanes")}, tmp_path)[0] == ["t1"]
    order, _ = looked_at(results, {f"t{n}": located() for n in range(1, 7)}, tmp_path)
    assert order == [f"t{n}" for n in range(1, 7)]


def test_a_run_says_its_number_and_compare_what_it_was_of(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_command, "build_dut", lambda *_, **__: BUILT)
    held: list[str | None] = []

    def play(*_: object) -> int:
        with Store(Path("sim_build/regress/results.sqlite")) as store:
            held.append(being_played(store.runs()[-1]))
        return 0

    monkeypatch.setattr(run_command, "play_and_report", play)
    for number in (1, 2):
        line = f"run {number} in sim_build/regress: 1 scenario to play"
        assert line in tb("run --only pdp_max_2x2").out.splitlines()
    assert [None if by is None else by[:21] for by in held] == ["run 1 is being played", "run 2 is being played"]
    compared = tb("compare 1 2 --results sim_build/regress").out
    assert compared.count("  the embedded DUT, NV_nvdla, nv_small, verilator; ") == 2
    assert "\nthe same content\n" in compared
