"""The reports of ``run`` and ``trace``: whatever happens, they are never better than what was shown."""

from __future__ import annotations

import errno
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli import playing
from nvdla_tb.cli.main import parser
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.report import junit, page
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import Job, Setup
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.run.regress.tasks import VERDICTS

BUILT = Built(BuildSpec(HwConfig.load("nv_small")), Path("/builds/model"), None, 0.0, True)
ROOT = Path("sim_build/runs/nv_small")
NAMES = ("one", "two", "three")

Between = Callable[[str], object]


class Stopped(BaseException):
    """Ends a run at some place, as a signal does."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def play(
    monkeypatch: pytest.MonkeyPatch,
    words: str = "run",
    endings: dict[str, Verdict] | None = None,
    before: Between = lambda _: None,
    proven: Callable[[int], list[str]] = lambda right: [],
) -> int:
    """Play three jobs that end as is wanted, all passed by default; ``before`` is called with the name of each."""

    def run_jobs(jobs: list[Job], setup: Setup, *_: Any, **__: Any) -> Iterator[tuple[Job, Result]]:
        for job in jobs:
            before(job.name)
            yield job, job.result(setup.dut, (endings or {}).get(job.name, Verdict(judged_bytes=8, cycles=100)))

    monkeypatch.setattr(playing, "run_jobs", run_jobs)
    args = parser().parse_args(words.split())
    args.command_line = f"nvdla-tb {words}"
    made = [Job(name, 1, f"rerun {name}", lambda: Scenario("one", "nv_small", (), 1)) for name in NAMES]
    return playing.play_and_report(args, [(args, made, BUILT)], "nv_small", proven=proven)


def suite() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the counts that JUnit has, without those that are 0, and how each test case ended there."""
    root = ElementTree.parse(ROOT / page.JUNIT).getroot()
    counts = {name: value for name, value in root.items() if name != "name" and value != "0"}
    cases = {str(case.get("name")): [child.tag for child in case] for case in root.iter("testcase")}
    return counts, cases


def key(name: str) -> str:
    return f"{name}.1.nv_small.verilator"


NONE = {"tests": "4", "errors": "4"}, {**{key(name): ["error"] for name in NAMES}, page.THE_RUN: ["error"]}


def test_a_report_is_there_before_the_first_test_with_every_test_as_not_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def look(name: str) -> None:
        seen.append((suite(), (ROOT / page.PAGE).read_text(encoding="utf-8")))

    assert play(monkeypatch, before=look) == 0
    junit, html = seen[0]
    assert junit == NONE
    assert "0 passed, 0 failed, 0 refused, 3 not played" in html
    assert "the run has not ended: it is being played, or it was interrupted or killed" in html
    assert suite() == ({"tests": "3"}, {key(name): [] for name in NAMES})


@pytest.mark.parametrize("at", NAMES)
def test_a_run_that_is_stopped_leaves_nothing_of_an_earlier_pass(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    def stop(name: str) -> None:
        if name == at:
            raise Stopped

    assert play(monkeypatch) == 0
    with pytest.raises(Stopped):
        play(monkeypatch, before=stop)
    counts, cases = suite()
    assert cases == {
        **{key(n): [] if NAMES.index(n) < NAMES.index(at) else ["error"] for n in NAMES},
        "the run": ["error"],
    }
    assert counts == {"tests": "4", "errors": str(4 - NAMES.index(at))}


def test_a_run_that_says_nothing_bad_of_a_test_but_compared_nothing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(monkeypatch, endings=dict.fromkeys(NAMES, VERDICTS[Ending.REFUSED])) == 1
    assert suite()[0] == {"tests": "4", "errors": "1", "skipped": "3"}
    assert "nothing was compared: no test has passed\n" in capsys.readouterr().out
    assert "nothing was compared: no test has passed" in (ROOT / page.PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("endings", "right"),
    [({}, 3), ({"two": VERDICTS[Ending.REFUSED]}, 2), ({"two": VERDICTS[Ending.MISMATCH]}, 0)],
)
def test_the_last_report_says_what_is_proven(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], endings: dict[str, Verdict], right: int
) -> None:
    def proven(right: int) -> list[str]:
        return [f"{right} are right", "not the gate"]

    def said() -> list[bool]:
        texts = [(ROOT / name).read_text(encoding="utf-8") for name in (page.PAGE, page.JUNIT)]
        return [f"{right} are right" in text and "not the gate" in text for text in texts]

    before: list[bool] = []
    play(monkeypatch, endings=endings, before=lambda _: before.extend(said()), proven=proven)
    assert said() == [True, True]
    assert before == [False] * 6
    assert capsys.readouterr().out.splitlines()[-2:] == [f"{right} are right", "not the gate"]


@pytest.mark.parametrize("name", [page.PAGE, page.JUNIT])
def test_a_full_disk_leaves_no_earlier_pass(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    module = page if name == page.PAGE else junit
    writing = [0]

    def full(path: Path, content: str | bytes) -> None:
        writing[0] += 1
        if path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        write_whole(path, content)

    assert play(monkeypatch) == 0
    monkeypatch.setattr(module, "write_whole", full)
    with pytest.raises(OSError, match=r"No space left on device"):
        play(monkeypatch, before=lambda _: pytest.fail("it was played"))
    assert writing[0] > 0
    assert not (ROOT / name).exists()
    other = ROOT / (page.JUNIT if name == page.PAGE else page.PAGE)
    assert not other.exists() or "not played" in other.read_text(encoding="utf-8")


def test_what_a_killed_run_has_left_in_the_middle_of_writing_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    ROOT.mkdir(parents=True)
    (ROOT / f".{page.JUNIT}.4711").write_text("<testsu", encoding="utf-8")
    assert play(monkeypatch) == 0
    assert list(ROOT.glob(f".{page.JUNIT}*")) == []


def test_reports_of_another_command_are_replaced_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "in sim_build/runs/nv_small this run replaces the reports of: nvdla-tb run --only one\n"
    for words, replaces in (("run --only one", False), ("run --only one", False), ("run --seed 3", True)):
        assert play(monkeypatch, words) == 0
        assert (said in capsys.readouterr().out) is replaces
    assert page.command_of(ROOT) == "nvdla-tb run --seed 3"
    assert "nvdla-tb run --seed 3" in (ROOT / page.PAGE).read_text(encoding="utf-8")
    assert play(monkeypatch, "run --sim icarus") == 0
    assert "replaces" not in capsys.readouterr().out
    assert page.command_of(ROOT) == "nvdla-tb run --seed 3"


def test_the_json_file_of_an_earlier_run_is_gone_when_a_run_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(name: str) -> None:
        raise Stopped

    assert play(monkeypatch, "run --json out.json") == 0
    assert [entry["outcome"] for entry in json.loads(Path("out.json").read_text(encoding="utf-8"))] == ["passed"] * 3
    with pytest.raises(Stopped):
        play(monkeypatch, "run --json out.json", before=stop)
    assert not Path("out.json").exists()


def test_more_cycles_are_an_error_of_the_run_in_every_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(monkeypatch, "run --json out.json") == 0
    slow = {"two": Verdict(judged_bytes=8, cycles=200)}
    # Also when the file is replaced by this run.
    assert play(monkeypatch, "run --json out.json --cycles-against out.json", slow) == 1
    line = "slower: two.1: 200 cycles, 100 before (+100.0 %)"
    assert f"{line}\n" in capsys.readouterr().out
    assert suite()[0] == {"tests": "4", "errors": "1"}
    assert line in (ROOT / page.PAGE).read_text(encoding="utf-8")


def test_a_comparison_with_the_cycles_of_other_scenarios_loses_no_summary(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("other.json").write_text('[{"scenario": "else", "seed": 1, "cycles": 5}]', encoding="utf-8")
    assert play(monkeypatch, "run --cycles-against other.json") == 1
    out = capsys.readouterr().out
    assert "--cycles-against: other.json has no scenario or layer of this run\n" in out
    assert out.endswith("3 passed, 0 failed, 0 refused\n")
    assert suite()[0] == {"tests": "4", "errors": "1"}


@pytest.mark.parametrize(("more", "is_asked"), [("", True), (" --explain 0", False)])
def test_the_verdict_is_there_before_anything_is_played_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: str, is_asked: bool
) -> None:
    asked = []

    def look(results: list[Result], *_: Any) -> list[Result]:
        asked.append((capsys.readouterr().out.splitlines()[-1], suite()[0]))
        return results

    monkeypatch.setattr(playing, "with_handovers", look)
    assert play(monkeypatch, f"run{more}", {"two": VERDICTS[Ending.MISMATCH]}) == 1
    verdict = "2 passed, 1 failed (1 mismatch), 0 refused"
    assert [(line.startswith(verdict), counts["failures"]) for line, counts in asked] == [(True, "1")] * is_asked
    assert capsys.readouterr().out.splitlines()[-1].startswith(verdict)
