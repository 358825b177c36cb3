"""Names that are no paths, paths that are no files, files that are no text: one line, and nothing is touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.cli import replay, run_play, trace
from nvdla_tb.cli.dut_options import BUILD_ROOT
from nvdla_tb.cli.main import main
from nvdla_tb.coverage.model import load_model, model_of
from nvdla_tb.explain.handovers import load_handovers
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run import jobs
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.compile.ports import load_port_map
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.regress import bundle, worker
from nvdla_tb.run.regress.batch import read_settings
from nvdla_tb.run.regress.features import load_feature_plan
from nvdla_tb.run.regress.worker import Limits
from nvdla_tb.run.simulate import SimResult
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import write
from tests.unit.run.regress.tasks import answer, wrong

SMALL = HwConfig.load("nv_small")
DUT = Dut("nv_small", "verilator")
ANSWER = answer(Verdict(judged_bytes=8))
PLAN = """config = "nv_small"
[[scenario]]
name = {name}
about = "copied"
[[scenario.layer]]
engine = "SDP"
shape = [8, 1, 1]
"""
ABOVE = ("../../../precious", "../../../../precious")
PLAYED = ("{precious}", *ABOVE, "..", ".", "-rf", "CON", "a/b", "Übung", "~", "a b")
"""Names that are odd but are names."""

REFUSED = ("", "a\0b", "a\nb", "\x1b[31m", "x" * 300)
"""Names that nothing can show."""

PATHS = ("", "/nowhere/at/all", "../../../x", "a\0b", "x" * 300, "a\nb", "Übung", ".")


@pytest.fixture
def precious(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder outside the project that hostile names lead to, and that must be as it was."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    folder = tmp_path / "precious"
    for name in ("precious", "precious.1", "precious.1.nv_small.verilator", "project/precious"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis").touch()
    before = sorted(tmp_path.rglob("*"))
    yield folder
    made = [path for path in tmp_path.rglob("*") if path not in before]
    assert [path for path in before if not path.exists()] == []
    assert [path for path in made if not path.is_relative_to(project / "sim_build")] == []


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch, precious: Path) -> list[Path]:
    """The folders that scenarios are played in; the simulation is left out."""
    del precious
    built = Built(BuildSpec(SMALL), Path("/builds/model"), None, 0.0, True)
    found: list[Path] = []

    def run_entry(_: Built, __: str, ___: Request, work_dir: Path, **____: Any) -> SimResult:
        found.append(work_dir)
        assert (work_dir / "scenario").is_dir()
        return simulated(work_dir, ANSWER)

    monkeypatch.setattr(jobs, "run_entry", run_entry)
    for module in (run_play, trace):
        monkeypatch.setattr(module, "build_dut", lambda *_, **__: built)
    monkeypatch.setattr(replay, "build", lambda *_: built)
    monkeypatch.setattr(worker, "built_for", lambda *_: built)
    monkeypatch.setattr(bundle, "tool_versions", lambda _: {})
    return found


def simulated(work_dir: Path, left: Result) -> SimResult:
    """Leave what a simulation does."""
    left.save(work_dir / RESULT_FILE)
    check = Check.TEST if left.verdict.ending.is_failure else None
    return SimResult(check, "", 0.1, work_dir / "sim.log")


def inputs(project: Path) -> Path:
    """A folder for hostile files, which is not among the results that are looked at."""
    folder = project / "sim_build" / "inputs"
    folder.mkdir(parents=True)
    return folder


def plan_of(folder: Path, name: str) -> Path:
    path = folder / "hostile.toml"
    path.write_text(PLAN.format(name=json.dumps(name)), encoding="utf-8")
    return path


def trace_of(folder: Path, name: str) -> Path:
    """A trace whose note gives the scenario a name."""
    cfg = write(Scenario("harmless", "nv_small", (), 1), folder / "t")
    text = cfg.read_text(encoding="ascii").replace(json.dumps("harmless"), json.dumps(name))
    cfg.write_text(text, encoding="ascii")
    return cfg


def by_trace(folder: Path, name: str) -> int:
    return main(["trace", "--verbose", str(trace_of(folder, name))])


def by_plan(folder: Path, name: str) -> int:
    return main(["run", "--verbose", "--plan", str(plan_of(folder, name))])


def by_worker(folder: Path, name: str) -> int:
    task = Task(name, 1, "plan", str(plan_of(folder, name)), DUT, "rerun")
    limits = Limits(BUILD_ROOT.resolve() / "regress" / "0001", BUILD_ROOT.resolve(), 1.0, isolated=True)
    result = worker.execute(task, limits)
    worker.remove_worker_folders(limits.folder)
    return 0 if result.ending is Ending.PASSED else 1


def by_bundle(folder: Path, name: str) -> int:
    failure = folder / "failure"
    failure.mkdir()
    write(Scenario("harmless", "nv_small", (), 1), failure / "scenario")
    task = Task("harmless", 1, "plan", "a.toml", DUT, "rerun")
    bundle.write(failure, task, task.result(Verdict(findings=[wrong()])))
    path = failure / bundle.BUNDLE_FILE
    data = json.loads(path.read_text(encoding="utf-8"))
    data["task"]["test"] = name
    path.write_text(json.dumps(data), encoding="utf-8")
    return main(["replay", str(failure)])


WAYS = (by_trace, by_plan, by_worker, by_bundle)


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("way", WAYS)
def test_a_scenario_is_played_below_the_results_whatever_it_is_called(
    played: list[Path], precious: Path, way: Callable[[Path, str], int], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = inputs(Path.cwd())
    name = name.format(precious=precious)
    way(folder, name)
    (work_dir,) = played
    assert work_dir.resolve().is_relative_to(Path.cwd() / "sim_build")
    assert way is by_worker or f"{name}.1" in capsys.readouterr().out, "TEST.SEED is shown as it is"


@pytest.mark.parametrize("name", PLAYED)
def test_a_mismatch_is_one_whatever_its_scenario_is_called(
    played: list[Path], precious: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_entry(_: Built, __: str, ___: Request, work_dir: Path, **____: Any) -> SimResult:
        played.append(work_dir)
        return simulated(work_dir, replace(ANSWER, verdict=Verdict(findings=[wrong(3)])))

    monkeypatch.setattr(jobs, "run_entry", run_entry)
    name = name.format(precious=precious)
    task = Task(name, 1, "plan", str(plan_of(inputs(Path.cwd()), name)), DUT, "rerun")
    limits = Limits(BUILD_ROOT.resolve() / "regress" / "0001", BUILD_ROOT.resolve(), 1.0, isolated=True)
    result = worker.execute(task, limits)
    assert result.ending is Ending.MISMATCH, complaints(result.verdict)
    assert result.folder is not None
    assert Path(result.folder).parent == limits.folder
    assert bundle.load(Path(result.folder)).task == task


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("way", [by_trace, by_plan, by_bundle])
def test_a_name_that_cannot_be_shown_is_refused_in_one_line(
    played: list[Path], way: Callable[[Path, str], int], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = inputs(Path.cwd())
    assert way(folder, name) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "must be 1 to 200 printable characters, not" in said
    assert said.count("\n") == 1
    assert said.rstrip("\n").isprintable()
    assert played == []


CUBE = ("--format", "feature", "--precision", "int8", "--shape", "1,1,1")
COMMANDS = (
    ("trace", "{}"),
    ("trace", "--model-only", "{}"),
    ("trace", "--model-only", "{}.cfg"),
    ("trace", "--model-only", "{}.npz"),
    ("run", "--plan", "{}"),
    ("run", "--stages", "{}", "--debug"),
    ("run", "--list", "--rtl", "{}", "--plan", "{}"),
    ("run", "--rtl", "{}"),
    ("run", "--port-map", "{}"),
    ("run", "--config", "{}"),
    ("run", "--json", "{}/nowhere/results.json"),
    ("regress", "plan", "--plan", "{}"),
    ("regress", "traces", "{}"),
    ("regress", "random", "--rtl", "{}"),
    ("regress", "show", "--results", "{}"),
    ("regress", "resume", "--results", "{}"),
    ("regress", "rerun-failed", "--results", "{}"),
    ("regress", "random", "--cluster", "slurm", "--cluster-settings", "{}"),
    ("plan", "--run", "1", "--results", "{}"),
    ("plan", "--config", "{}"),
    ("coverage", "--results", "{}"),
    ("replay", "{}"),
    ("explain", "{}"),
    ("explain", *CUBE, "{}", "{}"),
    ("configrom", "--rtl", "{}"),
    ("score", "--mutants", "1", "--rtl", "{}"),
    ("bench", "sim", "--plan", "{}"),
    ("bench", "sim", "--trace", "{}"),
    ("pack", "{}", "out.bin", *CUBE),
    ("pack", "{}.npy", "out.bin", *CUBE),
    ("pack", "{}.png", "out.bin", "--format", "pixel", "--pixel-format", "T_R8", "--shape", "1,1,2"),
    ("unpack", "{}", "out.npy", *CUBE),
    ("unpack", "{}.bin", "out.npy", *CUBE),
    ("unpack", "{}.dat", "out.npy", *CUBE),
    ("describe", *CUBE, "--config", "{}"),
)


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_path_that_is_no_such_file_is_refused_in_one_line(
    precious: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(*_: Any, **__: Any) -> None:
        raise AssertionError("built")

    monkeypatch.setattr("nvdla_tb.run.compile.build._compile", build)
    for path in PATHS:
        try:
            code: object = main([word.format(path) if "{" in word else word for word in words])
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr().err
        assert code == 2, (path, said)
        assert "error: " in said.splitlines()[-1], (path, said)


def test_an_argument_that_is_no_text_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "\udcff"]) == 2
    assert capsys.readouterr().err == "error: an argument must be printable text, not '\\udcff'\n"


SMALL = HwConfig.load("nv_small")
READERS: dict[str, Callable[[Path], object]] = {
    "configuration": HwConfig.load,
    "plan": load_plan,
    "test plan": lambda path: load_feature_plan(path, model_of("nv_small")),
    "coverage model": lambda path: load_model(path.parent, SMALL),
    "stages": load_handovers,
    "cluster settings": read_settings,
    "port map": lambda path: load_port_map(path, SMALL),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_file_in_another_encoding_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes("# größer\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"^.*latin\.toml:1: text must be UTF-8, not byte 0xf6$"):
        READERS[kind](path)


def test_a_bundle_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / bundle.BUNDLE_FILE).write_bytes('{"ö": 1}'.encode("latin-1"))
    with pytest.raises(
        InputError, match=r" must be a failure bundle with bundle\.json: .*:1: text must be UTF-8, not byte 0xf6$"
    ):
        bundle.load(tmp_path)
