"""The examples are short, and pass on the embedded device: those of all configurations, and those that need nv_full."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import msgspec
import pytest

from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.choices import BACKENDS
from nvdla_tb.stimulus.result import Result
from tests.repository import ROOT
from tests.sim.test_pytest_plugin import completed

EXAMPLES = ROOT / "examples"
FOLDERS = {"nv_small": ".", "nv_full": "nv_full"}
"""By configuration, the folder of its examples."""

MOST_LINES = 12


def files_of(config: str) -> list[Path]:
    """Return the files of a configuration's examples."""
    return sorted((EXAMPLES / FOLDERS[config]).glob("*.py"))


def coroutines_of(path: Path) -> list[ast.AsyncFunctionDef]:
    """Return the cocotb tests of a file."""
    return [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", [*files_of("nv_small"), *files_of("nv_full")], ids=lambda path: path.stem)
def test_an_example_is_short_and_imports_from_the_front_door_alone(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert modules == ["nvdla_tb"]
    for test in coroutines_of(path):
        assert test.end_lineno is not None
        assert test.end_lineno - test.lineno <= MOST_LINES, test.name


def test_those_of_nv_full_pass(tmp_path: Path) -> None:
    passed(tmp_path, "nv_full")


def test_those_of_all_configurations_pass_and_end_alike_on_both_back_ends(tmp_path: Path) -> None:
    verdicts = [passed(tmp_path / backend, "nv_small", "--nvdla-backend", backend) for backend in BACKENDS]
    assert verdicts[0] == verdicts[1]


def passed(folder: Path, config: str, *options: str) -> dict[str, Verdict]:
    """Play the examples of a configuration in a folder, require that they passed, and return their verdicts."""
    files = files_of(config)
    folder.mkdir(exist_ok=True)
    for path in files:
        shutil.copy(path, folder)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    ran = completed(folder, "--nvdla", "--nvdla-config", config, *options, ".")
    tests = sum(len(coroutines_of(path)) for path in files)
    assert f" {tests} passed in " in ran.stdout, f"{ran.stdout}\n{ran.stderr}"
    results = (folder / "sim_build" / "runs").glob(f"*/*/{RESULT_FILE}")
    found = {path.parent.name: msgspec.json.decode(path.read_bytes(), type=Result).verdict for path in results}
    assert len(found) == tests
    return found
