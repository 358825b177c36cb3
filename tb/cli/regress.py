"""``regress``: play many scenarios on a Dask cluster, keep every result, and take up what is missing."""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path

from models.config import HwConfig
from tb.cli.common import BUILD_ROOT, add_dut_options, backend_of, build_dut, dut_arguments, play_options
from tb.cli.run import PLAN_DIR, select
from tb.coverage.model import load_model
from tb.coverage.status import item_status, table
from tb.generate.plan import load_plan
from tb.generate.random import ENGINES
from tb.regress import page, summary
from tb.regress.page_coverage import coverage_sections
from tb.regress.progress import Progress
from tb.regress.store import Run, Store
from tb.regress.task import Dut, Task
from tb.regress.worker import Limits
from tb.trace import find_traces

HELP = "play many scenarios on a cluster, keep every result, take up what is missing"
EXAMPLE = "python -m tb regress random --seeds 200 --engines SDP,PDP"
STORE = "results.sqlite"
COVERAGE_DIR = PLAN_DIR / "coverage"
LOOPBACK = "127.0.0.1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of regressions and their options."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    drawn = kinds.add_parser("random", help="layers of all units, sizes and modes, one scenario per seed")
    drawn.add_argument("--seeds", type=int, default=100, metavar="N", help="number of scenarios (default: 100)")
    drawn.add_argument("--first", type=int, default=0, metavar="SEED", help="first seed (default: 0)")
    drawn.add_argument(
        "--engines", default=",".join(ENGINES), metavar="LIST", help=f"of {','.join(ENGINES)} (default: all)"
    )
    planned = kinds.add_parser("plan", help="every scenario of a plan with several seeds")
    planned.add_argument("--plan", type=Path, metavar="TOML", help="plan file (default: tests/plan/CONFIG.toml)")
    planned.add_argument("--only", metavar="PATTERN", help="scenarios whose name matches, such as 'sdp_*'")
    planned.add_argument("--seeds", type=int, default=1, metavar="N", help="seeds of each scenario (default: 1)")
    planned.add_argument("--first", type=int, default=1, metavar="SEED", help="first seed (default: 1)")
    traces = kinds.add_parser("traces", help="traces of the public format")
    traces.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="trace folder, .cfg, or folder of traces")
    for kind in (drawn, planned, traces):
        add_dut_options(kind)
        kind.add_argument("--exact", action="store_true", help="FP16: bit-accurate, not by the published thresholds")
    resumed = kinds.add_parser("resume", help="play what a run that was interrupted lacks")
    again = kinds.add_parser("rerun-failed", help="play the failures of a run again, as a run of its own")
    shown = kinds.add_parser("show", help="print the results of a run, and write its page and JUnit XML")
    for kind in (resumed, again, shown):
        kind.add_argument("run", nargs="?", type=int, metavar="RUN", help="number of the run (default: the newest)")
    for kind in (drawn, planned, traces, resumed, again):
        _add_cluster_options(kind)
    for kind in (drawn, planned, traces, resumed, again, shown):
        kind.add_argument(
            "--results", type=Path, default=BUILD_ROOT / "regress", metavar="DIR",
            help="folder of the store and of what failures leave behind (default: sim_build/regress)",
        )  # fmt: skip


def _add_cluster_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("running")
    play_options(group)
    group.add_argument("--scheduler", metavar="ADDRESS", help="of a running Dask cluster (default: a local one)")
    group.add_argument("--listen", default=LOOPBACK, metavar="HOST", help=f"of a local cluster (default: {LOOPBACK})")
    group.add_argument("--time-budget", type=float, metavar="SECONDS", help="start nothing later (default: no limit)")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    with Store(args.results / STORE) as store:
        if args.kind == "show":
            return _conclude(store, store.run(args.run))
        if args.kind == "resume":
            run = store.run(args.run)
        elif args.kind == "rerun-failed":
            old = store.run(args.run)
            failed = [e.task for e in summary.pair(store.tasks(old), store.records(old)) if e.record.ending.is_failure]
            run = store.start(f"failures of {old.title}", args.results, failed)
        else:
            tasks = _TASKS[args.kind](args)
            build_dut(args, HwConfig.load(args.config))
            run = store.start(args.kind, args.results, tasks)
        return _play(args, store, run)


def _play(args: argparse.Namespace, store: Store, run: Run) -> int:
    # Dask takes a second to import, which no other subcommand should wait for.
    from tb.regress.driver import drive
    from tb.regress.schedule import cluster

    total, missing = len(store.tasks(run)), len(store.missing(run))
    print(f"run {run.id} ({run.title}): {missing} of {total} to play; results: {run.folder.parent}", flush=True)
    until = None if args.time_budget is None else time.monotonic() + args.time_budget
    limits = Limits(run.folder, BUILD_ROOT.resolve(), args.timeout, COVERAGE_DIR)
    progress = Progress(total, total - missing)
    with cluster(args.scheduler, args.jobs, args.listen) as client:
        for record in drive(store, run, client, limits, until=until):
            print(progress.line(record), flush=True)
    return _conclude(store, run)


def _conclude(store: Store, run: Run) -> int:
    """Print and write the results of a run, and return the exit code."""
    ended = summary.pair(store.tasks(run), store.records(run))
    counts, missing = store.counts(run), len(store.missing(run))
    trend = [(earlier, store.counts(earlier), len(store.missing(earlier))) for earlier in store.runs()]
    run.folder.mkdir(parents=True, exist_ok=True)
    hits = store.coverage(run)
    model = load_model(COVERAGE_DIR, HwConfig.load(store.tasks(run)[0].dut.config))
    page.write_html(run, ended, trend, run.folder / "index.html", coverage_sections(model, hits))
    page.write_junit(run, ended, run.folder / "junit.xml")
    problems = summary.failures(ended)
    if problems:
        print(f"\n{problems}")
    print(f"\nreports: {run.folder}/index.html, {run.folder}/junit.xml")
    if missing:
        print(f"resume: python -m tb regress resume {run.id}")
    print("\n".join(table(model, item_status(model, hits))))
    print(summary.counts_line(counts, missing))
    return summary.exit_code(counts, missing)


def _dut(args: argparse.Namespace) -> Dut:
    """Return the device under test with paths that every worker understands."""
    config = str(Path(args.config).resolve()) if args.config.endswith(".toml") else args.config
    rtl, port_map = (None if path is None else str(path.resolve()) for path in (args.rtl, args.port_map))
    return Dut(config, args.sim, rtl, args.top, port_map, args.debug, backend_of(args))


def _seeds(args: argparse.Namespace) -> range:
    if args.seeds < 1 or args.first < 0:
        raise ValueError(f"seeds must be at least 1 and first at least 0, not {args.seeds} and {args.first}")
    return range(args.first, args.first + args.seeds)


def _random_tasks(args: argparse.Namespace) -> list[Task]:
    for engine in args.engines.split(","):
        if engine not in ENGINES:
            raise ValueError(f"engines must be of {', '.join(ENGINES)}, not {engine}")
    rerun = f"python -m tb regress random --seeds 1 --engines {args.engines} {dut_arguments(args)} --first"
    return [
        Task("random", seed, "random", args.engines, _dut(args), f"{rerun} {seed}", args.exact) for seed in _seeds(args)
    ]


def _plan_tasks(args: argparse.Namespace) -> list[Task]:
    path = (args.plan or PLAN_DIR / f"{HwConfig.load(args.config).name}.toml").resolve()
    rerun = f"python -m tb run --plan {shlex.quote(str(path))} {dut_arguments(args)} --only"
    return [
        Task(entry.name, seed, "plan", str(path), _dut(args), f"{rerun} {entry.name} --seed {seed}", args.exact)
        for entry in select(load_plan(path), args.only)
        for seed in _seeds(args)
    ]


def _trace_tasks(args: argparse.Namespace) -> list[Task]:
    return [
        Task(
            path.stem,
            0,
            "trace",
            str(path.resolve()),
            _dut(args),
            f"python -m tb trace {shlex.quote(str(path))} {dut_arguments(args)}",
            args.exact,
        )
        for path in find_traces(args.paths)
    ]


_TASKS = {"random": _random_tasks, "plan": _plan_tasks, "traces": _trace_tasks}
