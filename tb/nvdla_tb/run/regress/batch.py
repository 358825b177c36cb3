"""Dask clusters whose workers are jobs of a batch system, Slurm or LSF, which asks for the jobs that it loses again.

Batch systems are asked through the optional package ``dask-jobqueue``.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dask import config
from dask.distributed import Adaptive, Client
from distributed.security import Security

from nvdla_models.errors import InputError
from nvdla_models.reading import read_toml
from nvdla_tb.run.regress.cluster import DASHBOARD, SETTINGS, check_versions, quiet

EXTRA = "batch"
"""The extra of ``pyproject.toml`` that brings the package."""

LOST_SECONDS = 20.0
"""How long a job whose workers are gone may take to have some again before another one takes its place."""

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
        security: credentials in a file that the nodes can read, None for none.
        logs: folder for what jobs print, unless the settings name one.
        settings: of the package's cluster class, such as queue, memory and walltime; what is missing comes from
            Dask's configuration, ``jobqueue.SYSTEM``.
    """

    system: str
    workers: int
    host: str
    settings: dict[str, Any] = field(default_factory=dict)
    security: Security | None = None
    logs: Path | None = None

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
        kinds = {"cores": int, "processes": int, "job_script_prologue": list, "scheduler_options": dict}
        for key, kind in kinds.items():
            if not isinstance(settings.get(key, kind()), kind):
                raise BatchError(f"{key} must be {kind.__name__}, not {settings[key]!r}")
        cores = settings.setdefault("cores", config.get(f"jobqueue.{self.system}.cores", None) or 1)
        if settings.setdefault("processes", cores) != cores:
            raise BatchError(
                f"processes must be cores, {cores}, as a worker plays one task: not {settings['processes']}"
            )
        prologue = [f"cd {shlex.quote(os.getcwd())}"]
        return {
            **({} if self.logs is None else {"log_directory": str(self.logs)}),
            **settings,
            **({} if self.security is None else {"security": self.security}),
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
    """Start a scheduler here and workers as jobs, for the time of the block, and give the client.

    Raises:
        BatchError: when the package is not installed, or refuses the settings.
    """
    name = SYSTEMS[batch.system]
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue
    except ImportError as error:
        message = f"--cluster {batch.system} needs the package dask-jobqueue: pip install '.[{EXTRA}]' ({error})"
        raise BatchError(message) from error
    finally:
        # The package lets an interrupt end the program with exit code 0, as soon as it is imported.
        signal.signal(signal.SIGINT, interrupt)
    arguments = batch.arguments()
    try:
        with config.set(SETTINGS):
            started = getattr(dask_jobqueue, name)(**arguments)
    except (TypeError, ValueError) as error:
        raise BatchError(f"{name} refuses its settings: {error}") from error
    quiet()
    with started, Client(started) as client:
        check_versions(client)
        started.scale(batch.workers)
        started.adapt(Replacing, minimum=batch.workers, maximum=batch.workers)
        yield client


class Replacing(Adaptive):  # type: ignore[misc]
    """Keeps as many jobs as were asked for: those that were cancelled, timed out or lost their node are submitted anew.

    Dask replaces workers one by one, by their names, and misses jobs that have several.
    """

    def __init__(self, cluster: Any, **options: Any) -> None:
        super().__init__(cluster, **options)
        self._seen: dict[str, float] = {}

    async def adapt(self) -> None:
        """Give jobs up whose workers, which were there, have been away for long, and ask for as many others."""
        now, there = time.monotonic(), self.observed
        for job, spec in self.cluster.worker_spec.items():
            workers = {f"{job}{suffix}" for suffix in spec["group"]} if "group" in spec else {job}
            if workers & there:
                self._seen[job] = now
        lost = [job for job, seen in self._seen.items() if now - seen > LOST_SECONDS]
        if lost:
            for job in lost:
                del self._seen[job]
            # What the batch system has put back into its queue is cancelled: it would play beside its successor.
            await self.scale_down(lost)
            await self.scale_up(self.minimum)
