"""Clusters: who may play in one, who may listen, and what is found out before the first task."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
from dask.distributed import Client
from distributed.comm import CommClosedError
from distributed.security import Security

from nvdla_tb.cli.main import main
from nvdla_tb.run.errors import NoSchedulerError, VersionError
from nvdla_tb.run.regress.cluster import cluster, join, talking
from nvdla_tb.run.regress.credentials import security_of
from nvdla_tb.run.regress.defaults import FILE_NAME
from nvdla_tb.run.regress.versions import PROJECT, difference, versions
from nvdla_tb.run.regress.worker import Limits, execute
from tests.marked import marked
from tests.unit.run.regress.processes import LOOPBACK, ROOT, processes
from tests.unit.run.regress.tasks import task

pytestmark = pytest.mark.slow

ADVICE = r"; start scheduler and workers with: nvdla-tb cluster$"
NOT_LOADED = rf"cannot load the project \(.*No module named 'nvdla_.*\){ADVICE}"


def waited_for(address: str, workers: int, security: Security | None = None) -> None:
    with Client(address, security=security) as client:
        client.wait_for_workers(workers, timeout=60)


def other_version(folder: Path) -> Path:
    """Return a copy of the project in which one comment differs."""
    for name in ("tb", "models", "hdl_stubs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "tb" / "nvdla_tb" / "paths.py").open("a") as file:
        file.write("# another version\n")
    return folder


OTHER = rf"has other versions: the project must be of version {versions()[PROJECT]}, not [0-9a-f]{{12}}{ADVICE}"


@pytest.mark.parametrize(
    ("who", "folder", "message"),
    [("scheduler", "elsewhere", NOT_LOADED), ("worker", "elsewhere", NOT_LOADED), ("worker", "other", OTHER)],
)
def test_who_cannot_load_this_version_of_the_project_is_found_out_before_the_first_task(
    tmp_path: Path, who: str, folder: str, message: str
) -> None:
    for name in ("nvdla_tb", "nvdla_models"):
        (tmp_path / "elsewhere" / "tb" / name).mkdir(parents=True)
        (tmp_path / "elsewhere" / "tb" / name / "__init__.py").touch()
    place = other_version(tmp_path / folder) if folder == "other" else tmp_path / folder
    with processes() as started:
        address = started.scheduler(tmp_path / "scheduler.json", place if who == "scheduler" else ROOT)
        started.worker(address, tmp_path / "worker", place if who == "worker" else ROOT)
        waited_for(address, 1)
        with pytest.raises(VersionError) as caught, cluster(address, 1, LOOPBACK):
            pytest.fail("a cluster that cannot play must not be used")
    assert re.match(rf"^the {who} tcp://127\.0\.0\.1:\d+ {message}", str(caught.value)), str(caught.value)


def test_versions_of_dask_and_python_count_too() -> None:
    assert difference(versions()) is None
    assert difference({**versions(), "distributed": "1.0"}) == (
        f"distributed must be of version {versions()['distributed']}, not 1.0"
    )
    assert difference({}) == f"{PROJECT} must be of version {versions()[PROJECT]}, not unknown"


def test_a_worker_that_joins_late_with_another_version_plays_nothing(tmp_path: Path) -> None:
    with pytest.raises(VersionError, match=rf"must have version abc of the project, not {versions()[PROJECT]}$"):
        execute(task(1), Limits(tmp_path, tmp_path, 1.0, project="abc"))
    assert not any(tmp_path.iterdir())


def test_a_cluster_of_our_own_listens_on_loopback_and_leaves_nothing(tmp_path: Path) -> None:
    with marked() as mark:
        command = [sys.executable, "-m", "nvdla_tb", "cluster", "--jobs", "1", "--port", "0"]
        environment = {**mark.environment, "TMPDIR": str(tmp_path / "tmp"), "NVDLA_RESULTS": str(tmp_path / "results")}
        (tmp_path / "tmp").mkdir()
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as started:
            assert started.stdout is not None
            said = started.stdout.readline()
            address = re.fullmatch(r"1 workers; play on them with: --scheduler (tls://127\.0\.0\.1:\d+)\n", said)
            assert address is not None, said
            joining = [sys.executable, "-m", "nvdla_tb", "cluster", "--jobs", "1", "--join", address[1]]
            with subprocess.Popen(
                joining, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as joined:
                path = tmp_path / "results" / FILE_NAME
                waited_for(address[1], 2, security_of(address[1], path, insecure=False))
                hosts = {host for host, _ in mark.listening()}
                started.kill()
                assert joined.communicate(timeout=60)[1] == "error: the connection to the scheduler is lost\n"
                assert joined.returncode == 2
        assert hosts == {LOOPBACK}
        assert mark.end() == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--port", "65536"), "port must be 0 to 65535, not 65536"),
        (
            ("--join", "nonsense", "--insecure"),
            "scheduler must be the address of a running Dask scheduler, not nonsense",
        ),
        (
            ("--join", "x", "--listen", "y"),
            "--listen must not come with --join: workers listen where their scheduler can reach them",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", *options]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_a_worker_that_is_killed_while_the_cluster_starts_is_one_line() -> None:
    with marked() as mark:
        command = [sys.executable, "-m", "nvdla_tb", "cluster", "--jobs", "2", "--port", "0"]
        with subprocess.Popen(
            command, cwd=ROOT, env=mark.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as started:
            while not (workers := [pid for pid, words in mark.processes().items() if "spawn_main" in words]):
                assert started.poll() is None
                time.sleep(0.01)
            os.kill(workers[0], signal.SIGKILL)
            said, error = started.communicate(timeout=120)
        assert (started.returncode, said) == (2, "")
        assert re.fullmatch(r"error: the local cluster did not start: .*\n", error)
        assert mark.end() == {}


_MASKS = """
import signal
from nvdla_tb.run.regress.cluster import cluster
with cluster(None, 2, "127.0.0.1") as client:
    print(*(signal.SIGINT in mask for mask in client.run(signal.pthread_sigmask, signal.SIG_BLOCK, []).values()))
"""


def test_an_interrupt_of_the_terminal_does_not_reach_workers() -> None:
    # In a process of its own, as the first workers that a process starts are the ones at risk.
    said = subprocess.run(
        [sys.executable, "-c", _MASKS], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (said.returncode, said.stdout) == (0, "True True\n"), said.stderr


LOST = (
    OSError("Timed out trying to connect to tcp://127.0.0.1:1 after 20 s"),
    CommClosedError("in <TCP (closed)>"),
    ConnectionRefusedError(111, "Connection refused"),
    TimeoutError(),
    CancelledError(),
)


@pytest.mark.parametrize("error", LOST, ids=lambda error: type(error).__name__)
def test_what_dask_raises_without_a_scheduler_is_one_error(error: BaseException) -> None:
    with pytest.raises(NoSchedulerError), talking():
        raise error


def test_a_file_that_is_missing_is_no_lost_scheduler() -> None:
    with pytest.raises(FileNotFoundError), talking():
        raise FileNotFoundError(2, "No such file or directory")


def test_a_scheduler_that_goes_while_workers_start_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nanny(*_: object, **__: object) -> None:
        raise RuntimeError("Nanny failed to start.") from CommClosedError("in <TCP (closed)>: Stream is closed")

    monkeypatch.setattr("nvdla_tb.run.regress.cluster.Nanny", nanny)
    with socket.create_server((LOOPBACK, 0)) as server, pytest.raises(NoSchedulerError):
        asyncio.run(join(f"tcp://{LOOPBACK}:{server.getsockname()[1]}", 1))
