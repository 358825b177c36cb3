"""The examples are short, and pass on the embedded device: those of all configurations, and those that need nv_full."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository import ROOT

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


@pytest.mark.parametrize("config", FOLDERS)
def test_the_examples_pass(tmp_path: Path, simulator: str, config: str) -> None:
    files = files_of(config)
    for path in files:
        shutil.copy(path, tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NVDLA"))}
    options = ("--nvdla", "--nvdla-config", config, "--nvdla-sim", simulator)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "."],
        cwd=tmp_path,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    tests = sum(len(coroutines_of(path)) for path in files)
    assert f" {tests} passed in " in ran.stdout, f"{ran.stdout}\n{ran.stderr}"
