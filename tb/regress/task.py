"""Tasks: what a regression plays, as plain data that any worker on any machine can turn into a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from models.config import HwConfig
from models.errors import InputError
from models.limits import NUMBER_BITS
from tb.generate.plan import load_plan
from tb.generate.random import random_entry
from tb.launch.build import BuildSpec
from tb.plain_data import converted
from tb.regress.jobs import Job, bit_exact
from tb.regress.sources import planned_job, trace_job
from tb.scenario import Scenario

BENCH = "bench"
"""The kind of tasks that are tests in Python, which bring their own stimulus."""


class Device(NamedTuple):
    """What results are of, however it was simulated: a configuration, and the user's filelist or None."""

    config: str
    rtl: str | None

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.config} on {self.rtl or 'the embedded DUT'}"


@dataclass(frozen=True)
class Dut:
    """What is tested: the options that select it, paths absolute.

    Attributes:
        config: Name or TOML file of the configuration.
        simulator: ``verilator`` or ``icarus``.
        rtl: The user's filelist, or None for the embedded DUT.
        top: The RTL's top module.
        port_map: TOML of port differences, or None.
        debug: Whether all signals are visible.
        backend: ``native`` or ``coroutine``; runs stored before there was a choice had the latter.
        coverage: What is counted of the RTL's code: ``line``, ``toggle``, ``both``, or None.
    """

    config: str
    simulator: str
    rtl: str | None
    top: str
    port_map: str | None
    debug: bool
    backend: str = "coroutine"
    coverage: str | None = None

    @property
    def device(self) -> Device:
        """What results are of."""
        return Device(self.config, self.rtl)

    def build_spec(self, *, waves: bool) -> BuildSpec:
        """Return what to build.

        Raises:
            InputError: for a configuration or a combination that does not exist.
        """
        return BuildSpec(
            HwConfig.load(self.config),
            simulator=self.simulator,
            top=self.top,
            filelist=None if self.rtl is None else Path(self.rtl),
            port_map=None if self.port_map is None else Path(self.port_map),
            debug=self.debug,
            waves=waves,
            backend=self.backend,
            coverage=self.coverage,
        )


@dataclass(frozen=True)
class Task:
    """One scenario, or one test in Python, on one device under test.

    Attributes:
        test: Name of the scenario or test.
        seed: Seed of all its data.
        kind: ``plan``, ``random`` or ``trace``: where the scenario comes from; ``bench`` for a test in Python.
        source: The plan's file, the engines to draw from, the trace's file, or the test's module.
        dut: What it is played on.
        rerun: The command that repeats just it.
        exact: Whether FP16 is compared bit by bit, not by the published thresholds.
    """

    test: str
    seed: int
    kind: str
    source: str
    dut: Dut
    rerun: str
    exact: bool = False

    def __post_init__(self) -> None:
        if self.kind not in (*_MAKERS, BENCH):
            raise InputError(f"kind must be one of {', '.join((*_MAKERS, BENCH))}, not {self.kind}")
        if not 0 <= self.seed < 1 << NUMBER_BITS:
            raise InputError(f"seed must be 0 to {(1 << NUMBER_BITS) - 1:#x}, not {self.seed}")

    @property
    def identity(self) -> str:
        """``TEST.SEED``."""
        return f"{self.test}.{self.seed}"

    @property
    def key(self) -> str:
        """What tells the task apart in a run: ``TEST.SEED``, configuration and simulator."""
        return f"{self.identity}.{Path(self.dut.config).stem}.{self.dut.simulator}"

    def job(self) -> Job:
        """Return the job, its scenario made only when it is played.

        Raises:
            InputError: when the source does not hold the scenario, or a test in Python has none.
        """
        if self.kind == BENCH:
            raise InputError(f"{self.test} must be a scenario to be a job, not a test in Python")
        job = _MAKERS[self.kind](self)
        return bit_exact(job) if self.exact else job

    def to_dict(self) -> dict[str, Any]:
        """Return the task as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Task:
        """Return the task that ``to_dict`` described.

        Raises:
            InputError: for missing or unknown keys.
        """
        expected = {field.name for field in fields(cls)}
        if set(data) != expected:
            raise InputError(f"a task must have the keys {', '.join(sorted(expected))}, not {', '.join(sorted(data))}")
        return converted(data, cls, "a task")


def _plan_job(task: Task) -> Job:
    entries = {entry.name: entry for entry in load_plan(Path(task.source))}
    if task.test not in entries:
        raise InputError(f"{task.source} must hold {task.test}; it holds {', '.join(entries)}")
    return planned_job(entries[task.test], HwConfig.load(task.dut.config), task.seed, task.rerun)


def _random_job(task: Task) -> Job:
    config, engines = HwConfig.load(task.dut.config), tuple(task.source.split(","))

    def make() -> Scenario:
        return random_entry(config, task.seed, engines).build(config, task.seed)

    return Job(task.test, task.seed, task.rerun, make)


def _trace_job(task: Task) -> Job:
    job = trace_job(Path(task.source), HwConfig.load(task.dut.config), task.rerun)
    return replace(job, name=task.test, seed=task.seed)


_MAKERS: dict[str, Callable[[Task], Job]] = {"plan": _plan_job, "random": _random_job, "trace": _trace_job}
