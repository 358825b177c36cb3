"""Plays tasks that take a second each on jobs of Slurm: ``slurm_driver.py FOLDER ADDRESS TASKS``."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from nvdla_tb.run.regress.batch import Batch, batch_cluster
from nvdla_tb.run.regress.credentials import security_of
from nvdla_tb.run.regress.dask_pool import DaskPool
from nvdla_tb.run.regress.schedule import drive
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import Limits
from tests.unit.run.regress.tasks import pretend, task

SETTINGS = {"queue": "short", "memory": "500MB", "walltime": "00:01:00"}
WORKERS = 3


def main(folder: Path, address: str, tasks: int) -> None:
    """Play so many, and end when all have ended."""
    security = security_of(None, folder / "cluster.pem", insecure=False)
    batch = Batch("slurm", WORKERS, address, SETTINGS, security, folder / "jobs")
    with Store(folder / "results.sqlite") as store, batch_cluster(batch) as client:
        run = store.start("random", [task(seed) for seed in range(tasks)])
        for _ in drive(
            store, run, DaskPool(client), Limits(run.folder, folder, 1.0), patience_seconds=math.inf, play=pretend
        ):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
