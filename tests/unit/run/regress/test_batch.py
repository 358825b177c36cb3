"""Batch systems: what is asked of them, what is refused, and that tasks are played by what they start."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import dask
import pytest
from dask.distributed import LocalCluster

from nvdla_tb.cli.main import main
from nvdla_tb.run.regress.batch import SYSTEMS, Batch, BatchError, batch_cluster, read_settings
from nvdla_tb.run.regress.credentials import security_of
from nvdla_tb.run.regress.dask_pool import DaskPool
from nvdla_tb.run.regress.schedule import drive
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import Limits
from tests.unit.run.regress.tasks import pretend, stored, task

pytestmark = pytest.mark.slow

HOST = "192.0.2.7"


class FakeCluster(LocalCluster):
    """Takes what a batch cluster takes, and starts its workers here."""

    seen: dict[str, Any]

    def __init__(self, **settings: Any) -> None:
        type(self).seen = settings
        super().__init__(
            n_workers=0,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            memory_limit=0,
            security=settings.get("security"),
        )


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeCluster]:
    module = ModuleType("dask_jobqueue")
    for name in SYSTEMS.values():
        setattr(module, name, FakeCluster)
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    return FakeCluster


@pytest.mark.parametrize("system", SYSTEMS)
def test_tasks_are_played_by_the_workers_of_a_batch_system(
    system: str, tmp_path: Path, fake: type[FakeCluster]
) -> None:
    many = [task(seed) for seed in range(6)]
    security = security_of(None, tmp_path / "cluster.pem", insecure=False)
    batch = Batch(system, 2, HOST, {"queue": "short", "cores": 2, "memory": "4GB"}, security)
    with Store(tmp_path / "store.sqlite") as store, batch_cluster(batch) as client:
        run = store.start("batch", many)
        ended = list(drive(store, run, DaskPool(client), Limits(run.folder, tmp_path, 0.0), play=pretend))
        # The first worker may play everything before the second has started.
        client.wait_for_workers(2, timeout=60)
        assert len(client.scheduler_info()["workers"]) == 2
        assert sorted(one.key for one in ended) == sorted(one.key for one in many)
        assert store.results(run) == [stored(one) for one in many]
    assert fake.seen["queue"] == "short"
    assert fake.seen["security"] is security
    assert (fake.seen["cores"], fake.seen["processes"]) == (2, 2)
    assert fake.seen["scheduler_options"] == {"host": HOST, "dashboard_address": "127.0.0.1:0"}


def test_the_script_of_a_job_starts_workers_of_one_thread_with_the_credentials(tmp_path: Path) -> None:
    package = pytest.importorskip("dask_jobqueue", reason="the optional dask-jobqueue is not installed")
    arguments = Batch(
        "slurm",
        4,
        HOST,
        {"queue": "short", "cores": 3, "memory": "6GB", "walltime": "00:30:00"},
        security_of(None, tmp_path / "cluster.pem", insecure=False),
    ).arguments()
    arguments["scheduler_options"] = {"host": "127.0.0.1", "dashboard_address": None}
    with package.SLURMCluster(**arguments) as started:
        script = started.job_script()
    for line in ("#SBATCH -p short", "#SBATCH --cpus-per-task=3", "#SBATCH -t 00:30:00"):
        assert line in script.splitlines()
    assert re.search(
        rf"^{re.escape(sys.executable)} -m .*dask_worker tls://\S+ .*--nthreads 1 .*--nworkers 3", script, re.M
    )
    for part in ("ca-file", "cert", "key"):
        assert f"--tls-{part} {tmp_path}/cluster.pem" in script
    assert "PRIVATE KEY" not in script


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with (
        pytest.raises(
            BatchError, match=r"^--cluster lsf needs the package dask-jobqueue: pip install '\.\[batch\]' \(.*\)$"
        ),
        batch_cluster(Batch("lsf", 1, HOST, {"memory": "1GB"})),
    ):
        pass


_INTERRUPTED = f"""
import os, signal, sys
from nvdla_tb.run.regress.batch import Batch, BatchError, batch_cluster

try:
    with batch_cluster(Batch("slurm", 1, "{HOST}", {{"memory": "1GB", "quue": "short"}})):
        pass
except BatchError:
    assert "dask_jobqueue.runner" in sys.modules
try:
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_still_interrupts() -> None:
    pytest.importorskip("dask_jobqueue", reason="the optional dask-jobqueue is not installed")
    ended = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "interrupted\n"), ended.stderr


def test_settings_that_the_package_does_not_know_are_refused() -> None:
    pytest.importorskip("dask_jobqueue", reason="the optional dask-jobqueue is not installed")
    with (
        pytest.raises(BatchError, match=r"^SLURMCluster refuses its settings: .*quue"),
        batch_cluster(Batch("slurm", 1, HOST, {"memory": "1GB", "quue": "short"})),
    ):
        pass


@pytest.mark.parametrize(
    ("system", "host", "settings", "message"),
    [
        ("pbs", HOST, {}, "cluster must be one of slurm, lsf, not pbs"),
        ("lsf", "127.0.0.1", {}, "listen must be an address that the nodes of the cluster reach, not 127.0.0.1"),
        ("lsf", "localhost", {}, "listen must be an address that the nodes of the cluster reach, not localhost"),
        (
            "slurm",
            HOST,
            {"cores": 4, "processes": 1, "memory": "8GB"},
            "processes must be cores, 4, as a worker plays one task: not 1",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused(system: str, host: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BatchError, match=rf"^{re.escape(message)}$"):
        Batch(system, 1, host, settings).arguments()


def test_cores_may_come_from_the_configuration_of_dask() -> None:
    with dask.config.set({"jobqueue.slurm.cores": 6}):
        assert Batch("slurm", 1, HOST).arguments()["processes"] == 6
        assert Batch("slurm", 1, HOST, {"cores": 2}).arguments()["processes"] == 2
    assert Batch("lsf", 1, HOST).arguments()["processes"] == 1


def test_settings_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "slurm.toml"
    path.write_text('queue = "long"\ncores = 4\njob_extra_directives = ["--exclusive"]\n')
    assert read_settings(path) == {"queue": "long", "cores": 4, "job_extra_directives": ["--exclusive"]}
    assert read_settings(None) == {}
    path.write_text("queue =")
    with pytest.raises(BatchError, match=r"slurm\.toml: Invalid value"):
        read_settings(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster-settings", "x.toml"], "--cluster-settings must come with --cluster"),
        (
            ["--cluster", "slurm", "--scheduler", "tcp://127.0.0.1:1"],
            "--cluster must not come with --scheduler, which is a cluster of its own",
        ),
        (["--cluster", "slurm"], "listen must be an address that the nodes of the cluster reach, not 127.0.0.1"),
    ],
)
def test_options_that_contradict_each_other_are_refused_before_anything_is_built(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["regress", "random", "--results", str(tmp_path), *options]) == 2
    assert message in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
