"""Results of ``run`` in the store of regressions: evidence for the test plan like any other."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import msgspec

from nvdla_tb.coverage.model import model_of
from nvdla_tb.coverage.reach import reached
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.jobs import Job
from nvdla_tb.run.regress.store import BY_HAND, Run, Store
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Dut, Result


def kept_in(
    store: Store, dut: Dut, jobs: Sequence[Job], sources: Sequence[str], args: argparse.Namespace
) -> tuple[Run, Callable[[Result], None]]:
    """Enter jobs of plans as a run of a store, and return it with what enters a result with what it covers.

    Args:
        store: The store.
        dut: The device that plays them, with its evidence.
        jobs: The jobs.
        sources: The plan of each.
        args: Options of the command: ``exact`` and ``plusarg``.
    """
    plusargs = tuple(args.plusarg)
    tasks = [
        Task(job.name, job.seed, "plan", source, dut, job.rerun, args.exact, plusargs)
        for job, source in zip(jobs, sources, strict=True)
    ]
    run = store.start(BY_HAND, tasks)
    by_identity = {job.identity: job for job in jobs}

    def keep(result: Result) -> None:
        if result.ending is Ending.PASSED:
            scenario = by_identity[result.identity].nvdla_scenario()
            hits = reached(model_of(dut.config), scenario)
            result = msgspec.structs.replace(result, coverage=hits)
        store.add(run, result)

    return run, keep
