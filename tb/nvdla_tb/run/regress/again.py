"""Failures of a regression played again once all tests have ended: for what is wrong inside, and for waves."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run import folders
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.folders import failure_folder
from nvdla_tb.run.inside import is_worth_it, watched
from nvdla_tb.run.jobs import Job, Setup, run_job, save_view
from nvdla_tb.run.regress.worker import NO_WAVES_FILE, Limits, built_for, job_of, no_waves, note_no_waves
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Result

_FOLDER = "again"


def look_again(task: Task, failures: Mapping[str, Result], limits: Limits, until: float) -> Result:
    """Play a failure again on a worker, and return it with what was seen inside; its folder gets waves.

    Args:
        task: Its task, whose folder is there.
        failures: Results of failures by their keys, as the store has them.
        limits: Those of the run.
        until: When it ends, in seconds since 1970: a simulation or a build that takes longer is killed.
    """
    result, folder, job = failures[task.key], failure_folder(limits.folder, task.key), job_of(task, limits)
    try:
        if is_worth_it(result):
            built = built_for(task.dut, task.plusargs, limits)
            result = watched(job, result, Setup(built, task.dut, _left(limits, until)), folder)
        if limits.waves and no_waves(result) is None:
            _add_waves(task, job, folder, limits, until)
            save_view(result, folder)
    except (LaunchError, InputError) as error:
        note_no_waves(job, folder, str(error))
    except _TimeIsOverError:
        note_no_waves(job, folder, "the time for explaining failures was over")
    return msgspec.structs.replace(result, folder=str(folder))


def lacks_waves(result: Result) -> bool:
    """Return whether a failure that may leave waves has none in its folder, or none that are whole."""
    return no_waves(result) is None and (Path(result.folder or "") / NO_WAVES_FILE).is_file()


class _TimeIsOverError(Exception):
    """Nobody waits any longer."""


class _Clock:
    """Hears of the steps of a build, and ends it when the time is over."""

    def __init__(self, until: float) -> None:
        self._until = until

    def say(self, text: str) -> None:
        """Take a line that nobody reads."""

    def progress(self, text: str) -> None:
        """Take how far it is.

        Raises:
            _TimeIsOverError: when the time is over.
        """
        if time.time() > self._until:
            raise _TimeIsOverError(text)


def _left(limits: Limits, until: float) -> float:
    """Return how long a simulation may take.

    Raises:
        _TimeIsOverError: when there is no time left.
    """
    left = until - time.time()
    if left <= 0:
        raise _TimeIsOverError
    return min(limits.timeout_seconds, left)


def _add_waves(task: Task, job: Job, folder: Path, limits: Limits, until: float) -> None:
    """Play a failure again with a model that writes waves, and leave them in its folder."""
    _left(limits, until)
    built = build(build_spec(task.dut, waves=True), limits.build_root, _Clock(until))
    again = folders.emptied(folder, _FOLDER)
    played = run_job(replace(job, kept=folder), Setup(built, task.dut, _left(limits, until), waves=True), again)
    left = list(again.glob("waves.*"))
    for path in left:
        path.replace(folder / path.name)
    folders.remove(folder, _FOLDER)
    if played.ending is Ending.TIMEOUT:
        # Save files are written when the failure has been explained, at the end.
        note_no_waves(job, folder, "the time was over before waves and save files were whole")
    elif left:
        (folder / NO_WAVES_FILE).unlink(missing_ok=True)
