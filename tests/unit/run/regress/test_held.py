"""A run is held by the process that plays it, until that process ends in whatever way."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nvdla_models.errors import InputError
from nvdla_tb.run import folders
from nvdla_tb.run.regress.held import LOCK_FILE, being_played, held
from nvdla_tb.run.regress.store import Run

HOLDER = """
import sys, time
from pathlib import Path
from nvdla_tb.run.regress.held import held
from nvdla_tb.run.regress.store import Run
with held(Run(3, "a run", 0.0, Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(3, "a run", 0.0, tmp_path / "0003")


@contextmanager
def another(run: Run) -> Iterator[subprocess.Popen[str]]:
    """Let another process hold the run, and kill it at the end."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(run.folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_run_that_another_process_plays_is_refused_until_that_is_killed(run: Run) -> None:
    assert being_played(run) is None
    with another(run) as process:
        by = f"run 3 is being played by process {process.pid} on {os.uname().nodename}"
        assert being_played(run) == by
        with pytest.raises(InputError, match=rf"^{by}: wait for its end, or end that process$"), held(run):
            pytest.fail("it is played twice")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert being_played(run) is None
        with held(run):
            assert being_played(run) == f"run 3 is being played by process {os.getpid()} on {os.uname().nodename}"
    assert being_played(run) is None


def test_nobody_is_kept_from_a_run_where_files_have_no_locks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(folders.fcntl, "flock", flock)
    with held(run):
        assert being_played(run) is None


def test_what_is_no_file_holds_no_run(run: Run) -> None:
    run.folder.mkdir()
    os.mkfifo(run.folder / LOCK_FILE)
    assert being_played(run) is None
    with pytest.raises(folders.FolderError, match="must be a file"), held(run):
        pytest.fail("it is held")
