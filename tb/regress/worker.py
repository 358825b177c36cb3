"""What a worker does with one task: build once, play, keep what is worth keeping, and leave a record."""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from models.config import HwConfig
from tb.coverage.collect import Collector
from tb.coverage.model import load_model
from tb.coverage.steer import reached
from tb.launch import folders
from tb.launch.build import COVERAGE_FILE, Built, build
from tb.launch.errors import LaunchError
from tb.launch.simulate import simulate
from tb.regress import bundle, code_coverage
from tb.regress.jobs import Job, run_job, shared_process
from tb.regress.record import Ending, Record, failure_folder, record_of, record_of_test
from tb.regress.shared import SharedProcess
from tb.regress.task import BENCH, Dut, Task

RECORD_DIR = "records"
"""Folder of a run with one file per task that ended, whether or not the driver heard of it."""

_WORKER_DIR = ".worker-"
"""Begins the names of the folders of a run in which its workers play."""

_MOST_WAVE_CYCLES = 300_000
"""Longer failures leave no waves, which would fill a disk; ``replay --waves`` writes them."""

NO_WAVES_FILE = "no_waves.txt"
"""Says in the folder of a failure without waves why, and how to get them."""

_COUNTED_TOGETHER = 16
"""Scenarios in one process that counts code coverage: to start it and to write its counts takes longer than most of
them. So many at most go uncounted when the process or its worker dies."""

_processes: dict[tuple[int, Dut, Limits], SharedProcess] = {}
_numbers = count()
_with_waves: set[tuple[Ending, str]] = set()


@dataclass(frozen=True)
class Limits:
    """Where and how tasks of a run are played.

    Attributes:
        folder: The run's folder, which all workers see.
        build_root: Folder that holds all builds.
        timeout_seconds: Wall-clock limit of each simulation.
        coverage: Folder of the coverage model, or None to count nothing.
        waves: Whether failures are played again for their waves.
        isolated: Whether every scenario must have a simulator process of its own; else a worker's scenarios
            share one where they can.
    """

    folder: Path
    build_root: Path
    timeout_seconds: float
    coverage: Path | None = None
    waves: bool = False
    isolated: bool = False


def execute(task: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Play a task and return its record, both as plain data; the record is in the run's folder before.

    A task whose record is there is not played again: its worker died after it had ended. Whatever goes
    wrong is the task's ending, never this function's.
    """
    parsed = Task.from_dict(task)
    path = record_path(limits.folder, parsed.key)
    if path.is_file():
        return dict(json.loads(path.read_text(encoding="utf-8")))
    record = _play(parsed, limits).to_dict()
    folders.made(limits.folder, RECORD_DIR)
    partial = path.with_suffix(f".{_worker()}")
    with partial.open("w", encoding="utf-8") as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    return record


def record_path(folder: Path, key: str) -> Path:
    """Return the file that a task's record is written to."""
    return folder / RECORD_DIR / f"{folders.folder_name(key)}.json"


def remove_worker_folders(run_folder: Path) -> None:
    """Remove what workers of a run have left of tasks that they did not end."""
    for folder in run_folder.glob(f"{_WORKER_DIR}*"):
        # A worker that has lost its driver may still write there; and what is not ours stays.
        with suppress(OSError, folders.FolderError):
            folders.remove(run_folder, folder.name)


def _worker() -> str:
    return f"{os.uname().nodename}-{os.getpid()}"


def _worker_name() -> str:
    """Return the name of this worker's folder in a run.

    No other worker plays there: one that has lost its driver may still be at the same task.
    """
    return f"{_WORKER_DIR}{folders.folder_name(_worker())}"


def _play(task: Task, limits: Limits) -> Record:
    started = time.monotonic()
    name = folders.folder_name(task.key)
    try:
        work_dir = folders.emptied(limits.folder, _worker_name(), name)
        # Before anything is played: a folder that is not ours shall not keep a failure from being told.
        folders.remove(limits.folder, name)
        built = _built(task.dut, limits.build_root)
        play = _play_test if task.kind == BENCH else _play_scenario
        record = play(task, built, work_dir, limits)
        if record.ending.is_failure:
            if limits.waves and task.kind != BENCH:
                _add_waves(task, record, work_dir, limits)
            record = replace(record, folder=str(failure_folder(limits.folder, task.key)))
            bundle.write(work_dir, task, record)
            folders.remove(limits.folder, name)
            work_dir.rename(limits.folder / name)
            return record
        if task.dut.coverage is not None:
            code_coverage.keep(work_dir, limits.folder)
    except LaunchError as error:
        return Record(task.key, Ending.BUILD_ERROR, (str(error),), seconds=time.monotonic() - started)
    except Exception:
        # Whatever a plan, a generator, a model or the bench raises is this task's ending, not the worker's.
        return Record(task.key, Ending.BENCH_ERROR, (traceback.format_exc(),), seconds=time.monotonic() - started)
    with suppress(OSError):
        folders.remove(limits.folder, _worker_name(), name)
    return replace(record, folder=None)


def _add_waves(task: Task, record: Record, work_dir: Path, limits: Limits) -> None:
    """Play a failure again with a model that writes waves, and leave them in its folder, or why there are none.

    Of failures that share a signature, a worker does so for the first.
    """
    reason, built = _no_waves(record), None
    if reason is None:
        _with_waves.add((record.ending, record.signature))
        try:
            built = build(task.dut.build_spec(waves=True), limits.build_root)
        except LaunchError as error:
            reason = str(error)
    if built is None:
        (work_dir / NO_WAVES_FILE).write_text(f"{reason}\n{_job(task, limits).rerun} --waves\n", encoding="utf-8")
        return
    again = folders.emptied(work_dir, "again")
    run_job(_job(task, limits), built, task.dut.config, again, limits.timeout_seconds, waves=True)
    for path in again.glob("waves.*"):
        path.replace(work_dir / path.name)
    folders.remove(work_dir, again.name)


def _no_waves(record: Record) -> str | None:
    """Return why a failure is not played again for its waves, None when it is."""
    cycles = record.facts.get("cycles", 0)
    if cycles > _MOST_WAVE_CYCLES:
        return f"failures must take at most {_MOST_WAVE_CYCLES} cycles to leave waves, not {cycles}"
    if (record.ending, record.signature) in _with_waves:
        return "another failure of this worker with the same signature has waves"
    return None


def _play_scenario(task: Task, built: Built, work_dir: Path, limits: Limits) -> Record:
    job = _job(task, limits)
    process = None if limits.isolated else _process(task.dut, limits)
    result = run_job(job, built, task.dut.config, work_dir, limits.timeout_seconds, waves=False, process=process)
    record = record_of(task.key, result)
    if process is not None and task.dut.coverage is not None:
        if record.ending.is_failure:
            process.close()
            (process.work_dir / COVERAGE_FILE).unlink(missing_ok=True)
        elif process.scenarios >= _COUNTED_TOGETHER:
            _end(process, limits)
    if limits.coverage is None or record.ending is not Ending.PASSED:
        return record
    return replace(record, coverage=reached(collector_of(limits.coverage, task.dut.config), job.make()))


def _job(task: Task, limits: Limits) -> Job:
    """Return the job of a task, which is played again from the bundle that it leaves when it fails."""
    return replace(task.job(), rerun=bundle.replay_command(failure_folder(limits.folder, task.key)))


def _play_test(task: Task, built: Built, work_dir: Path, limits: Limits) -> Record:
    """Play a test in Python, whose name is ``MODULE.FUNCTION`` with the last part of its module."""
    result = simulate(
        built,
        test_module=task.source,
        testcase=task.test.rpartition(".")[2],
        env={"NVDLA_CONFIG": task.dut.config},
        work_dir=work_dir,
        timeout_seconds=limits.timeout_seconds,
    )
    return record_of_test(task.key, result)


@cache
def collector_of(model: Path, config: str) -> Collector:
    """Return this process's counter for a coverage model and a configuration."""
    return Collector(load_model(model, HwConfig.load(config)))


def end_processes() -> None:
    """End the simulators that this worker keeps for scenarios to come, once no run needs them."""
    while _processes:
        (_, _, limits), process = _processes.popitem()
        _end(process, limits)


def _process(dut: Dut, limits: Limits) -> SharedProcess | None:
    """Return the simulator process of this thread's scenarios on a device, if they can share one."""
    key = threading.get_ident(), dut, limits
    if key not in _processes:
        built = _built(dut, limits.build_root)
        if not SharedProcess.fits(built):
            return None
        folder = folders.made(limits.folder, _worker_name(), f".simulator-{next(_numbers)}")
        _processes[key] = shared_process(built, dut.config, folder)
    return _processes[key]


def _end(process: SharedProcess, limits: Limits) -> None:
    """End a simulator, and keep what it has counted of the RTL's code."""
    process.close()
    code_coverage.keep(process.work_dir, limits.folder)


atexit.register(end_processes)


@cache
def _built(dut: Dut, root: Path) -> Built:
    return build(dut.build_spec(waves=False), root)
