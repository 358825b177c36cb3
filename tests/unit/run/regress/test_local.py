"""Processes of this machine: they start when they are needed, and end with whoever has started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nvdla_tb.run.regress.local import local_pool
from nvdla_tb.run.regress.pool import results
from tests.marked import marked
from tests.repository import ROOT

pytestmark = pytest.mark.slow


def test_few_calls_start_few_processes() -> None:
    before = set(multiprocessing.active_children())
    with local_pool(8) as pool:
        assert pool.workers == 8
        for number in range(3):
            assert results(pool, abs, [-number]) == [number]
        assert len(set(multiprocessing.active_children()) - before) == 1
    assert set(multiprocessing.active_children()) == before


def place_of(_: int) -> tuple[str, str | None]:
    return os.getcwd(), os.environ.get("NVDLA_SAID")


def test_processes_have_the_folder_and_the_environment_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("first", "second"):
        folder = tmp_path / word
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("NVDLA_SAID", word)
        with local_pool(1) as pool:
            assert results(pool, place_of, [0]) == [(str(folder), word)]


_ONE_CALL = """
from nvdla_tb.run.regress.local import local_pool
from nvdla_tb.run.regress.pool import results
with local_pool(1) as pool:
    print(results(pool, abs, [-1]))
"""


def test_processes_start_where_the_folder_of_temporary_files_has_a_long_path(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    said = subprocess.run(
        [sys.executable, "-c", _ONE_CALL],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (said.returncode, said.stdout) == (0, "[1]\n"), said.stderr


def unpicklable(_: int) -> object:
    return lambda: 0


def test_a_result_that_cannot_travel_is_an_error() -> None:
    with local_pool(1) as pool:
        with pytest.raises(AttributeError, match=r"^Can't pickle local object"):
            results(pool, unpicklable, [0])
        assert results(pool, abs, [-1]) == [1]


def test_a_pool_ends_although_its_workers_are_busy() -> None:
    started = time.monotonic()
    with local_pool(2) as pool:
        pool.call(time.sleep, [600] * 4)
        while len([child for child in multiprocessing.active_children() if child.is_alive()]) < 2:
            assert time.monotonic() < started + 60
            time.sleep(0.05)
    assert time.monotonic() < started + 120


_MASKS = """
import signal
from functools import partial
from nvdla_tb.run.regress.local import local_pool
from nvdla_tb.run.regress.pool import results
with local_pool(1) as pool:
    (mask,) = results(pool, partial(signal.pthread_sigmask, signal.SIG_BLOCK), [[]])
    print(signal.SIGINT in mask)
"""


def test_an_interrupt_of_the_terminal_does_not_reach_workers() -> None:
    # In a process of its own, as the first workers that a process starts are the ones at risk.
    said = subprocess.run(
        [sys.executable, "-c", _MASKS], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (said.returncode, said.stdout) == (0, "True\n"), said.stderr


_BUSY = """
import time
from nvdla_tb.run.regress.local import local_pool
with local_pool(2) as pool:
    pool.call(time.sleep, [0, 3])
    print("busy", flush=True)
    time.sleep(600)
"""


def test_processes_end_after_their_call_when_their_driver_is_killed() -> None:
    with marked() as mark:
        with subprocess.Popen(
            [sys.executable, "-c", _BUSY], cwd=ROOT, env=mark.environment, stdout=subprocess.PIPE, text=True
        ) as driver:
            assert driver.stdout is not None
            assert driver.stdout.readline() == "busy\n"
            while len(mark.processes()) < 4:
                time.sleep(0.05)
            driver.send_signal(signal.SIGKILL)
        until = time.monotonic() + 60
        while mark.processes():
            assert time.monotonic() < until
            time.sleep(0.05)
