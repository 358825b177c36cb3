"""``bench sim``: cycles per second of the bench, on every back end, against a reference of the same run."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import statistics
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from nvdla_models.config import HwConfig
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import altered, build_dut
from nvdla_tb.cli.dut_options import BUILD_ROOT, DEFAULT_TOP, add_dut_options
from nvdla_tb.cli.patterns import only_option, plan_option
from nvdla_tb.cli.run import planned
from nvdla_tb.paths import PLANS
from nvdla_tb.plain_data import decoded
from nvdla_tb.run import folders
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.jobs import run_entry
from nvdla_tb.run.process import supervise
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.handed_over import hand_over
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.trace import find_traces, read, write
from nvdla_tb.stimulus.trace.files import name_of

HELP = "cycles per second of the bench against another harness, or the same model with idle inputs"
TRACE = "{trace}"
_REPORT = re.compile(r"^(\d+) cycles in (\d+\.?\d*) s$", re.MULTILINE)
_TIMEOUT_SECONDS = 3600.0
_BARE = "bare"


@dataclass(frozen=True)
class Sample:
    """One run: cycles a second of processor time, and processor time up to the first register access."""

    cycles: int
    speed: float
    start_seconds: float | None = None


@dataclass(frozen=True)
class Subject:
    """What is timed, ``measure`` once a round; ``is_reference`` is what the others are compared with."""

    name: str
    measure: Callable[[], Sample]
    is_reference: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this kind."""
    plan_option(parser, "tb/nvdla_tb/plans/bench.toml")
    only_option(parser, "scenarios")
    parser.add_argument(
        "--trace", type=Path, nargs="+", action="extend", metavar="PATH", help="time these traces instead of a plan"
    )
    parser.add_argument(
        "--against",
        metavar="CMD",
        help=f"time this command, too: {TRACE} in it is the trace's folder, and it must print 'N cycles in S s'",
    )
    parser.add_argument(
        "--bare",
        nargs="?",
        const="",
        metavar="FILELIST",
        help="time the same device without its wrapper, too: the filelist (default: the embedded DUT)",
    )
    parser.add_argument(
        "--rounds", type=numbers.rounds, default=5, metavar="N", help="alternations; medians are shown (default: 5)"
    )
    add_dut_options(parser)


def main(args: argparse.Namespace) -> int:
    """Measure, print a table and return the exit code."""
    config = HwConfig.load(args.config)
    traces = list(_traces(args, config))
    models = dict(_models(args, config))
    print(f"medians of {args.rounds} rounds, processor time")
    print(f"{'scenario':30} {'what':10} {'cycles':>9} {'cycles/s':>9} {'ratio':>6} {'start':>7}")
    for name, trace in traces:
        work_dir = folders.made(BUILD_ROOT, "runs", "bench", folders.folder_name(name))
        subjects = list(_subjects(args, models, trace, work_dir))
        print("\n".join(table(name, alternate(subjects, args.rounds))), flush=True)
    return 0


def alternate(subjects: list[Subject], rounds: int) -> list[tuple[Subject, Sample]]:
    """Time the subjects in turns and return the median of each.

    Raises:
        LaunchError: when a subject does not play to its end, or not as many cycles every time.
    """
    samples: list[list[Sample]] = [[] for _ in subjects]
    for _ in range(rounds):
        for subject, taken in zip(subjects, samples, strict=True):
            taken.append(subject.measure())
    return [(subject, _median(subject, taken)) for subject, taken in zip(subjects, samples, strict=True)]


def table(name: str, measured: list[tuple[Subject, Sample]]) -> Iterator[str]:
    """Yield a line per subject."""
    reference = next(sample.speed for subject, sample in measured if subject.is_reference)
    for subject, sample in measured:
        start = "" if sample.start_seconds is None else f"{sample.start_seconds:5.2f} s"
        ratio = sample.speed / reference
        yield f"{name:30} {subject.name:10} {sample.cycles:9} {sample.speed:9.0f} {ratio:6.3f} {start:>7}".rstrip()
        name = ""


def _median(subject: Subject, taken: list[Sample]) -> Sample:
    cycles = {sample.cycles for sample in taken}
    if len(cycles) > 1:
        raise LaunchError(f"{subject.name} must play the same cycles in every round, not {sorted(cycles)}")
    starts = [sample.start_seconds for sample in taken if sample.start_seconds is not None]
    return Sample(
        cycles.pop(), statistics.median(sample.speed for sample in taken), statistics.median(starts) if starts else None
    )


def _models(args: argparse.Namespace, config: HwConfig) -> Iterator[tuple[str, Built]]:
    """Yield a model for the back end that was asked for, or for each that the simulator can have."""
    every = ("native", "coroutine") if SIMULATORS[args.sim].native else ("coroutine",)
    for backend in (args.backend,) if args.backend else every:
        yield backend, build_dut(altered(args, backend=backend), config)
    if args.bare is not None:
        rtl, backend = Path(args.bare) if args.bare else None, args.backend or every[0]
        yield _BARE, build_dut(altered(args, rtl=rtl, top=DEFAULT_TOP, port_map=None, backend=backend), config)


def _traces(args: argparse.Namespace, config: HwConfig) -> Iterator[tuple[str, Path]]:
    """Yield name and folder of each scenario; those of a plan are written as traces."""
    if args.trace:
        yield from ((name_of(path), path) for path in find_traces(args.trace))
        return
    for entry, _ in planned([args.plan or PLANS / "bench.toml"], args.only):
        folder = folders.emptied(BUILD_ROOT, "runs", "bench", folders.folder_name(entry.name)) / "scenario"
        write(entry.build(config, seed=1), folder)
        yield entry.name, folder


def _subjects(args: argparse.Namespace, models: dict[str, Built], trace: Path, work_dir: Path) -> Iterator[Subject]:
    where = str(trace.resolve())
    for backend, built in models.items():
        is_reference = backend == _BARE and not args.against
        yield Subject(backend, partial(_play, built, args.config, work_dir / backend, where), is_reference)
    built = next(iter(models.values()))
    cycles = _play(built, args.config, work_dir / "idle", where).cycles
    idle = partial(_idle, built, args.config, work_dir / "idle", cycles)
    yield Subject("idle", idle, is_reference=not args.against and args.bare is None)
    if args.against:
        yield Subject("against", partial(against, args.against, where), is_reference=True)


def _play(built: Built, config_name: str, work_dir: Path, trace: str) -> Sample:
    scenario = work_dir.resolve() / "scenario"
    hand_over(read(Path(trace), HwConfig.load(config_name)), scenario)
    path = _answered(built, "play", Request(config_name, scenario=str(scenario)), work_dir)
    answer = Result.load(path)
    assert answer.performance is not None
    return Sample(answer.verdict.cycles, answer.performance.cycles_per_second, answer.performance.start_seconds)


def _idle(built: Built, config_name: str, work_dir: Path, cycles: int) -> Sample:
    path = _answered(built, "idle", Request(config_name, cycles=cycles), work_dir)
    return Sample(cycles, decoded(path.read_bytes(), float))


def _answered(built: Built, test: str, request: Request, work_dir: Path) -> Path:
    """Run one entry test that must pass, and return the file with what it measured."""
    path = (work_dir / RESULT_FILE).resolve()
    asked = msgspec.structs.replace(request, result=str(path))
    run = run_entry(built, test, asked, work_dir, timeout_seconds=_TIMEOUT_SECONDS)
    if not run.passed:
        raise LaunchError(f"{run.message}; log: {run.log_path}")
    return path


def against(command: str, trace: str) -> Sample:
    """Time another harness on a trace.

    Raises:
        LaunchError: when it fails, or does not say how many cycles it played in which time.
    """
    words = [word.replace(TRACE, trace) for word in shlex.split(command)]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        ended = supervise(words, cwd=Path.cwd(), environment=os.environ, log_path=log, timeout_seconds=_TIMEOUT_SECONDS)
        said = log.read_text(encoding="utf-8", errors="replace")
    if ended.returncode != 0:
        raise LaunchError(f"{shlex.join(words)} ended with code {ended.returncode}: {said.strip()[-500:]}")
    reported = _REPORT.findall(said)
    if len(reported) != 1 or float(reported[0][1]) == 0:
        raise LaunchError(f"{shlex.join(words)} must print one line 'N cycles in S s', not {said[-500:]!r}")
    cycles, seconds = int(reported[0][0]), float(reported[0][1])
    return Sample(cycles, cycles / seconds)
