"""The pytest plugin in a user's repository: what it collects, how it plays, and what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run.cache import MODELS
from nvdla_tb.run.explained import explain_folder
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.trace import read

PLAN = """config = "nv_small"
[[scenario]]
name = "sdp_mine"
about = "mine"
layer = [{ engine = "SDP", shape = [8, 2, 2] }]
[[scenario]]
name = "pdp_mine"
about = "mine, for long nights"
markers = ["slow"]
layer = [{ engine = "PDP", shape = [8, 4, 4], method = "max", kernel = [2, 2], stride = [2, 2] }]
"""

TESTS = """import cocotb
import numpy as np
import pytest

from nvdla_tb import Bench, Sdp


@cocotb.test()
@pytest.mark.slow
async def never(dut):
    assert False


@cocotb.test()
@cocotb.parametrize(channels=[20])
async def relu(dut, channels):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (channels, 1, 2), dtype=np.int8))
    await bench.run(Sdp(src, bench.reserve(src.shape), relu=True))
    bench.check()


@cocotb.test()
async def fails(dut):
    bench = await Bench.start(dut)
    assert await bench.csb.read("GLB.S_INTR_STATUS") == 0
    assert bench.config.name == "nv_large", "of another size"


def test_the_device(nvdla_dut):
    assert nvdla_dut.config.name == "nv_small"
    assert nvdla_dut.built.directory.is_dir()
"""


REFUSED = """config = "nv_full"
[[scenario]]
name = "sdp_rubik"
about = "an engine that nv_small lacks"
preset = { "RUBIK.D_MISC_CFG" = 0 }
layer = [{ engine = "SDP", shape = [8, 2, 2] }]
[[scenario]]
name = "sdp_whole"
about = "one that it has"
layer = [{ engine = "SDP", shape = [8, 2, 2] }]
"""

SKIPPED = """import cocotb
import pytest


@cocotb.test()
@pytest.mark.skip(reason="for another day")
async def never(dut):
    assert False


def test_plain():
    pass
"""


def fill(folder: Path, files: dict[str, str]) -> None:
    """Write files into a folder, by their names."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def ran(folder: Path, *words: str) -> str:
    """Return what pytest prints in a folder."""
    run = completed(folder, *words)
    return run.stdout + run.stderr


def completed(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Return how pytest ended in a folder."""
    return subprocess.run(
        command_of(*words), cwd=folder, env=environment_of(), capture_output=True, text=True, check=False, timeout=900
    )


def environment_of() -> dict[str, str]:
    """Return the environment of a pytest run with the plugin."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "NVDLA"))}
    return {**kept, "NVDLA_CACHE": str(MODELS)}


def command_of(*words: str) -> list[str]:
    """Return the command of a pytest run with the plugin."""
    return [sys.executable, "-m", "pytest", *words]


RUNS = Path("sim_build", "runs", "pytest-nv_small")
"""The folder of a run on the embedded device."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's repository."""
    folder = tmp_path_factory.mktemp("repository")
    files = {
        PROJECT_FILE: 'plans = ["plans/*.toml"]\ntests = ["tests/mine.py"]\n',
        "pytest.ini": "[pytest]\naddopts = --strict-markers\nmarkers = slow: takes long\n",
    }
    fill(folder, {**files, "plans/mine.toml": PLAN, "tests/mine.py": TESTS, "other/plan.toml": PLAN})
    return folder


def test_a_run_that_does_not_want_it_loads_and_collects_nothing(tmp_path: Path) -> None:
    test = (
        "import sys\n\n\ndef test_one(pytestconfig):\n"
        "    own = ('nvdla_tb', 'nvdla_models', 'numpy', 'cocotb')\n"
        "    tb = {name for name in sys.modules if name.partition('.')[0] in own}\n"
        "    run = {'nvdla_tb.run', 'nvdla_tb.run.simulators'}\n"
        "    assert tb == {'nvdla_tb', 'nvdla_tb.paths', 'nvdla_tb.plugin', 'nvdla_tb.plugin.entry'} | run\n\n\n"
        "def test_two(nvdla_dut):\n    pass\n"
    )
    fill(tmp_path, {"pytest.ini": "[pytest]\n", "plan.toml": PLAN, "test_one.py": test})
    said = ran(tmp_path)
    assert f"nvdla_dut needs one of the options --rtl and --nvdla, or {PROJECT_FILE}" in said
    assert "1 passed, 1 error" in said
    assert not (tmp_path / "sim_build").exists()


def test_items_are_played_by_workers_and_chosen_by_markers_and_failures_again(repository: Path) -> None:
    said = ran(repository, "-n", "1", "-m", "not slow")
    assert "1 failed, 3 passed" in said
    runs = repository / RUNS
    page = f"{RUNS}/mine.fails.0"
    rerun = "rerun: pytest tests/mine.py::fails --nvdla-config nv_small --nvdla-sim verilator\n"
    told = ("failed: mine.fails.0\n", "AssertionError: of another size\n", "assert 'nv_small' == 'nv_large'\n")
    told += ('    tests/mine.py:27 in fails\n      assert bench.config.name == "nv_large", "of another size"\n',)
    told += ("FAILED tests/mine.py::fails - failed check: AssertionError: of another size",)
    assert [line for line in told if line not in said] == []
    assert f"  page: {page}/failure.html\n  log: {page}/sim.log\n  {rerun}" in said
    assert (runs / "mine.fails.0" / "failure.html").is_file()
    assert (runs / "sdp_mine.1" / "result.json").is_file()
    assert not (runs / "pdp_mine.1").exists()
    written = (runs / "index.html").read_text(encoding="utf-8")
    assert [name in written for name in ("sdp_mine", "mine.relu/channels=20", "mine.fails")] == [True] * 3
    again = ran(repository, "--lf")
    assert "1 failed" in again
    assert " passed" not in again


def test_a_failing_test_in_python_is_explained_and_leaves_page_log_and_scenario(repository: Path) -> None:
    plusarg = "+bug=sdp_dst_surface_stride"
    said = ran(repository, "-k", "relu", "--nvdla-plusarg", plusarg)
    assert "1 failed" in said
    assert "failed: mine.relu/channels=20.0\n  unit: SDP, its writes: the probable cause lies in its work\n" in said
    assert "why   1. output: wrong surface stride: " in said
    assert f"--nvdla-plusarg {plusarg}\n" in said
    (folder,) = (repository / RUNS).glob("_mine.relu*")
    assert "--nvdla-waves" in (folder / "failure.html").read_text(encoding="utf-8")
    log = (folder / "transactions.log").read_text(encoding="utf-8")
    assert re.search(r"^ +\d+ CSB write SDP\.D_OP_ENABLE 0x00000001$", log, re.MULTILINE)
    assert re.search(r"^ +\d+ MC write 0x[0-9a-f]+ ([0-9a-f]{2} ){8}id \d+$", log, re.MULTILINE)
    (explanation, *_) = explain_folder(folder)
    assert explanation.causes[0].name == "dst-surface-stride"
    config = HwConfig.load("nv_small")
    (expectation,) = play_model(read(folder / "scenario", config), config).expectations
    assert expectation.must_write.all()


def test_a_run_that_captures_nothing_shows_the_simulation(repository: Path) -> None:
    running = "cocotb.regression                  running mine.fails (1/1)"
    assert running in ran(repository, "-s", "-k", "fails")
    assert running not in ran(repository, "-k", "fails")


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_run_in_which_every_item_is_skipped_has_failed(
    repository: Path, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    sent = (repository / PROJECT_FILE).read_text(encoding="utf-8")
    files = {"plans/mine.toml": REFUSED, "tests/mine.py": SKIPPED}
    fill(tmp_path, {PROJECT_FILE: sent, "pytest.ini": "[pytest]\n", **files})
    refused = completed(tmp_path, *workers, "-k", "sdp_rubik or never or plain")
    assert "1 passed, 2 skipped" in refused.stdout, refused.stdout
    assert "failed: nothing was compared: no test has passed\n" in refused.stdout
    assert refused.returncode == pytest.ExitCode.TESTS_FAILED
    compared = completed(tmp_path, *workers, "-k", "sdp_rubik or sdp_whole")
    assert "1 passed, 1 skipped" in compared.stdout, compared.stdout
    assert "nothing was compared" not in compared.stdout
    assert compared.returncode == pytest.ExitCode.OK
    if workers:
        return  # without an item of this plugin they have nothing to do with it
    none = completed(tmp_path, "-k", "nothing_of_this_name")
    assert "failed: nothing was compared: no test has passed\n" in none.stdout
    assert none.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    plain = completed(tmp_path, "-k", "plain")
    assert "nothing was compared" not in plain.stdout
    assert plain.returncode == pytest.ExitCode.OK


def test_names_engines_and_seeds_choose_scenarios_and_plans_may_be_built_in(repository: Path, tmp_path: Path) -> None:
    for name in ("plans", "tests", "pytest.ini"):
        (tmp_path / name).symlink_to(repository / name)
    (tmp_path / PROJECT_FILE).write_text('plans = ["nv_small"]\n', encoding="utf-8")
    words = ("--collect-only", "-q", "-m", "pdp", "-k", "max_2x2 or mine", "--nvdla-seed", "7", "--nvdla-seed", "8")
    said = ran(tmp_path, *words)
    assert [line.rpartition("::")[2] for line in said.splitlines() if "::" in line] == [
        "pdp_max_2x2.7",
        "pdp_max_2x2.8",
    ]


def test_what_cannot_be_used_is_one_message(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    assert ran(tmp_path, "--nvdla-config", "nowhere").startswith("ERROR: configuration must be one of nv_full, ")
    (tmp_path / "broken.toml").write_text('config = "nv_small"\nscenario = [{name = "x"}]\n', encoding="utf-8")
    assert "broken.toml: scenario[0].about is missing\n" in ran(tmp_path, "--nvdla")
