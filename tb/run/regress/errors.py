"""Errors of a regression that no task is to blame for."""

from __future__ import annotations

from models.errors import InputError
from tb.places import COMMAND

LOOPBACK = "127.0.0.1"
PORT = 8786
"""Where Dask's own commands look for a scheduler."""

SCHEDULER_LOST = "the connection to the scheduler is lost"
STARTED_BY = f"start scheduler and workers with: {COMMAND} cluster"


class ClusterError(InputError):
    """A cluster that cannot play, or not any more; what was played is in the store, or lies beside the run."""


class NoSchedulerError(ClusterError):
    """A scheduler that is gone."""


class NoWorkersError(ClusterError):
    """A cluster whose workers are all gone."""


class VersionError(ClusterError):
    """A scheduler or worker that cannot import the project, or has another version of it or of Dask."""


class StoreError(InputError):
    """A store that cannot be read or written: damaged, locked, read-only, of another version, or its disk is full."""
