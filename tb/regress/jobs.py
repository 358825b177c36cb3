"""Jobs: scenarios to play, each in a folder of its own, several at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tb.launch import folders
from tb.launch.build import Built
from tb.launch.process import threads
from tb.launch.simulate import Outcome as SimOutcome
from tb.launch.simulate import SimResult, simulate
from tb.regress.shared import SharedProcess
from tb.scenario import Scenario
from tb.trace import write
from tb.verdict import Outcome

ENTRY_MODULE = "tb.sim.entry"
RESULT_FILE = "result.json"
_LOG_LINES = 12

_LEAN = {
    # Rewriting asserts costs more than all the rest of the start, and nothing here shows them.
    "COCOTB_REWRITE_ASSERTION_FILES": "",
    "PYGPI_USERS": "tb.sim.lean:load",
    # Simulations run side by side; threads of one would only take processors from another.
    "OPENBLAS_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Job:
    """One scenario to play; ``TEST.SEED`` identifies it, ``rerun`` is the command that repeats just it.

    ``make`` builds the scenario, or reads it; ``refused`` is why it is not played at all, ``refusable`` whether it
    may be refused while it is played, as a trace may, which is no failure then. ``plusargs`` are the simulator's,
    ``variables`` more environment of the test; ``waves`` says whether ``rerun`` takes ``--waves``.
    """

    name: str
    seed: int
    rerun: str
    make: Callable[[], Scenario]
    refused: str | None = None
    refusable: bool = False
    plusargs: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    waves: bool = True

    @property
    def identity(self) -> str:
        """``TEST.SEED``."""
        return f"{self.name}.{self.seed}"


@dataclass(frozen=True)
class JobResult:
    """How one job ended; ``facts`` are the verdict's counts, empty when the simulation left none.

    ``simulation`` is how the simulation itself ended, or None when there was none.
    """

    job: Job
    outcome: Outcome
    complaints: tuple[str, ...]
    seconds: float
    work_dir: Path | None
    facts: dict[str, Any] = field(default_factory=dict)
    simulation: SimOutcome | None = None


def bit_exact(job: Job) -> Job:
    """Return the job with FP16 compared bit by bit, not by the published thresholds."""

    def make() -> Scenario:
        scenario = job.make()
        return replace(scenario, settings=replace(scenario.settings, exact=True))

    return replace(job, make=make)


def stopping_at_first(job: Job) -> Job:
    """Return the job that ends soon after its first wrong byte."""

    def make() -> Scenario:
        scenario = job.make()
        return replace(scenario, settings=replace(scenario.settings, stop_at_first=True))

    return replace(job, make=make, rerun=f"{job.rerun} --stop-at-first")


def run_jobs(
    jobs: Sequence[Job],
    built: Built,
    config_name: str,
    root: Path,
    *,
    workers: int,
    timeout_seconds: float,
    isolated: bool = False,
    waves: bool = False,
) -> Iterator[JobResult]:
    """Play jobs and yield their results as they end.

    Args:
        jobs: What to play.
        built: The compiled model.
        config_name: Name or path of the configuration, as the simulator process will load it.
        root: Folder that gets one folder per job, named after it.
        workers: Simulations at a time.
        timeout_seconds: Wall-clock limit of each.
        isolated: Whether every job must have a simulator process of its own; else they share one per worker
            where they can.
        waves: Whether to write waves.
    """
    alone = isolated or not SharedProcess.fits(built)
    processes = [
        None if alone else shared_process(built, config_name, root / f".simulator-{number}")
        for number in range(workers)
    ]
    free: SimpleQueue[SharedProcess | None] = SimpleQueue()
    for process in processes:
        free.put(process)

    def play(job: Job) -> JobResult:
        process = free.get()
        try:
            name = folders.folder_name(job.identity)
            work_dir = folders.emptied(root, name) if job.refused is None else folders.place(root, name)
            return run_job(job, built, config_name, work_dir, timeout_seconds, waves, process)
        finally:
            free.put(process)

    try:
        with threads(workers) as pool:
            futures = [pool.submit(play, job) for job in jobs]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()
    finally:
        for process in processes:
            if process is not None:
                process.close()


def shared_process(built: Built, config_name: str, work_dir: Path, plusargs: tuple[str, ...] = ()) -> SharedProcess:
    """Return a process that ``run_job`` can play jobs in, one after the other.

    Args:
        built: A compiled model with the native back end.
        config_name: Name or path of the configuration, as the simulator process will load it.
        work_dir: Folder for what the process says between jobs.
        plusargs: Arguments for the simulator; only jobs with the same ones can be played in it.
    """
    environment = {**lean_environment(built), "NVDLA_CONFIG": config_name}
    return SharedProcess(built, f"{ENTRY_MODULE}.serve", environment, work_dir, plusargs)


def lean_environment(built: Built) -> dict[str, str]:
    """Return variables with which a simulator process of a model starts fastest."""
    if not os.environ.get("PYTHONDONTWRITEBYTECODE"):
        return _LEAN
    # Who wants no bytecode beside the sources shall not wait for all of them to be compiled every time.
    bytecode = built.directory.parent / "bytecode"
    return {**_LEAN, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(bytecode)}


def run_entry(
    built: Built,
    test: str,
    config_name: str,
    work_dir: Path,
    *,
    timeout_seconds: float,
    variables: Mapping[str, str],
    waves: bool = False,
    plusargs: Sequence[str] = (),
) -> tuple[SimResult, dict[str, Any] | None]:
    """Run one of the entry module's tests.

    Args:
        built: The compiled model.
        test: Name of the test function.
        config_name: Name or path of the configuration.
        work_dir: Folder for everything the run leaves behind.
        timeout_seconds: Wall-clock limit.
        variables: More environment for the test.
        waves: Whether to write waves.
        plusargs: Arguments for the simulator, such as ``+bug=NAME``.

    Returns:
        How the simulation ended, and what the test saved, or None when it saved nothing.
    """
    result_path = work_dir / RESULT_FILE
    result_path.unlink(missing_ok=True)
    work_dir.mkdir(parents=True, exist_ok=True)
    environment = {
        **lean_environment(built),
        "NVDLA_CONFIG": config_name,
        "NVDLA_RESULT": str(result_path.resolve()),
        **variables,
    }
    run = simulate(
        built,
        test_module=ENTRY_MODULE,
        testcase=test,
        env=environment,
        work_dir=work_dir,
        timeout_seconds=timeout_seconds,
        waves=waves,
        plusargs=plusargs,
    )
    return run, _saved(result_path)


def run_job(
    job: Job,
    built: Built,
    config_name: str,
    work_dir: Path,
    timeout_seconds: float,
    waves: bool,
    process: SharedProcess | None = None,
) -> JobResult:
    """Play one job in a folder that is new or empty.

    Args:
        job: What to play.
        built: The compiled model.
        config_name: Name or path of the configuration, as the simulator process will load it.
        work_dir: Folder for the scenario and everything the run leaves behind.
        timeout_seconds: Wall-clock limit.
        waves: Whether to write waves.
        process: What plays it instead of a simulator process of its own, unless their plusargs differ.
    """
    if job.refused is not None:
        return JobResult(job, Outcome.REFUSED, (job.refused,), 0.0, None)
    folders.check_new(work_dir)
    scenario_dir = work_dir / "scenario"
    write(job.make(), scenario_dir)
    variables = {**job.variables, "NVDLA_TEST": job.identity, "NVDLA_RERUN": job.rerun}
    if job.waves:
        variables["NVDLA_RERUN_WAVES"] = f"{job.rerun} --waves"
    if process is not None and job.plusargs == process.plusargs:
        run = process.play(scenario_dir, work_dir / RESULT_FILE, variables, timeout_seconds)
        verdict = _saved(work_dir / RESULT_FILE)
        if verdict is None or Outcome(verdict["outcome"]) is Outcome.FAILED:
            process.close()
    else:
        run, verdict = run_entry(
            built,
            "play",
            config_name,
            work_dir,
            timeout_seconds=timeout_seconds,
            variables={**variables, "NVDLA_SCENARIO": str(scenario_dir.resolve())},
            waves=waves,
            plusargs=job.plusargs,
        )
    if verdict is None:
        tail = run.log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
        return JobResult(job, Outcome.FAILED, (run.message, *tail), run.seconds, work_dir, simulation=run.outcome)
    outcome = Outcome(verdict["outcome"])
    complaints = [verdict["refused"]] if outcome is Outcome.REFUSED else verdict["complaints"]
    if outcome is Outcome.REFUSED and not job.refusable:
        # It was made for this configuration, so that the bench or what made it is wrong.
        outcome, complaints = Outcome.FAILED, [f"refused: {verdict['refused']}"]
    if outcome is Outcome.PASSED and run.outcome is not SimOutcome.PASSED:
        # The verdict was good, but the simulator did not end as it should.
        outcome, complaints = Outcome.FAILED, [run.message]
    return JobResult(job, outcome, tuple(complaints), run.seconds, work_dir, verdict, run.outcome)


def _saved(result_path: Path) -> dict[str, Any] | None:
    return json.loads(result_path.read_text(encoding="utf-8")) if result_path.is_file() else None
