"""Tasks: what a regression plays, as plain data that any worker can turn into a job; and jobs of plans and traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import NUMBER_BITS
from nvdla_models.reading import parse_json
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.registers import RegisterError
from nvdla_tb.plain_data import converted
from nvdla_tb.run.jobs import Job, PythonTest, with_settings
from nvdla_tb.run.system import AnyScenario
from nvdla_tb.run.systems import system_of
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.refusal import refusal, with_takers
from nvdla_tb.stimulus.result import Dut, Result, identity, key
from nvdla_tb.stimulus.scenario import check_name
from nvdla_tb.stimulus.trace import TraceError, TraceUnsupported, read
from nvdla_tb.stimulus.trace.files import name_of


def planned_job(entry: PlanEntry, config: HwConfig, seed: int, rerun: str) -> Job:
    """Return the job that plays a scenario of a plan.

    One of another configuration's plan is refused when it needs what this configuration lacks, or has sizes that only
    the other takes, such as numbers of banks. All others are made for it, so that a refusal is a failure.

    Raises:
        PlanError: for what the plan's own configuration does not take, either.
    """
    job = Job(entry.name, seed, rerun, partial(entry.build, config, seed))
    if entry.config == config.name:
        return job
    try:
        return replace(job, refused=refusal(job.nvdla_scenario().ops, config))
    except RegisterError as error:
        return replace(job, refused=str(error))
    except PlanError as error:
        entry.build(HwConfig.load(entry.config), seed)
        return replace(job, refused=f"{error} ({config.name})")


def trace_jobs(paths: Sequence[Path], config: HwConfig, reruns: Sequence[str]) -> list[Job]:
    """Return the jobs that play traces; one that cannot be read fails, so that the others are played.

    Raises:
        TraceError: when none can be read, with a line for each.
    """
    jobs = []
    for path, rerun in zip(paths, reruns, strict=True):
        try:
            jobs.append(trace_job(path, config, rerun))
        except TraceError as error:
            jobs.append(Job(name_of(path), 0, rerun, partial(read, path, config), broken=str(error)))
    broken = [job.broken for job in jobs if job.broken is not None]
    if len(broken) == len(jobs):
        raise TraceError(*broken)
    return jobs


def trace_job(path: Path, config: HwConfig, rerun: str) -> Job:
    """Return the job that plays a trace, or that says why it cannot be judged.

    Raises:
        TraceError: when it cannot be read, with file and line.
    """
    job = Job(name_of(path), 0, rerun, partial(read, path, config), refusable=True)
    try:
        scenario = job.nvdla_scenario()
    except TraceUnsupported as error:
        return replace(job, refused=with_takers(str(error), config, partial(read, path)))
    reason = refusal(scenario.ops, config, golden=bool(scenario.checks))
    if reason is not None:
        reason = with_takers(reason, config, partial(read, path))
    return replace(job, name=scenario.name, seed=scenario.seed, make=lambda: scenario, refused=reason)


BENCH = "bench"
"""The kind of tasks that are tests in Python, which bring their own stimulus."""


class Task(msgspec.Struct, frozen=True):
    """One scenario, or one test in Python, on one device under test.

    Attributes:
        test: Name of the scenario or test.
        seed: Seed of all its data.
        kind: ``plan``, ``random`` or ``trace``: where the scenario comes from; ``bench`` for a test in Python.
        source: The plan's file, the engines to draw from or the system's name, the trace's file, or the test's module.
        dut: Device that plays it.
        rerun: The command that repeats just it.
        exact: Whether FP16 is compared bit by bit, not by the published thresholds.
        plusargs: Arguments for the simulator.
    """

    test: str
    seed: int
    kind: str
    source: str
    dut: Dut
    rerun: str
    exact: bool = False
    plusargs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name(self.test)
        for text in self.plusargs:
            if not text.startswith("+"):
                raise InputError(f"plusargs must begin with +, not be {text!r}")
        if self.kind not in _MAKERS:
            raise InputError(f"kind must be one of {', '.join(_MAKERS)}, not {self.kind}")
        if not 0 <= self.seed < 1 << NUMBER_BITS:
            raise InputError(f"seed must be 0 to {(1 << NUMBER_BITS) - 1:#x}, not {self.seed}")

    @property
    def identity(self) -> str:
        """``TEST.SEED``."""
        return identity(self.test, self.seed)

    @property
    def key(self) -> str:
        """The identity of the task in a run: ``TEST.SEED``, configuration and simulator."""
        return key(self.test, self.seed, self.dut)

    def job(self) -> Job:
        """Return the job, its scenario made only when it is played.

        Raises:
            InputError: when the source does not hold the scenario.
        """
        job = replace(_MAKERS[self.kind](self), plusargs=self.plusargs)
        return with_settings(job, exact=True) if self.exact else job

    def encode(self) -> str:
        """Return the task as JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decode(cls, text: str) -> Task:
        """Return the task that ``encode`` made JSON of.

        Raises:
            InputError: for text that is none.
        """
        return converted(parse_json(text, "a task"), cls, "a task")

    def result(self, verdict: Verdict, seconds: float = 0.0, folder: Path | None = None) -> Result:
        """Return how the task ended."""
        where = None if folder is None else str(folder)
        return Result(self.test, self.seed, self.dut, self.rerun, verdict, seconds, where)


def _plan_job(task: Task) -> Job:
    entries = {entry.name: entry for entry in load_plan(Path(task.source))}
    if task.test not in entries:
        raise InputError(f"{task.source} must hold {task.test}; it holds {', '.join(entries)}")
    return planned_job(entries[task.test], HwConfig.load(task.dut.config), task.seed, task.rerun)


def _random_job(task: Task) -> Job:
    system = system_of(task.dut.config)
    config = system.load_config(task.dut.config)

    def make() -> AnyScenario:
        scenario: AnyScenario = system.random_entry(config, task.seed, task.source).build(config, task.seed)
        return scenario

    return Job(task.test, task.seed, task.rerun, make)


def _trace_job(task: Task) -> Job:
    job = trace_job(Path(task.source), HwConfig.load(task.dut.config), task.rerun)
    return replace(job, name=task.test, seed=task.seed)


def _bench_job(task: Task) -> Job:
    """Return the job of a test in Python, which is called ``MODULE.FUNCTION`` with the last part of its module."""
    return Job.of_test(task.test, task.seed, task.rerun, PythonTest(task.source, task.test.rpartition(".")[2]))


_MAKERS: dict[str, Callable[[Task], Job]] = {
    "plan": _plan_job,
    "random": _random_job,
    "trace": _trace_job,
    BENCH: _bench_job,
}
