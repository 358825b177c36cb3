"""Plays bugs on the scenarios of their unit until one catches them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_score.catalogue import Bug, Place
from nvdla_score.journal import Catch, Played, catch_of
from nvdla_score.operands import alterations
from nvdla_score.scenarios import Source
from nvdla_tb.run import folders
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.inside import is_worth_it, watched
from nvdla_tb.run.jobs import Job, Setup, run_job, with_settings
from nvdla_tb.run.simulate import SharedProcess
from nvdla_tb.run.system import AnyConfig
from nvdla_tb.stimulus.result import Dut, Result


@dataclass(frozen=True)
class BugResult:
    """The outcome of a bug."""

    bug: Bug
    ended: Played

    @property
    def catch(self) -> Catch | None:
        """How it was caught, None for a survivor."""
        return self.ended.catch

    @property
    def explained(self) -> bool | None:
        """Whether the explainer's first cause is right; None when the bug is of a kind without one."""
        if not self.bug.kind.has_cause:
            return None
        return self.catch is not None and self.catch.cause in self.bug.causes


@dataclass(frozen=True)
class Bench:
    """The bench that bugs are played on.

    Attributes:
        built: the compiled device.
        config: its configuration.
        dut: the options that select the device.
        rerun: the command that plays everything again.
        root: folder of everything that runs leave behind.
        timeout_seconds: of one simulation.
        hang_cycles: how long nothing may move, None for what each scenario says.
        handovers: the file of hand-overs inside the device that are watched after a failure, None for no watching.
    """

    built: Built
    config: AnyConfig
    dut: Dut
    rerun: str
    root: Path
    timeout_seconds: float
    hang_cycles: int | None = None
    handovers: Path | None = None

    def job(self, source: Source, seed: int) -> Job:
        """Return the job that plays a scenario."""
        make = partial(source.build, self.config, seed)
        # A refusal says nothing about a bug: it must not look as if one had been caught.
        job = Job(source.name, seed, self.rerun, make, refusable=True, waves_option=None)
        return job if self.hang_cycles is None else with_settings(job, hang_cycles=self.hang_cycles)

    def play(self, job: Job, folder: Path, process: SharedProcess | None = None) -> Result:
        """Play one job in a folder of its own below another, in a simulator process of its own or a given one."""
        work = folders.emptied(folder, folders.folder_name(job.identity))
        return run_job(job, self._setup, work, process)

    def seen_inside(self, job: Job, result: Result, folder: Path) -> Result:
        """Return a result with what was seen of hand-overs when it was played again, as ``run`` does with a failure."""
        if self.handovers is None or not is_worth_it(result, self.handovers):
            return result
        return watched(
            job, result, self._setup, folders.place(folder, folders.folder_name(job.identity)), self.handovers
        )

    @property
    def _setup(self) -> Setup:
        return Setup(self.built, self.dut, self.timeout_seconds)

    def shared(self, folder: Path, plusargs: tuple[str, ...] = ()) -> SharedProcess:
        """Return the simulator process of jobs with the same arguments."""
        return SharedProcess(self.built, folder / ".simulator", plusargs)


def play_bug(case: tuple[Bug, Sequence[Source]], bench: Bench, seed: int) -> tuple[Bug, Played]:
    """Play a bug on the scenarios of its unit, the first one first, until one catches it."""
    bug, found = case
    jobs = (job for source in found if (job := job_of(bug, source, bench, seed)) is not None)
    folder = folders.made(bench.root, folders.folder_name(bug.name))
    plusargs = (f"+bug={bug.name}",) if bug.place is Place.RTL else ()
    with closing(bench.shared(folder, plusargs)) as process:
        return bug, until_caught(jobs, bench, folder, process)


def until_caught(jobs: Iterable[Job], bench: Bench, folder: Path, process: SharedProcess | None = None) -> Played:
    """Play jobs until one fails, in a process or in one each, and return what became of it."""
    played, seconds = 0, 0.0
    for job in jobs:
        played += 1
        result = bench.play(job, folder, process)
        seconds += result.seconds
        catch = catch_of(bench.seen_inside(job, result, folder), played)
        if catch is not None:
            return Played(played, catch, seconds)
    return Played(played, None, seconds)


def job_of(bug: Bug, source: Source, bench: Bench, seed: int) -> Job | None:
    """Return the job that plays a scenario with a bug; None when it has no operand that the bug could change."""
    plain = replace(bench.job(source, seed), rerun=f"{bench.rerun} --only {bug.name}")
    if bug.place is Place.RTL:
        return replace(plain, plusargs=(f"+bug={bug.name}",))
    assert isinstance(bench.config, HwConfig)
    changes = alterations(bug.name, plain.nvdla_scenario(), bench.config)
    if not changes:
        return None
    path = folders.made(bench.root, folders.folder_name(bug.name)) / f"{folders.folder_name(source.name)}.npz"
    arrays: dict[str, Any] = {f"{change.ram.value}_{change.address:x}": change.data for change in changes}
    np.savez(path, **arrays)
    return replace(plain, altered=path)
