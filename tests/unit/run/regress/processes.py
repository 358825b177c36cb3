"""Schedulers, workers and drivers as processes of their own, which a test may kill."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.repository import ROOT

LOOPBACK = "127.0.0.1"


class Processes:
    """What a test has started; whatever of it still runs is killed at the end."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []

    def start(self, *command: str, root: Path = ROOT) -> subprocess.Popen[str]:
        """Start Python with arguments, where it finds the project of a folder."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(root / name) for name in ("tb", "models"))}
        process = subprocess.Popen(
            [sys.executable, *command],
            env=environment,
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._started.append(process)
        return process

    def scheduler(self, file: Path, root: Path = ROOT) -> str:
        """Start a scheduler that tells its address in a file, and return the address."""
        started = self.start(
            "-m", "distributed.cli.dask_scheduler", "--host", LOOPBACK, "--port", "0", "--no-dashboard",
            "--scheduler-file", str(file), root=root,
        )  # fmt: skip
        until = time.monotonic() + 60
        while not file.is_file() or '"address"' not in file.read_text(encoding="utf-8"):
            assert started.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        return file.read_text(encoding="utf-8").split('"address": "')[1].split('"')[0]

    def worker(self, address: str, folder: Path, root: Path = ROOT) -> subprocess.Popen[str]:
        """Start a worker of one thread that nobody starts again."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", LOOPBACK)
        options += ("--local-directory", str(folder))
        return self.start("-m", "distributed.cli.dask_worker", address, *options, root=root)

    def kill(self) -> None:
        """Kill all that still run."""
        for process in self._started:
            process.kill()
            process.wait()


@contextmanager
def processes() -> Iterator[Processes]:
    """Give what starts processes, and kill them behind the block."""
    started = Processes()
    try:
        yield started
    finally:
        started.kill()
