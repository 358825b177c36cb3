"""The Makefile hands every value on as it is: neither make nor the shell carries out what stands in one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nvdla_tb.run.folders import MARKER
from tests.repository import ROOT

STUB = f"""#!{sys.executable}
import json, pathlib, sys
with pathlib.Path(__file__).with_name("said").open("a") as file:
    print(json.dumps(sys.argv[1:]), file=file)
"""
HOSTILE = (
    "x; touch y",
    "$(shell touch y)",
    "$$(touch y)",
    "$(touch y)",
    "`touch y`",
    "'; touch y; '",
    '"; touch y; "',
    "\\'; touch y; #",
    "${y:=x}",
    "a folder/my list.f",
    "Übung.f",
    "-x",
    "a\nb",
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project with a Python that notes its arguments, below a folder with a blank."""
    project = tmp_path / "a blank"
    python = project / "my venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        (project / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    for program in (python, python.with_name("nvdla-tb")):
        program.write_text(STUB, encoding="utf-8")
        program.chmod(0o755)
    (project / "my venv" / "ready").touch()
    return project


def make(place: Path, *words: str, **variables: str) -> list[list[str]]:
    """Run make, and return the arguments of every Python that it started."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "NVDLA"))}
    ran = subprocess.run(
        ["make", "VENV=my venv", *words],
        cwd=place,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert not (place / "y").exists(), "a value was carried out"
    lines = (place / "my venv" / "bin" / "said").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_arrives_as_it_is(place: Path, value: str) -> None:
    values = dict.fromkeys(("RTL", "TOP", "PORT_MAP", "CONFIG", "SIM"), value)
    options = {f"--{name.lower().replace('_', '-')}={value}" for name in values}
    (on_the_command_line,) = make(place, *(f"{name}={value}" for name in values))
    assert options <= set(on_the_command_line)
    *_, from_the_environment = make(place, **values)
    assert options <= set(from_the_environment)


def test_what_is_not_given_is_not_said(place: Path) -> None:
    said = make(place, "run", "regress", "JOBS=3", "LEVEL=L0")
    dut = ["--sim=verilator", "--config=nv_small"]
    assert said == [
        ["run", *dut, "--jobs=3"],
        ["regress", "plan", "--level=L0", *dut, "--jobs=3"],
    ]


@pytest.mark.parametrize(("target", "left"), [("clean", [MARKER, "regress", "score"]), ("distclean", [MARKER])])
def test_clean_removes_only_what_the_testbench_made(tmp_path: Path, target: str, left: list[str]) -> None:
    results = tmp_path / "my results"
    for name in ("regress", "score", "runs"):
        (results / name).mkdir(parents=True)
    command = ["make", "-C", str(ROOT), target, f"NVDLA_RESULTS={results}", f"VENV={tmp_path}/none"]
    command.append(f"PYTHON={sys.executable}")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    message = f"error: {results} lacks {MARKER}, so the testbench did not make it and does not empty it: remove it\n"
    assert refused.stderr.startswith(message)
    assert refused.returncode != 0
    (results / MARKER).touch()
    subprocess.run(command, capture_output=True, check=True)
    assert sorted(entry.name for entry in results.iterdir()) == left
