r"""What files name is shown on terminals, never obeyed: escape sequences, carriage returns, forged lines."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli import run_play
from nvdla_tb.cli.main import main
from nvdla_tb.cli.terminal import PrintableStream
from nvdla_tb.judge.detail import Note
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.report.summary import aligned
from nvdla_tb.run import jobs
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.simulate import SimResult
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.result import Dut
from tests.unit.run.regress.tasks import answer

HOSTILE = "\x1b[2J\x1b]0;owned\x07a\rb\x9b31m\u202ec"
FORGED = "\n1 passed, 0 failed, 0 refused"
PLAN = """config = "nv_small"
[[scenario]]
name = "hostile"
about = {about}
[[scenario.layer]]
engine = "SDP"
shape = [8, 1, 1]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a plan that says something hostile of its scenario."""
    monkeypatch.chdir(tmp_path)
    text = PLAN.format(about=json.dumps(HOSTILE + FORGED))
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was printed, in which no terminal finds anything to obey, but which shows it."""
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert [line for line in text.split("\n") if not line.isprintable()] == []
    assert "\\x1b[2J" in text
    assert FORGED not in text
    return text


def test_all_but_line_breaks_and_tabs_is_escaped_and_the_rest_stays() -> None:
    out = io.StringIO()
    stream = PrintableStream(out)
    assert stream.write(HOSTILE) == len(HOSTILE)
    print("äπ\t1\n2", file=stream, flush=True)
    assert out.getvalue() == r"\x1b[2J\x1b]0;owned\x07a\rb\x9b31m\u202ec" + "äπ\t1\n2\n"
    assert not stream.isatty()


def test_a_list_of_scenarios_shows_what_their_plan_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--list", "--plan", "plan.toml"]) == 0
    assert said(capsys).startswith("hostile ")


def test_a_run_shows_what_a_simulator_says(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict(findings=[Finding(Check.PROTOCOL, Note(HOSTILE + FORGED))])

    def run_entry(_: Built, __: str, ___: Request, work_dir: Path, **____: Any) -> SimResult:
        answer(verdict).save(work_dir / RESULT_FILE)
        return SimResult(Check.TEST, "", 0.1, work_dir / "sim.log")

    built = Built(BuildSpec(HwConfig.load("nv_small")), Path("/builds/model"), None, 0.0, True)
    monkeypatch.setattr(jobs, "run_entry", run_entry)
    monkeypatch.setattr(run_play, "build_dut", lambda *_, **__: built)
    assert main(["run", "--verbose", "--plan", "plan.toml"]) == 1
    assert "0 passed, 1 failed (1 protocol error), 0 refused" in said(capsys)


def test_a_trace_that_cannot_be_read_shows_its_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = here / f"traces{HOSTILE}{FORGED}"
    folder.mkdir(parents=True)
    (folder / f"broken{HOSTILE}.cfg").write_text("nothing();\n", encoding="utf-8")
    assert main(["trace", "--model-only", "."]) == 2
    said(capsys)


def test_a_row_of_a_table_is_one_line_whatever_it_names() -> None:
    assert aligned([["a\nb", "c"]], left=1) == r"a\nb  c"


def test_a_stored_run_shows_its_device_and_what_failed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dut = Dut("nv_small", "verilator", rtl=f"/rtl/{HOSTILE}{FORGED}.f")
    task = Task("hostile", 1, "plan", "a.toml", dut, "again")
    with Store(here / "results.sqlite") as store:
        run = store.start(HOSTILE + FORGED, [task])
        store.add(run, task.result(Verdict(findings=[Finding(Check.PROTOCOL, Note(HOSTILE + FORGED))])))
    for words in (["regress", "show"], ["plan", "--run", "1"]):
        main([*words, "--results", str(here)])
        said(capsys)
