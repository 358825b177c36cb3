"""Reports of pytest runs: what was not played is an error there, whatever ended the run."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.report import page
from tests.sim.test_pytest_plugin import RUNS, command_of, completed, environment_of, fill

SCENARIOS = "".join(
    f'[[scenario]]\nname = "sdp_{name}"\nabout = "mine"\nlayer = [{{ engine = "SDP", shape = [8, 2, 2] }}]\n'
    for name in ("a", "b", "c")
)
PLAN = f'config = "nv_small"\n{SCENARIOS}'

CONFTEST = """import os
import signal

import pytest


def pytest_runtest_setup(item):
    wanted = os.environ.get("END_AT")
    if wanted == item.name:
        if os.environ["END_HOW"] == "exit":
            pytest.exit("enough", returncode=0)
        if os.environ["END_HOW"] == "fail":
            pytest.fail("of the fixture")
        # With pytest-xdist it is the process that writes the reports.
        pid = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
        os.kill(pid, int(os.environ["END_HOW"]))
"""
PLAIN = "def test_plain():\n    pass\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write_repository(tmp_path)


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose scenarios were played, and passed."""
    folder = write_repository(tmp_path_factory.mktemp("passed"))
    assert completed(folder, "mine.toml").returncode == 0
    assert suite(folder) == ({"tests": "3"}, PASSED)
    return folder


@pytest.fixture
def played(passed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(passed, tmp_path / "played"))


def write_repository(folder: Path) -> Path:
    """Write a user's repository with three scenarios and a plain test, and return its folder."""
    fill(folder, {PROJECT_FILE: 'plans = ["mine.toml"]\n', "pytest.ini": "[pytest]\n"})
    fill(folder, {"mine.toml": PLAN, "conftest.py": CONFTEST, "test_plain.py": PLAIN})
    return folder


def suite(repository: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the counts that JUnit has, without those that are 0, and how each test case ended, by its scenario."""
    root = ElementTree.parse(repository / RUNS / page.JUNIT).getroot()
    counts = {name: value for name, value in root.items() if name != "name" and value != "0"}
    names = [(case, re.search(r"sdp_\w|the run", str(case.get("name")))) for case in root.iter("testcase")]
    return counts, {name[0]: [child.tag for child in case] for case, name in names if name is not None}


def ended(repository: Path, how: str, *words: str, at: str = "sdp_b.1") -> int:
    """Return the exit code of a run that is ended in some way before an item."""
    kept = environment_of()
    run = subprocess.run(
        command_of(*words), cwd=repository, env={**kept, "END_AT": at, "END_HOW": how}, capture_output=True, timeout=900
    )
    return run.returncode


PASSED = {"sdp_a": [], "sdp_b": [], "sdp_c": []}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_what_was_not_played_as_errors(played: Path, number: signal.Signals) -> None:
    code = ended(played, str(int(number)), "mine.toml", "test_plain.py")
    assert code == (pytest.ExitCode.INTERRUPTED if number is signal.SIGINT else -number)
    counts, cases = suite(played)
    assert (cases["sdp_b"], cases["sdp_c"], cases["the run"]) == (["error"], ["error"], ["error"])
    assert int(counts["errors"]) >= 3


def test_a_killed_run_with_workers_leaves_what_was_not_played_as_errors(repository: Path) -> None:
    code = ended(repository, str(int(signal.SIGKILL)), "-n", "1", "mine.toml", at="sdp_a.1")
    assert code == -signal.SIGKILL
    assert suite(repository) == (
        {"tests": "4", "errors": "4"},
        {name: ["error"] for name in (*PASSED, "the run")},
    )


def test_a_run_that_ends_early_with_a_good_exit_code_has_failed(repository: Path) -> None:
    assert ended(repository, "exit", "mine.toml") == pytest.ExitCode.TESTS_FAILED
    _, cases = suite(repository)
    assert cases == {"sdp_a": [], "sdp_b": ["error"], "sdp_c": ["error"], "the run": ["error"]}


def test_an_item_that_fails_without_being_played_is_a_failure(repository: Path) -> None:
    assert ended(repository, "fail", "-n", "1", "mine.toml") == pytest.ExitCode.TESTS_FAILED
    assert suite(repository) == ({"tests": "3", "failures": "1"}, {**PASSED, "sdp_b": ["failure"]})


def test_a_filter_that_matches_nothing_leaves_no_earlier_pass_and_a_run_of_other_tests_leaves_it(
    played: Path,
) -> None:
    assert completed(played, "test_plain.py").returncode == 0
    assert completed(played, "-k", "plain").returncode == 0
    assert completed(played, "--collect-only").returncode == 0
    assert suite(played) == ({"tests": "3"}, PASSED)
    typo = completed(played, "-k", "sdp_typo")
    assert typo.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "this run replaces the reports of: pytest " in typo.stdout
    assert suite(played) == ({"tests": "1", "errors": "1"}, {"the run": ["error"]})


def test_a_worker_that_dies_leaves_an_error(repository: Path) -> None:
    dies = CONFTEST.replace("os.getppid()", "os.getpid()")
    (repository / "conftest.py").write_text(dies, encoding="utf-8")
    words = ("-n", "1", "--max-worker-restart", "0", "mine.toml")
    assert ended(repository, str(int(signal.SIGKILL)), *words) == pytest.ExitCode.TESTS_FAILED
    _, cases = suite(repository)
    assert (cases["sdp_a"], cases["sdp_b"], cases["sdp_c"]) == ([], ["error"], ["error"])


def test_a_mark_that_expects_a_failure_does_not_hide_it(repository: Path) -> None:
    fill(repository, {"mine.toml": PLAN.replace('about = "mine"', 'about = "mine"\nmarkers = ["xfail"]', 1)})
    run = completed(repository, "mine.toml", "--nvdla-plusarg", "+bug=sdp_dst_base", "-k", "sdp_a")
    assert run.returncode == 1, run.stdout
    assert "failed: 1 of 1 scenarios and cocotb tests failed, whatever marks say" in run.stdout.splitlines()
    assert suite(repository)[0] == {"tests": "1", "failures": "1"}
