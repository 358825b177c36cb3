"""The work of a worker on one task: build once, play, keep the files of failures, and leave a record."""

from __future__ import annotations

import atexit
import os
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_tb.coverage.model import model_of
from nvdla_tb.coverage.reach import reached
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run import folders
from nvdla_tb.run.compile.spec import COVERAGE_FILE, Built
from nvdla_tb.run.errors import LaunchError, VersionError
from nvdla_tb.run.evidence import check_unchanged
from nvdla_tb.run.folders import failure_folder
from nvdla_tb.run.jobs import Job, Setup, keep_page, run_job
from nvdla_tb.run.optimise import Model
from nvdla_tb.run.regress import bundle, code_coverage
from nvdla_tb.run.regress.versions import PROJECT, versions
from nvdla_tb.run.simulate import SharedProcess
from nvdla_tb.run.space import MACHINE, check_space
from nvdla_tb.run.systems import is_nvdla
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.writing import writing

RECORD_DIR = "records"
"""Folder of a run with one file for each task that ended, whether or not the driver heard of it."""

_PARTIAL = ".part-"
"""Begins the names of records that are being written."""

_WORKER_DIR = ".worker-"
"""Begins the names of the folders of a run in which its workers play."""

_MOST_WAVE_CYCLES = 300_000
"""Longer failures leave no waves, which would fill a disk; ``replay --waves`` writes them."""

NO_WAVES_FILE = "no_waves.txt"
"""Says in the folder of a failure without waves why, and how to get them."""

ONE_OF_EACH = "once all tests have ended, the shortest failure of each signature gets waves"
"""The reason of the others."""

_COUNTED_TOGETHER = 16
"""Scenarios in one process that counts code coverage: to start it and to write its counts takes longer than most of
them. So many at most go uncounted when the process or its worker dies, and all where each leaves its own counts."""

_processes: dict[tuple[int, Dut, tuple[str, ...], Limits], SharedProcess] = {}
_numbers = count()


@dataclass(frozen=True)
class Limits:
    """Where and how tasks of a run are played.

    Attributes:
        folder: The run's folder, which all workers see.
        build_root: Folder that holds all builds.
        timeout_seconds: Wall-clock limit of each simulation.
        waves: Whether failures are played again for their waves, once all tests have ended.
        isolated: Whether every scenario must have a simulator process of its own; else a worker's scenarios
            share one where they can.
        build: How models are compiled, one of ``BUILDS``, or None for optimised ones once they are there.
        project: Version of the project that workers must have, or None for any.
        counts: Folder for what each scenario reaches of the RTL's code, see ``counts_path``; None to leave nothing.
    """

    folder: Path
    build_root: Path
    timeout_seconds: float
    waves: bool = False
    isolated: bool = False
    build: str | None = None
    project: str | None = None
    counts: Path | None = None


def execute(task: Task, limits: Limits) -> Result:
    """Play a task and return its result, which is in the run's folder before.

    A task whose result is there is not played again: its worker died after it had ended. One that was lost is not
    put there: it says nothing about the device, and whoever resumes the run shall play it. Whatever goes wrong with
    the task is its ending, never this function's.

    Raises:
        VersionError: when this worker, which may have joined late, has another version of the project.
        OSError: when the result cannot be written.
    """
    if limits.project not in (None, versions()[PROJECT]):
        raise VersionError(
            f"the worker {_worker()} must have version {limits.project} of the project, not {versions()[PROJECT]}"
        )
    path = record_path(limits.folder, task.key)
    if path.is_file():
        return Result.load(path)
    result = _play(task, limits)
    if result.ending is Ending.LOST:
        return result
    folders.made(limits.folder, RECORD_DIR)
    partial = path.with_name(f"{_PARTIAL}{path.name}.{_worker()}")
    with writing(path):
        with partial.open("wb") as file:
            file.write(result.encode())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    return result


def record_path(folder: Path, key: str) -> Path:
    """Return the file that a task's result is written to."""
    return folder / RECORD_DIR / f"{folders.folder_name(key)}.json"


def counts_path(folder: Path, key: str) -> Path:
    """Return the file of 32 bits for each point of the RTL's code that a task has reached."""
    return folder / f"{folders.folder_name(key)}.counts"


def remove_worker_folders(run_folder: Path) -> None:
    """Remove what workers of a run have left of tasks that they did not end."""
    for folder in run_folder.glob(f"{_WORKER_DIR}*"):
        # A worker that has lost its driver may still write there; and what is not ours stays.
        with suppress(OSError, folders.FolderError):
            folders.remove(run_folder, folder.name)


def worker_folder_name(name: str) -> str:
    """Return the name of a folder of a run that ``remove_worker_folders`` removes."""
    return f"{_WORKER_DIR}{folders.folder_name(name)}"


def remove_partial_records(run_folder: Path) -> None:
    """Remove records that workers have begun and not ended, once nobody plays the run any more."""
    for path in (run_folder / RECORD_DIR).glob(f"{_PARTIAL}*"):
        path.unlink(missing_ok=True)


def _worker() -> str:
    return f"{os.uname().nodename}-{os.getpid()}"


def _worker_name() -> str:
    """Return the name of this worker's folder in a run.

    No other worker plays there: one that has lost its driver may still be at the same task.
    """
    return worker_folder_name(_worker())


def _play(task: Task, limits: Limits) -> Result:
    started = time.monotonic()
    name = folders.folder_name(task.key)
    try:
        work_dir = folders.emptied(limits.folder, _worker_name(), name)
        # Before anything is played: a folder that is not ours shall not keep a failure from being told.
        folders.remove(limits.folder, name)
        built = built_for(task.dut, task.plusargs, limits)
        result = _played(task, built, work_dir, limits)
        if result.ending.is_failure:
            check_space(work_dir)
        if result.ending is Ending.LOST:
            # It will be played again.
            folders.remove(limits.folder, _worker_name(), name)
            return msgspec.structs.replace(result, folder=None)
        if result.ending.is_failure:
            if limits.waves:
                note_no_waves(job_of(task, limits), work_dir, no_waves(result) or ONE_OF_EACH)
            kept = failure_folder(limits.folder, task.key)
            result = msgspec.structs.replace(result, folder=str(kept))
            bundle.write(work_dir, task, result)
            folders.remove(limits.folder, name)
            work_dir.rename(limits.folder / name)
            return result
        if task.dut.coverage is not None:
            code_coverage.keep(work_dir, limits.folder)
    except LaunchError as error:
        check_space(limits.folder)
        return _broken(task, limits, Verdict.of(Check.BUILD, str(error)), started)
    except InputError as error:
        return _broken(task, limits, Verdict.of(Check.BENCH, str(error)), started)
    except Exception as error:
        check_space(limits.folder)
        if isinstance(error, OSError) and error.errno in MACHINE:
            raise
        # Whatever a plan, a generator, a model or the bench raises is this task's ending, not the worker's.
        message = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        return _broken(task, limits, Verdict.of(Check.BENCH, message), started)
    with suppress(OSError):
        folders.remove(limits.folder, _worker_name(), name)
    # It leaves no bundle to replay.
    return msgspec.structs.replace(result, folder=None, rerun=task.rerun, rerun_waves=None)


def _broken(task: Task, limits: Limits, verdict: Verdict, started: float) -> Result:
    """Return the result of a task that could not be played to its end; all that it leaves is a page."""
    result = task.result(verdict, time.monotonic() - started)
    with suppress(OSError, folders.FolderError):
        # Without a folder for it the failure is told all the same.
        folder = folders.emptied(limits.folder, folders.folder_name(task.key))
        keep_page(result, folder)
        return msgspec.structs.replace(result, folder=str(folder))
    return result


def note_no_waves(job: Job, folder: Path, reason: str) -> None:
    """Say in the folder of a failure why it has no waves, and how to get them."""
    (folder / NO_WAVES_FILE).write_text(f"{reason}\n{job.rerun_waves or job.rerun}\n", encoding="utf-8")


def no_waves(result: Result) -> str | None:
    """Return why a failure is not played again for its waves, None when it may be."""
    if result.after is not None:
        return f"it passes when it is played alone, without {result.after} before it"
    cycles = result.verdict.cycles
    if cycles > _MOST_WAVE_CYCLES:
        return f"failures must take at most {_MOST_WAVE_CYCLES} cycles to leave waves, not {cycles}"
    return None


def _played(task: Task, built: Built, work_dir: Path, limits: Limits) -> Result:
    job = job_of(task, limits)
    process = None if limits.isolated or job.test is not None else _process(task.dut, task.plusargs, limits)
    result = run_job(job, Setup(built, task.dut, limits.timeout_seconds), work_dir, process)
    if process is not None and task.dut.coverage is not None:
        if result.ending.is_failure:
            process.close()
            (process.work_dir / COVERAGE_FILE).unlink(missing_ok=True)
        elif process.scenarios >= _COUNTED_TOGETHER and limits.counts is None:
            _end(process, limits)
    if result.ending is not Ending.PASSED or job.test or not is_nvdla(task.dut.config):
        return result
    return msgspec.structs.replace(result, coverage=reached(model_of(task.dut.config), job.nvdla_scenario()))


def job_of(task: Task, limits: Limits) -> Job:
    """Return the job of a task; a scenario that fails is played again from the bundle that it leaves.

    Its scenario is made once, although it is played and its coverage is counted.
    """
    job, kept = task.job(), failure_folder(limits.folder, task.key)
    if job.test is not None:
        return replace(job, waves_option=None, kept=kept)
    counts = None if limits.counts is None else counts_path(limits.counts, task.key)
    return replace(job, make=cache(job.make), rerun=bundle.replay_command(kept, task), kept=kept, counts=counts)


def end_processes() -> None:
    """End the simulators that this worker keeps for scenarios to come, once no run needs them."""
    while _processes:
        (_, _, _, limits), process = _processes.popitem()
        _end(process, limits)


def _process(dut: Dut, plusargs: tuple[str, ...], limits: Limits) -> SharedProcess:
    """Return the simulator process of this thread's scenarios on a device."""
    key = threading.get_ident(), dut, plusargs, limits
    built = built_for(dut, plusargs, limits)
    process = _processes.get(key)
    if process is not None and process.built.directory == built.directory:
        return process
    if process is not None:
        _end(process, limits)
    folder = folders.made(limits.folder, _worker_name(), f".simulator-{next(_numbers)}")
    _processes[key] = SharedProcess(built, folder, plusargs)
    return _processes[key]


def _end(process: SharedProcess, limits: Limits) -> None:
    """End a simulator, and keep what it has counted of the RTL's code."""
    process.close()
    code_coverage.keep(process.work_dir, limits.folder)


atexit.register(end_processes)


def built_for(dut: Dut, plusargs: tuple[str, ...], limits: Limits) -> Built:
    """Return the model to play on now, whose content must be that with which the run was started."""
    built = _model(dut, limits.build_root, limits.build).current()
    _check_unchanged(dut, plusargs)
    return built


@cache
def _check_unchanged(dut: Dut, plusargs: tuple[str, ...]) -> None:
    """Check it once: from then on this worker plays on the same model."""
    check_unchanged(dut, plusargs)


@cache
def _model(dut: Dut, root: Path, build: str | None) -> Model:
    return Model(dut, root, build)
