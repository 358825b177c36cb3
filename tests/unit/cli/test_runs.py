"""Runs of scenarios and traces: results that are kept apart."""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as replace_dut

from models.config import HwConfig
from tb.cli import playing
from tb.cli.command import parser
from tb.judge.verdict import Verdict
from tb.places import PLANS
from tb.run.compile.spec import BuildSpec, Built
from tb.run.dut import Dut
from tb.run.jobs import Job, Setup
from tb.run.result import Result
from tb.stimulus.generate.plan import load_plan
from tb.stimulus.scenario import Scenario
from tb.stimulus.trace import write
from tests.unit.cli.conftest import Run

SMALL = HwConfig.load("nv_small")
ENTRY = load_plan(PLANS / "nv_small.toml")[0]
BUILT = Built(BuildSpec(SMALL), Path("/builds/model"), None, 0.0, True)


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Two different traces called ``one``."""
    for number, folder in enumerate(("a", "b")):
        (tmp_path / folder).mkdir()
        write(replace(ENTRY.build(SMALL, number), name="one", seed=0), tmp_path / folder / "one")
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
        replace_dut(embedded, config="nv_full"),
        replace_dut(embedded, rtl="/a/my.f"),
        replace_dut(embedded, rtl="/b/my.f"),
        replace_dut(embedded, rtl="/a/my.f", top="other"),
        replace_dut(embedded, config="/a/nv_small.toml"),
    ]
    names = [playing.run_name(title, dut) for title in ("nv_small", "nv_full") for dut in duts]
    assert len(set(names)) == len(names)
    assert names[:2] == ["nv_small", "nv_small-nv_full"]
    assert names[2].startswith("nv_small-my-")
    assert playing.run_name("nv_small", replace_dut(embedded, simulator="icarus")) == "nv_small"
