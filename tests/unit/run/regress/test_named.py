"""Bundles and stores of others: what they would build, import or execute is named by the user, or refused."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.cli.main import main
from nvdla_tb.coverage.model import model_of
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run.jobs import SCENARIO_DIR
from nvdla_tb.run.regress import bundle
from nvdla_tb.run.regress.features import FEATURES, load_feature_plan
from nvdla_tb.run.regress.named import Named, NotNamedError, options_of
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.task import BENCH, Task
from nvdla_tb.stimulus.generate.random import random_entry
from nvdla_tb.stimulus.result import Dut
from nvdla_tb.stimulus.trace import write
from tests.unit.run.regress.tasks import ended, task, wrong

CONFIG = HwConfig.load("nv_small")
LEVELS = ("+verilator+rand+reset+2", "+verilator+seed+3")
MODULE = "evil_tests"


def wants(where: object, what: str, again: str, holds: str = "the bundle") -> str:
    option = "--rtl" if what.startswith("the RTL") else "--plusarg"
    return f"{where}: {holds} was recorded with {what}; pass it with {option} to allow it: {again}"


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """A task on RTL that leaves a file when it is simulated; this process is in a folder of its own."""
    filelist = tmp_path / "theirs" / "evil.f"
    filelist.parent.mkdir()
    filelist.write_text("evil.v\n", encoding="utf-8")
    evil = f'module NV_nvdla; initial $system("touch {tmp_path}/hit"); endmodule\n'
    filelist.with_name("evil.v").write_text(evil, encoding="utf-8")
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    monkeypatch.syspath_prepend(str(filelist.parent))
    filelist.with_name(f"{MODULE}.py").write_text(f"open({str(tmp_path / 'hit')!r}, 'w')\n", encoding="utf-8")
    return replace(task(1), dut=Dut("nv_small", "icarus", rtl=str(filelist)))


def bundled(folder: Path, failed: Task) -> Path:
    write(random_entry(CONFIG, failed.seed, ("SDP",)).build(CONFIG, failed.seed), folder / SCENARIO_DIR)
    bundle.write(folder, failed, failed.result(Verdict(judged_bytes=8, findings=[wrong()])))
    return folder


def stored(folder: Path, *tasks: Task) -> Path:
    with Store(folder / "results.sqlite") as store:
        run = store.start("theirs", tasks)
        store.add(run, *(ended(entry, Ending.MISMATCH) for entry in tasks))
        store.start("interrupted", tasks)
    return folder


def refusal(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(list(map(str, words))) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.removeprefix("error: ").rstrip("\n")


def test_rtl_that_only_a_bundle_names_is_shown_and_not_built(
    theirs: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bundled(tmp_path / "bundle", theirs)
    again = f"nvdla-tb replay {folder} --rtl {theirs.dut.rtl}"
    assert refusal(capsys, "replay", folder) == wants(folder, f"the RTL {theirs.dut.rtl}", again)
    assert not (tmp_path / "hit").exists()
    assert list(Path.cwd().iterdir()) == []
    assert bundle.load(folder).job().rerun == again


def test_rtl_that_only_a_store_names_is_shown_and_not_built(
    theirs: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = stored(tmp_path / "results", theirs)
    for kind in ("resume", "rerun-failed"):
        number = 1 if kind == "rerun-failed" else 2
        said = refusal(capsys, "regress", kind, number, "--results", results)
        again = f"nvdla-tb regress {kind} {number} --results {results} --rtl {theirs.dut.rtl}"
        assert said == wants(results / "results.sqlite", f"the RTL {theirs.dut.rtl}", again, "the run")
    assert not (tmp_path / "hit").exists()
    assert sorted(path.name for path in results.iterdir()) == ["results.sqlite"]


def test_a_module_that_a_store_names_is_not_imported(
    theirs: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = replace(theirs, test=f"{MODULE}.hit", kind=BENCH, source=MODULE, dut=Dut("nv_small", "icarus"))
    results = stored(tmp_path / "results", evil)
    names = ("checkers", "far_strides", "interfaces", "meetings", "rewritten", "stress")
    modules = ", ".join(f"nvdla_tb.gate_tests.{name}" for name in names)
    assert refusal(capsys, "regress", "resume", "--results", results) == (
        f"{results}/results.sqlite: tests in Python must be of {modules}, not of {MODULE}, which is not imported"
    )
    assert MODULE not in sys.modules
    assert not (tmp_path / "hit").exists()


@pytest.mark.parametrize("plusarg", ["+wave_file=/home/me/.profile", "+verilator+prof+exec+file+/home/me/.profile"])
def test_arguments_that_only_a_bundle_names_do_not_reach_a_simulator(
    plusarg: str, theirs: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    armed = replace(theirs, dut=Dut("nv_small", "icarus"), plusargs=(*LEVELS, plusarg))
    folder = bundled(tmp_path / "bundle", armed)
    again = f"nvdla-tb replay {folder} --plusarg {plusarg}"
    assert refusal(capsys, "replay", folder) == wants(folder, plusarg, again)
    more = f"nvdla-tb replay --waves {folder} --plusarg +quiet --timeout 60 --plusarg {plusarg}"
    words = ("replay", "--waves", folder, "--plusarg", "+quiet", "--timeout", "60")
    assert refusal(capsys, *words) == wants(folder, plusarg, more), "the command keeps the user's options"
    Named(None, (plusarg,)).check("x", "the bundle", [armed], "again")


def test_all_that_was_not_named_is_named_in_one_command(theirs: Task) -> None:
    armed = replace(theirs, plusargs=("+a", "+b"))
    assert armed.dut.rtl is not None
    with pytest.raises(NotNamedError) as refused:
        Named(None, ("+a",)).check("x", "the run", [armed], "again --plusarg +a")
    assert str(refused.value) == (
        f"x: the run was recorded with the RTL {armed.dut.rtl} and +b; pass them with --rtl and --plusarg to allow it: "
        f"again --plusarg +a --rtl {armed.dut.rtl} --plusarg +b"
    )


def test_what_the_user_or_the_project_file_names_is_played(theirs: Task, tmp_path: Path) -> None:
    assert theirs.dut.rtl is not None
    rtl = Path(theirs.dut.rtl)
    Named(rtl, ()).check("x", "the bundle", [theirs], "again")
    Named(Path(os.path.relpath(rtl)), ()).check("x", "the bundle", [theirs], "again")
    for named in (None, tmp_path / "other.f"):
        with pytest.raises(NotNamedError, match=rf"^{re.escape(wants('x', f'the RTL {rtl}', f'again --rtl {rtl}'))}$"):
            Named(named, ()).check("x", "the bundle", [theirs], "again")
    Path(PROJECT_FILE).write_text('rtl = "../theirs/evil.f"\n', encoding="utf-8")
    Named(None, ()).check("x", "the bundle", [theirs], "again")


def test_the_embedded_device_the_test_plan_and_the_levels_need_no_name() -> None:
    tests = [test for feature in load_feature_plan(FEATURES, model_of("nv_small")).features for test in feature.tests]
    (module, *_) = {test.source for test in tests if test.kind == BENCH}
    entry = replace(task(1), test="checkers.x", kind=BENCH, source=module, plusargs=LEVELS)
    Named(None, ()).check("x", "the bundle", [entry], "again")
    assert options_of(entry.dut, entry.plusargs) == ""


def test_an_argument_that_would_be_an_option_of_the_simulator_is_refused() -> None:
    with pytest.raises(InputError, match=r"^plusargs must begin with \+, not be '-M/tmp'$"):
        replace(task(1), plusargs=("-M/tmp",))
