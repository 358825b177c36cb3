"""``bench layout``: packing against a plain copy of the same bytes, and tolerances by window inputs."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from models.errors import InputError
from models.layout.raw import Array
from tb.cli import numbers
from tb.cli.bench_layout_cases import CASES, Case

HELP = "packing and unpacking against ndarray.copy() of the same bytes, and tolerances by window inputs a second"

_LEAST_ROUNDS = 5
_MOST_MIB = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this kind."""
    parser.add_argument(
        "--rounds", type=numbers.rounds, default=7, metavar="N", help="alternations, at least 5 (default: 7)"
    )
    parser.add_argument(
        "--mib",
        type=numbers.whole(1, _MOST_MIB),
        default=_MOST_MIB,
        metavar="MIB",
        help=f"size of the arrays (default: {_MOST_MIB}, beyond which the hardware has no sizes)",
    )
    parser.add_argument("--only", metavar="PATTERN", help="cases whose name matches, such as 'feature*'")


@dataclass(frozen=True)
class Measured:
    """Medians of one case in seconds of processor time, and what counts."""

    case: Case
    seconds: float
    copy_seconds: float
    window_inputs: int

    @property
    def reached(self) -> float:
        """Ratio of a copy's time to the case's, or window inputs per second in millions."""
        if self.window_inputs:
            return self.window_inputs / self.seconds / 1e6
        return self.copy_seconds / self.seconds

    def line(self) -> str:
        """Return a line of the table."""
        unit = "M/s" if self.window_inputs else "   "
        verdict = "yes" if self.reached >= self.case.target else "NO"
        return (
            f"{self.case.name:40} {self.seconds * 1e3:8.1f} {self.copy_seconds * 1e3:8.1f} "
            f"{self.reached:9.2f} {self.case.target:7.2f} {unit} {verdict}"
        )


def main(args: argparse.Namespace) -> int:
    """Measure, print a table and return the exit code: 0 when every target is reached, else 1.

    Raises:
        InputError: for too few rounds, or a pattern without cases.
    """
    if args.rounds < _LEAST_ROUNDS:
        raise InputError(f"--rounds must be at least {_LEAST_ROUNDS}, not {args.rounds}")
    cases = [case for case in CASES if args.only is None or fnmatchcase(case.name, args.only)]
    if not cases:
        raise InputError(f"no case matches {args.only}; there are {', '.join(case.name for case in CASES)}")
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs"
    print(f"{args.mib} MiB, processor time, medians of {args.rounds} rounds, {load}")
    print(f"{'case':40} {'ms':>8} {'copy ms':>8} {'reached':>9} {'target':>7}")
    missed = 0
    for case in cases:
        measured = measure(case, args.mib << 20, args.rounds)
        missed += measured.reached < case.target
        print(measured.line(), flush=True)
    print(f"{len(cases) - missed} of {len(cases)} targets reached; load {os.getloadavg()[0]:.1f}")
    return 1 if missed else 0


def measure(case: Case, nbytes: int, rounds: int) -> Measured:
    """Time a case and a copy of its bytes in turns, after one round that does not count."""
    work = case.prepare(nbytes)
    own, copies = [], []
    for _ in range(rounds + 1):
        copies.append(_seconds(work.reference.copy))
        own.append(_seconds(work.run))
    return Measured(case, statistics.median(own[1:]), statistics.median(copies[1:]), work.window_inputs)


def _seconds(run: Callable[[], Array | object]) -> float:
    # The processor's time, not the clock's: what else runs on the machine must not count.
    started = time.process_time()
    result = run()
    ended = time.process_time()
    del result  # neither must freeing
    return ended - started
