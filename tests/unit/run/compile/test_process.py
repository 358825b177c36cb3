"""Commands and what they start: nothing of it lives longer than whoever has started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nvdla_tb.run.process import kill, start, supervise
from tests.marked import Mark, marked
from tests.repository import ROOT

FAMILY = "setsid sleep 600 & (sleep 600 &) ; setsid sh -c 'sleep 600 & sleep 600' & echo up > up; exec sleep 600"
"""A command whose children have left its group, its session, or their parent."""

DRIVER = """
import os, signal, sys
from pathlib import Path
from nvdla_tb.run.process import supervise
# Under nohup, or in the background of a shell, they are ignored.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[1])
supervise(["sh", "-c", sys.argv[2]], cwd=folder, environment=os.environ, log_path=folder / "log")
"""

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="orphans come back to their supervisor on Linux only")


def wait_for(path: Path) -> None:
    until = time.monotonic() + 30
    while not path.is_file():
        assert time.monotonic() < until
        time.sleep(0.01)


def supervisors(mark: Mark) -> list[int]:
    return [pid for pid, command in mark.processes().items() if "supervisor.py" in command]


@pytest.mark.slow
@needs_linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP, signal.SIGINT, signal.SIGABRT])
def test_nothing_outlives_the_driver_whatever_ends_it(number: signal.Signals, tmp_path: Path) -> None:
    with marked() as mark:
        command = [sys.executable, "-c", DRIVER, str(tmp_path), FAMILY]
        with subprocess.Popen(command, cwd=ROOT, env=mark.environment, stderr=subprocess.DEVNULL) as driver:
            wait_for(tmp_path / "up")
            until = time.monotonic() + 30
            while sum(command == "sleep 600" for command in mark.processes().values()) < 5:
                assert time.monotonic() < until
            driver.send_signal(number)
            driver.wait(30)
        assert mark.end() == {}


@needs_linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_supervisor_that_is_asked_to_end_takes_everything_with_it(number: signal.Signals, tmp_path: Path) -> None:
    with marked() as mark, (tmp_path / "log").open("wb") as log:
        process = start(["sh", "-c", FAMILY], cwd=tmp_path, environment=mark.environment, log=log)
        wait_for(tmp_path / "up")
        process.send_signal(number)
        assert process.wait(30) == -number
        assert mark.end(0) == {}
        kill(process)


@needs_linux
def test_a_supervisor_that_is_killed_takes_the_command_with_it(tmp_path: Path) -> None:
    with marked() as mark, (tmp_path / "log").open("wb") as log:
        process = start(["sh", "-c", "echo up > up; sleep 600"], cwd=tmp_path, environment=mark.environment, log=log)
        wait_for(tmp_path / "up")
        os.kill(process.pid, signal.SIGKILL)
        assert kill(process) == -signal.SIGKILL
        assert mark.end() == {}


@needs_linux
def test_what_a_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    with marked() as mark:
        words = ["sh", "-c", "setsid sleep 600 & sleep 600 & exit 3"]
        ended = supervise(words, cwd=tmp_path, environment=mark.environment, log_path=tmp_path / "log")
        assert (ended.returncode, ended.timed_out) == (3, False)
        assert mark.end(0) == {}


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM])
def test_a_command_that_a_signal_ends_is_told_so(number: signal.Signals, tmp_path: Path) -> None:
    words = ["sh", "-c", f"kill -{int(number)} $$"]
    assert supervise(words, cwd=tmp_path, environment=os.environ, log_path=tmp_path / "log").returncode == -number


def test_a_command_reads_nothing_and_dies_of_a_broken_pipe(tmp_path: Path) -> None:
    words = ["sh", "-c", "cat && { sh -c 'kill -PIPE $$'; echo $?; }"]
    supervise(words, cwd=tmp_path, environment=os.environ, log_path=tmp_path / "log")
    assert (tmp_path / "log").read_text() == f"{128 + signal.SIGPIPE}\n"


def test_a_command_that_does_not_exist_is_named(tmp_path: Path) -> None:
    ended = supervise(["no-such-tool"], cwd=tmp_path, environment=os.environ, log_path=tmp_path / "log")
    assert ended.returncode == 127
    assert (tmp_path / "log").read_text() == "no-such-tool: cannot execute: No such file or directory\n"
