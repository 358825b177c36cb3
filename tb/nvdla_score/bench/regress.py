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
from nvdla_tb.run.regress.local import local_pool
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
    """One regression: workers, wall time; the driver's processor time and the most memory it had; what is stored."""

    workers: int
    seconds: float
    driver_seconds: float
    driver_bytes: int
    store_bytes: int


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
    print(
        f"{'workers':>7} {'seconds':>8} {'tasks/s':>8} {'ms a task':>10} {'driver ms':>10} {'driver MiB':>11} "
        f"{'MiB before':>11} {'store MiB':>10}"
    )
    before = _peak_bytes()
    for sample in measure(args.tasks, args.workers, args.seconds):
        each, driver = (1000 * seconds / args.tasks for seconds in (sample.seconds, sample.driver_seconds))
        print(
            f"{sample.workers:7} {sample.seconds:8.1f} {args.tasks / sample.seconds:8.1f} {each:10.2f} {driver:10.2f} "
            f"{sample.driver_bytes / _KIB**2:11.0f} {before / _KIB**2:11.0f} {sample.store_bytes / _KIB**2:10.1f}",
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
            with local_pool(count) as pool:
                started, worked = time.perf_counter(), time.process_time()
                ended = sum(1 for _ in drive(store, run, pool, limits, play=pretend))
                taken, worked = time.perf_counter() - started, time.process_time() - worked
            if ended != tasks or store.missing(run):
                raise RuntimeError(f"{ended} of {tasks} tasks ended")
            yield Sample(count, taken, worked, _peak_bytes(), _bytes_of(Path(folder)))


def pretend(task: Task, limits: Limits) -> Result:
    """Do on a worker what a task does besides its simulation: none is played, and the result is not kept apart."""
    time.sleep(limits.timeout_seconds)
    return msgspec.structs.replace(task.result(Verdict(judged_bytes=1, cycles=1)), coverage=_BINS)


def _bytes_of(folder: Path) -> int:
    """Return the size of all files: the store, its journal, and the records that workers leave."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
