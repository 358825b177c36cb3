"""Dask clusters: a local one, and one that runs already; ``batch`` has those of batch systems.

Their processes execute functions of whoever talks to them, so all of them ask for credentials (``credentials``).
All processes of one must have this version of the project, of Python and of Dask.
"""

from __future__ import annotations

import logging
import socket
from asyncio import gather
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dask import config
from dask.distributed import Client, LocalCluster, Nanny
from distributed.comm import CommClosedError
from distributed.security import Security

from nvdla_models.errors import InputError
from nvdla_tb.run.errors import (
    SCHEDULER_LOST,
    STARTED_BY,
    ClusterError,
    NoSchedulerError,
    VersionError,
    causes,
    in_words,
)
from nvdla_tb.run.regress.defaults import LOOPBACK
from nvdla_tb.run.regress.local import interrupts_kept
from nvdla_tb.run.regress.versions import difference, versions

DASHBOARD = f"{LOOPBACK}:0"

_CONNECT_SECONDS = 20
SETTINGS = {
    # A local cluster gives up a worker that is down some time after a death; one that is just starting again stays.
    "distributed.deploy.lost-worker-timeout": "1 day",
    # A driver whose scheduler is gone says so; it does not wait for another one at the same place.
    "distributed.comm.timeouts.connect": f"{_CONNECT_SECONDS}s",
    # What only the dashboard shows: by Dask's own settings each process looks at itself a hundred times a second.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    # Pages without credentials, with the names of tests and what workers are at.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}

_NOT_LOADED = ("ModuleNotFoundError", "ImportError", "AttributeError")
"""Errors of a process without the project, which Dask may wrap in others."""

# Those of which Dask's configuration sets the levels one by one.
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")


@contextmanager
def cluster(
    scheduler: str | None, workers: int, host: str, scratch: Path | None = None, security: Security | None = None
) -> Iterator[Client]:
    """Give the client of a running Dask cluster with an address such as ``tls://host:8786``, or of a local one.

    Without a scheduler, the other arguments are those of ``local_cluster``, which ends with the block. ``security`` has
    the credentials of a running cluster, None for one that wants none.

    Raises:
        InputError: when no scheduler answers.
        ClusterError: when a local cluster does not start.
        VersionError: when the cluster's processes have other versions than this one.
    """
    quiet()
    with config.set(SETTINGS):
        if scheduler is None:
            with local_cluster(workers, host, 0, scratch, security) as local, _connected(local) as client:
                yield client
            return
        with _connected(scheduler, security) as client:
            check_versions(client)
            yield client


@contextmanager
def local_cluster(
    workers: int, host: str, port: int, scratch: Path | None = None, security: Security | None = None
) -> Iterator[LocalCluster]:
    """Start a scheduler and workers here for the time of the block.

    Args:
        workers: How many processes play, each one task at a time.
        host: Address that all of them listen on; the dashboard stays on loopback.
        port: The scheduler's port; 0 takes a free one.
        scratch: Folder for what Dask writes; by default Dask's own, which it clears later.
        security: Credentials that whoever talks to them must have; by default some that nobody else can have.

    Raises:
        ClusterError: when it does not start.
    """
    try:
        with interrupts_kept(), config.set(SETTINGS):
            local = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host=host,
                scheduler_port=port,
                dashboard_address=DASHBOARD,
                memory_limit=0,
                local_directory=scratch,
                silence_logs=logging.CRITICAL,
                security=security or Security.temporary(),
            )
    except (OSError, RuntimeError, TimeoutError) as error:
        raise ClusterError(f"the local cluster did not start: {in_words(error)}") from error
    with closing(local):
        yield local


async def join(scheduler: str, workers: int, security: Security | None = None) -> None:
    """Play with so many processes for a cluster that was started elsewhere, until its scheduler is gone.

    ``security`` has the cluster's credentials, None for one that wants none.

    Raises:
        NoSchedulerError: when the scheduler is gone.
        ClusterError: when the workers do not start.
    """
    options = {"nthreads": 1, "memory_limit": 0, "silence_logs": logging.CRITICAL, "dashboard_address": DASHBOARD}
    try:
        host = _own_address(scheduler)
        with interrupts_kept(), config.set(SETTINGS):
            nannies = [Nanny(scheduler, host=host, security=security, **options) for _ in range(workers)]
            started = await gather(*nannies)
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        if any(isinstance(link, CommClosedError) for link in causes(error)):
            # It went while they started.
            raise NoSchedulerError(SCHEDULER_LOST) from error
        raise ClusterError(f"the workers did not start: {in_words(error)}") from error
    await gather(*(nanny.finished() for nanny in started))
    raise NoSchedulerError(SCHEDULER_LOST)


def check_versions(client: Client) -> None:
    """Check that the scheduler and all workers run this version of the project, of Python and of Dask.

    Raises:
        VersionError: for the first that does not, or cannot import the project.
        NoSchedulerError: when the scheduler is gone.
    """
    address = client.scheduler_info()["address"]
    with talking():
        try:
            _check(f"the scheduler {address}", client.run_on_scheduler(versions))
        except (ImportError, AttributeError, TypeError, ValueError) as error:
            _check(f"the scheduler {address}", error)
        for worker, answer in client.run(versions, on_error="return").items():
            # One that has died meanwhile says nothing; should it come back, it is asked with its first task.
            if not isinstance(answer, Exception) or any(name in repr(answer) for name in _NOT_LOADED):
                _check(f"the worker {worker}", answer)


@contextmanager
def talking() -> Iterator[None]:
    """Turn what Dask raises when a scheduler is gone into the one error for it.

    Raises:
        NoSchedulerError: when the block could not talk to the scheduler.
    """
    try:
        yield
    except CancelledError as error:
        raise NoSchedulerError(SCHEDULER_LOST) from error
    except OSError as error:
        # Dask's own have no number: connections that were closed, and those that took too long. Files' have one.
        if error.errno is not None and not isinstance(error, ConnectionError):
            raise
        raise NoSchedulerError(SCHEDULER_LOST) from error


def quiet() -> None:
    """Keep Dask from telling on the terminal what the driver finds out and says itself."""
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _connected(to: str | LocalCluster, security: Security | None = None) -> Iterator[Client]:
    try:
        client = Client(to, timeout=f"{_CONNECT_SECONDS}s", security=security)
    except (OSError, TimeoutError, ValueError) as error:
        if not isinstance(to, str):
            raise ClusterError(f"the local cluster did not start: {in_words(error)}") from error
        having = "" if security is None else f" with the credentials in {security.tls_ca_file}"
        raise InputError(f"scheduler must be the address of a running Dask scheduler{having}, not {to}") from error
    try:
        yield client
    finally:
        # One that is gone need not hear that nobody listens any more.
        with suppress(OSError, TimeoutError, CancelledError):
            client.close(timeout=_CONNECT_SECONDS)


def _own_address(scheduler: str) -> str:
    """Return the address of this machine that a scheduler sees, so that workers listen there alone."""
    parts = urlsplit(scheduler)
    with socket.create_connection((parts.hostname, parts.port), timeout=_CONNECT_SECONDS) as connection:
        return str(connection.getsockname()[0])


def _check(who: str, answer: Any) -> None:
    """Check what a process has answered: its versions, or why it could not."""
    if isinstance(answer, Exception):
        raise VersionError(f"{who} cannot load the project ({in_words(answer)}); {STARTED_BY}")
    found = difference(answer)
    if found is not None:
        raise VersionError(f"{who} has other versions: {found}; {STARTED_BY}")
