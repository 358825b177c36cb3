"""Tasks: what a regression plays, as plain data that any worker on any machine can turn into a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from models.config import HwConfig
from models.errors import InputError
from models.limits import NUMBER_BITS
from models.reading import parse_json
from tb.dlhdl.config import DlhdlConfig
from tb.dlhdl.random import random_entry as random_dlhdl
from tb.judge.verdict import Verdict
from tb.plain_data import converted
from tb.run.dut import Dut
from tb.run.jobs import Job, PythonTest, with_settings
from tb.run.result import Result, identity, key
from tb.run.sources import planned_job, trace_job
from tb.run.systems import AnyScenario, load_config
from tb.stimulus.generate.plan import load_plan
from tb.stimulus.generate.random import random_entry
from tb.stimulus.scenario import check_name

BENCH = "bench"
"""The kind of tasks that are tests in Python, which bring their own stimulus."""


class Task(msgspec.Struct, frozen=True):
    """One scenario, or one test in Python, on one device under test.

    Attributes:
        test: Name of the scenario or test.
        seed: Seed of all its data.
        kind: ``plan``, ``random`` or ``trace``: where the scenario comes from; ``bench`` for a test in Python.
        source: The plan's file, the engines to draw from or ``dlhdl``, the trace's file, or the test's module.
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
    config, engines = load_config(task.dut.config), tuple(task.source.split(","))

    def make() -> AnyScenario:
        if isinstance(config, DlhdlConfig):
            return random_dlhdl(config, task.seed).build(config, task.seed)
        return random_entry(config, task.seed, engines).build(config, task.seed)

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
