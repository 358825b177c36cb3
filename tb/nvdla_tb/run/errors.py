"""Errors between a filelist and a running simulation, and those of a regression that no task is to blame for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_tb.paths import COMMAND


class LaunchError(InputError):
    """Something the user gave cannot be built or run; the message says what and why."""


class FileListError(LaunchError):
    """A filelist that cannot be read; the message begins with file and line."""


class PortError(LaunchError):
    """The RTL's top ports differ from the configuration's; the message lists every difference."""


class ToolError(LaunchError):
    """A tool is missing; the message says how to install it."""


class BuildError(LaunchError):
    """A tool refused the RTL; the message ends with the relevant lines of its log.

    Attributes:
        log_path: The complete log, or None when no tool was started.
    """

    def __init__(self, *lines: str, log_path: Path | None = None) -> None:
        super().__init__(*lines)
        self.log_path = log_path


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


def in_words(error: BaseException) -> str:
    """Return an error, or what caused it, in one line."""
    *_, first = causes(error)
    return f"{type(first).__name__}: {first}".splitlines()[0]


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what caused it, and so on."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__
