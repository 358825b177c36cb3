"""What the machine cannot do, and an interrupt, are one line, and nothing that was played is lost."""

from __future__ import annotations

import errno
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nvdla_tb.cli import regress as regress_cli
from nvdla_tb.run.errors import StoreError
from nvdla_tb.run.regress import store as store_module
from nvdla_tb.run.regress.local import local_pool
from nvdla_tb.run.regress.pool import Pool
from nvdla_tb.run.regress.schedule import drive
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import Limits
from tests.repository import ROOT
from tests.unit.conftest import Run
from tests.unit.run.regress.tasks import played, pretend, stored, task

pytestmark = pytest.mark.slow

TASKS = [task(seed) for seed in range(4)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with a run that is played in part."""
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("some", TASKS)
        store.add(run, played(TASKS[0]))
    return tmp_path


@pytest.fixture
def read_only(results: Path) -> Iterator[Path]:
    """The same on a device that nobody can write to, not even root."""
    if subprocess.run(["mount", "--bind", results, results], capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount a folder read-only")
    subprocess.run(["mount", "-o", "remount,bind,ro", results], check=True)
    try:
        yield results
    finally:
        subprocess.run(["umount", results], check=True)


def said(tb: Run, words: str) -> str:
    ran = tb(words)
    assert ran.err.count("\n") == 1, ran.err
    return ran.refusal


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_results_that_cannot_be_written_are_told_after_all_others(tb: Run) -> None:
    Path("t.cfg").write_text("reg_read(GLB.S_INTR_STATUS);", encoding="ascii")
    ran = tb("trace --model-only t.cfg --json /dev/full")
    assert (ran.code, ran.err) == (2, "error: /dev/full: No space left on device\n")
    assert "t" in ran.out


def test_a_fault_of_the_project_is_no_fault_of_the_machine(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: object) -> int:
        raise FileNotFoundError(errno.ENOENT, "gone", "a file of ours")

    monkeypatch.setattr(regress_cli, "main", lost)
    with pytest.raises(FileNotFoundError):
        tb("regress show")


def test_a_store_that_is_truncated_is_said_so(tb: Run, results: Path) -> None:
    path = results / "results.sqlite"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert re.search(r"results\.sqlite.*malformed", said(tb, "regress show --results ."))


def test_a_store_that_lacks_a_table_is_said_so(tb: Run, results: Path) -> None:
    with sqlite3.connect(results / "results.sqlite") as database:
        database.execute("DROP TABLE results")
    error = said(tb, "regress show --results .")
    assert error.endswith("results.sqlite must be a sound regression store: no such table: results")


def test_a_store_that_another_process_locks_is_said_so(tb: Run, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_PATIENCE_SECONDS", 0.1)
    with sqlite3.connect(results / "results.sqlite") as database:
        database.execute("BEGIN EXCLUSIVE")
        assert said(tb, "regress show --results .").endswith("results.sqlite cannot be used: database is locked")


def test_a_store_that_is_read_only_is_said_so(tb: Run, read_only: Path) -> None:
    with Store(read_only / "results.sqlite") as store:
        assert store.results(store.run()) == [stored(TASKS[0])]
    assert "Read-only file system" in said(tb, f"regress show --results {read_only}")
    error = said(tb, f"regress resume --results {read_only} --jobs 1")
    assert error.endswith("0001 cannot be made: Read-only file system")


def test_an_older_store_that_is_read_only_is_said_so(tb: Run, results: Path, request: pytest.FixtureRequest) -> None:
    with sqlite3.connect(results / "results.sqlite") as database:
        database.executescript("DROP TABLE coverage; PRAGMA user_version = 1;")
    request.getfixturevalue("read_only")
    error = said(tb, f"regress show --results {results}")
    assert error.endswith("results.sqlite must be a regression store of version 5, not 1")


def test_a_folder_in_the_place_of_a_store_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "results.sqlite").mkdir()
    with pytest.raises(StoreError, match=r"results\.sqlite must be a regression store, not a folder, FIFO or device$"):
        Store(tmp_path / "results.sqlite")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("regress random --seeds 1", "file/x cannot be made: Not a directory"),
        ("score --mutants 1", "file/x/mutants cannot be made: File exists"),
    ],
)
def test_results_below_a_file_cannot_be_made_and_that_is_said_so(tb: Run, command: str, reason: str) -> None:
    Path("file").touch()
    assert said(tb, f"{command} --results file/x") == reason


def test_a_store_on_a_full_device_loses_no_result(tmp_path: Path) -> None:
    many = [task(seed) for seed in range(400)]
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("full", many)
    limits = Limits(run.folder, tmp_path, 0.0)
    started = limits.folder / "started"
    with local_pool(1) as pool, pytest.raises(StoreError, match=r"cannot be used: database or disk is full$"):
        play_with_little_room(tmp_path / "store.sqlite", pool, limits)
    begun = len(list(started.iterdir()))
    with local_pool(1) as pool, Store(tmp_path / "store.sqlite") as store:
        kept = len(store.results(run))
        list(drive(store, run, pool, limits, play=pretend))
        assert store.results(run) == [stored(entry) for entry in many]
    assert kept < begun < len(many)
    assert len(list(started.iterdir())) == len(many), "what was played must not be played again"


def play_with_little_room(path: Path, pool: Pool, limits: Limits) -> None:
    with Store(path) as store:
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        store._database.execute(f"PRAGMA max_page_count = {pages + 2}")
        list(drive(store, store.run(), pool, limits, play=pretend))


@pytest.mark.parametrize("seconds", [0.3, 1.0, 2.5])
def test_an_interrupt_at_any_moment_is_one_line(seconds: float, tmp_path: Path) -> None:
    # In the background of a shell, interrupts are ignored.
    tb = ["env", "--default-signal=INT", sys.executable, "-m", "nvdla_tb"]
    command = [*tb, "cluster", "--jobs", "1", "--port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as started:
        try:
            started.wait(seconds)
        except subprocess.TimeoutExpired:
            # As a terminal does: to all processes of the group.
            os.killpg(started.pid, signal.SIGINT)
        _, error = started.communicate(timeout=60)
    # CPython ends by the signal itself when the interrupt, though it was handled, struck in an exec of text, as
    # dataclasses do it; a shell says 130 in both cases.
    assert started.returncode in (130, -signal.SIGINT)
    assert error == "interrupted\n"


SIMULATIONS = 2


def pids(folder: Path) -> list[int]:
    """Return the ids of the simulations that have started."""
    return [int(text) for path in folder.rglob("pid") if (text := path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("kind", "number", "ending"),
    [
        ("run", signal.SIGINT, (130, "interrupted\n")),
        ("run", signal.SIGTERM, (143, "terminated\n")),
        ("score", signal.SIGINT, (130, "interrupted\n")),
    ],
)
def test_an_interrupt_ends_a_run_and_its_simulations(
    tmp_path: Path, kind: str, number: signal.Signals, ending: tuple[int, str]
) -> None:
    command = [sys.executable, "-m", "tests.unit.cli.interrupted", str(tmp_path), kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        deadline = time.monotonic() + 60
        while len(pids(tmp_path)) < SIMULATIONS and started.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        simulations = pids(tmp_path)
        started.send_signal(number)
        _, said = started.communicate(timeout=30)
    assert len(simulations) == SIMULATIONS, (started.returncode, said)
    assert (started.returncode, said) == ending
    assert pids(tmp_path) == simulations, "no simulation is started after an interrupt"
    for pid in simulations:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
