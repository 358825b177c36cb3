"""Jobs from plans and traces, and which of them are refused before they are played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from models.config import HwConfig
from tb.nvdla.registers import RegisterError
from tb.run.jobs import Job
from tb.stimulus.generate.plan import PlanEntry
from tb.stimulus.refusal import refusal
from tb.stimulus.trace import TraceError, TraceUnsupported, read


def planned_job(entry: PlanEntry, config: HwConfig, seed: int, rerun: str) -> Job:
    """Return the job that plays a scenario of a plan.

    One of another configuration's plan is refused when it needs what this configuration lacks. All others are made for
    it, so that a refusal is a failure.
    """
    job = Job(entry.name, seed, rerun, partial(entry.build, config, seed))
    if entry.config == config.name:
        return job
    try:
        return replace(job, refused=refusal(job.nvdla_scenario().ops, config))
    except RegisterError as error:
        return replace(job, refused=str(error))


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
            jobs.append(Job(path.stem, 0, rerun, partial(read, path, config), broken=str(error)))
    broken = [job.broken for job in jobs if job.broken is not None]
    if len(broken) == len(jobs):
        raise TraceError("\n".join(broken))
    return jobs


def trace_job(path: Path, config: HwConfig, rerun: str) -> Job:
    """Return the job that plays a trace, or that says why it cannot be judged.

    Raises:
        TraceError: when it cannot be read, with file and line.
    """
    job = Job(path.stem, 0, rerun, partial(read, path, config), refusable=True)
    try:
        scenario = job.nvdla_scenario()
    except TraceUnsupported as error:
        return replace(job, refused=str(error))
    reason = refusal(scenario.ops, config)
    return replace(job, name=scenario.name, seed=scenario.seed, make=lambda: scenario, refused=reason)
