"""``bench regress``: what a regression costs besides its simulations, per task, by number of workers."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nvdla_models.limits import SECONDS
from nvdla_tb.cli import numbers
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.regress.cluster import cluster
from nvdla_tb.run.regress.schedule import drive
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import Limits
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Dut, Result

HELP = "overhead of a regression per task, with simulations that take no time or a given one"
_DUT = Dut("nv_small", "verilator", None, "NV_nvdla", None, debug=False)
_BINS = {f"SDP.point{number}=bin": 1 for number in range(300)}
_KIB = 1024


@dataclass(frozen=True)
class Sample:
    """One regression: workers, wall time, and what the driver's memory grew to."""

    workers: int
    seconds: float
    driver_bytes: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this kind."""
    parser.add_argument(
        "--tasks", type=numbers.count, default=10_000, metavar="N", help="number of tasks (default: 10000)"
    )
    parser.add_argument("--workers", type=numbers.parallel, nargs="+", default=[1, 2], metavar="N", help="default: 1 2")
    parser.add_argument(
        "--seconds",
        type=numbers.number(0, SECONDS),
        default=0.0,
        metavar="S",
        help="that each task sleeps instead of simulating (default: 0)",
    )


def main(args: argparse.Namespace) -> int:
    """Measure, print a table and return the exit code."""
    print(f"{args.tasks} tasks of {args.seconds:g} s, {len(_BINS)} bins hit by each")
    print(f"{'workers':>7} {'seconds':>8} {'tasks/s':>8} {'ms a task':>10} {'driver MiB':>11} {'MiB before':>11}")
    before = _peak_bytes()
    for sample in measure(args.tasks, args.workers, args.seconds):
        each = 1000 * sample.seconds / args.tasks
        print(
            f"{sample.workers:7} {sample.seconds:8.1f} {args.tasks / sample.seconds:8.1f} {each:10.2f} "
            f"{sample.driver_bytes / _KIB**2:11.0f} {before / _KIB**2:11.0f}",
            flush=True,
        )
    return 0


def measure(tasks: int, workers: list[int], seconds: float) -> Iterator[Sample]:
    """Play synthetic tasks of so many seconds through scheduler, records and store, for each number of workers."""
    for count in workers:
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
            many = [Task("empty", seed, "random", "SDP", _DUT, "none") for seed in range(tasks)]
            run = store.start("bench", many)
            limits = Limits(run.folder, Path(folder), seconds)
            with cluster(None, count, "127.0.0.1") as client:
                started = time.perf_counter()
                ended = sum(1 for _ in drive(store, run, client, limits, play=pretend))
                taken = time.perf_counter() - started
            if ended != tasks or store.missing(run):
                raise RuntimeError(f"{ended} of {tasks} tasks ended")
            yield Sample(count, taken, _peak_bytes())


def pretend(task: Task, limits: Limits) -> Result:
    """Do on a worker what a task does besides its simulation: none is played, and the result is not kept apart."""
    time.sleep(limits.timeout_seconds)
    return msgspec.structs.replace(task.result(Verdict(judged_bytes=1, cycles=1)), coverage=_BINS)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
