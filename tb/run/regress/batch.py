"""Clusters whose workers are jobs of a batch system, Slurm or LSF, through the optional package ``dask-jobqueue``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask
from dask.distributed import Client

from models.errors import InputError
from models.reading import read_toml
from tb.places import IMPORTED_FROM
from tb.run.regress.cluster import DASHBOARD, check_versions, quiet

EXTRA = "batch"
"""The extra of ``pyproject.toml`` that brings the package."""

SYSTEMS = {"slurm": "SLURMCluster", "lsf": "LSFCluster"}


class BatchError(InputError):
    """A batch system that cannot be used: the package is missing, or its settings are wrong."""


@dataclass(frozen=True)
class Batch:
    """A batch system and how to ask it for workers.

    Attributes:
        system: key of ``SYSTEMS``.
        workers: how many to ask for; a job has as many as cores.
        host: address that the scheduler listens on, which the nodes must reach.
        settings: of the package's cluster class, such as queue, memory and walltime; what is missing comes from
            Dask's configuration, ``jobqueue.SYSTEM``.
    """

    system: str
    workers: int
    host: str
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.system not in SYSTEMS:
            raise BatchError(f"cluster must be one of {', '.join(SYSTEMS)}, not {self.system}")
        if self.host in ("localhost", "::1") or self.host.startswith("127."):
            raise BatchError(f"listen must be an address that the nodes of the cluster reach, not {self.host}")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the package's class: as many workers a job as cores, each with one thread.

        Raises:
            BatchError: when the settings say something else.
        """
        settings = dict(self.settings)
        for key, kind in (
            ("cores", int),
            ("processes", int),
            ("job_script_prologue", list),
            ("scheduler_options", dict),
        ):
            if not isinstance(settings.get(key, kind()), kind):
                raise BatchError(f"{key} must be {kind.__name__}, not {settings[key]!r}")
        configured = dask.config.get(f"jobqueue.{self.system}.cores", None)
        cores = settings.setdefault("cores", configured or 1)
        if settings.setdefault("processes", cores) != cores:
            raise BatchError(
                f"processes must be cores, {cores}, as a worker plays one task: not {settings['processes']}"
            )
        prologue = [f"cd {shlex.quote(os.getcwd())}", f"export PYTHONPATH={shlex.quote(str(IMPORTED_FROM))}"]
        return {
            **settings,
            "python": settings.get("python", sys.executable),
            "job_script_prologue": [*settings.get("job_script_prologue", []), *prologue],
            "scheduler_options": {
                "dashboard_address": DASHBOARD,
                **settings.get("scheduler_options", {}),
                "host": self.host,
            },
        }


def read_settings(path: Path | None) -> dict[str, Any]:
    """Return the settings of a TOML file; none without a file, so that those of Dask's own configuration hold.

    Raises:
        BatchError: for a file that cannot be read.
    """
    if path is None:
        return {}
    return read_toml(path, BatchError)


@contextmanager
def batch_cluster(batch: Batch) -> Iterator[Client]:
    """Start a scheduler here and workers as jobs, for the time of the block.

    Args:
        batch: the system and its settings.

    Yields:
        The client.

    Raises:
        BatchError: when the package is not installed, or refuses the settings.
    """
    name = SYSTEMS[batch.system]
    try:
        import dask_jobqueue
    except ImportError as error:
        message = f"--cluster {batch.system} needs the package dask-jobqueue: pip install '.[{EXTRA}]' ({error})"
        raise BatchError(message) from error
    arguments = batch.arguments()
    try:
        started = getattr(dask_jobqueue, name)(**arguments)
    except (TypeError, ValueError) as error:
        raise BatchError(f"{name} refuses its settings: {error}") from error
    quiet()
    with started, Client(started) as client:
        check_versions(client)
        started.scale(batch.workers)
        yield client
