"""What pytest shows while a model is built, which takes minutes for a large design, and when it has nothing to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nvdla_tb.stimulus.generate.plan_text import plan_text
from tests.repository import ROOT

ITEM = """
import time
from nvdla_tb.plugin.collect import PytestTeller

def test_one(pytestconfig, monkeypatch):
    print("of the test itself")
    told = PytestTeller(pytestconfig)
    told.say("building top")
    later = time.monotonic() + 6
    monkeypatch.setattr(time, "monotonic", lambda: later)
    told.progress("compiling: 3 of 7 files, 6 s")
"""


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the test of a folder, or what else is named, with the testbench installed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *(words or ("test_it.py",))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "tb"), str(ROOT / "models")))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_builds_are_told_past_the_capture(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(ITEM, encoding="utf-8")
    ran = run_pytest(tmp_path)
    assert ran.returncode == 0, ran.stdout
    said = ran.stdout.splitlines()
    assert [line for line in said if "top" in line or "compiling" in line] == [
        "building top",
        "compiling: 3 of 7 files, 6 s",
    ]
    assert "of the test itself" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("test", "hints"),
    [
        ("import cocotb\nfrom nvdla_tb import Bench\n\n@cocotb.test()\nasync def relu(dut): ...\n", True),
        ("import cocotb\n\n@cocotb.test()\nasync def of_another_device(dut): ...\n", False),
    ],
)
def test_a_run_without_options_that_collects_nothing_of_the_testbench_names_them(
    test: str, hints: bool, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    ran = run_pytest(tmp_path)
    assert ran.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, ran.stdout
    hint = "nvdla_tb: tests need a DUT: give --rtl FILELIST, or --nvdla for the built-in one, or add nvdla-tb.toml"
    assert (hint in ran.stdout.splitlines()) is hints, ran.stdout


@pytest.mark.parametrize(("options", "seeds"), [((), ["9"]), (("--nvdla-seed", "3", "--nvdla-seed", "4"), ["3", "4"])])
def test_scenarios_have_the_seed_of_their_plan_unless_others_are_given(
    options: tuple[str, ...], seeds: list[str], tmp_path: Path
) -> None:
    plan = plan_text("nv_small", [("one", "a layer", {"layer": [{"engine": "SDP", "shape": [8, 1, 1]}]})], seed=9)
    (tmp_path / "test_it.toml").write_text(plan, encoding="utf-8")
    said = run_pytest(tmp_path, "test_it.toml", "--collect-only", "-q", "--nvdla", *options).stdout
    assert [line.rpartition(".")[2] for line in said.splitlines() if "::" in line] == seeds


def test_what_cocotb_skips_is_skipped(tmp_path: Path) -> None:
    test = "import cocotb\n\n@cocotb.test(skip=True)\nasync def later(dut): ...\n"
    (tmp_path / "test_it.py").write_text(test, encoding="utf-8")
    ran = run_pytest(tmp_path, "test_it.py", "--nvdla", "-rs")
    assert "cocotb.test(skip=True)" in ran.stdout, ran.stdout
    assert " 1 skipped" in ran.stdout
    assert "failed: nothing was compared" in ran.stdout, "a run that played nothing is no success"
