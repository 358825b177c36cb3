"""``regress``: play many scenarios here or on a cluster, keep every result, and take up what is missing."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.cli import numbers
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut import STORE, build_dut, compiled, existing_store
from nvdla_tb.cli.dut_options import BUILD_ROOT, add_dut_options, add_results_option, build_option
from nvdla_tb.cli.earlier import cycles_before
from nvdla_tb.cli.parsing import Renamed
from nvdla_tb.cli.patterns import only_option, patterns, plan_option
from nvdla_tb.cli.regress_list import print_list, write_plan
from nvdla_tb.cli.regress_play import Player, conclude, deadline, is_over
from nvdla_tb.cli.regress_tasks import check_random_alone, engines_of, feature_plan, random_tasks, seed_lots, tasks_of
from nvdla_tb.cli.run_options import cycles_options, exact_option, output_file, scenario_options, waves_option
from nvdla_tb.cli.workers import check_workers, workers_options
from nvdla_tb.run import folders
from nvdla_tb.run.compile.spec import CODE_COVERAGE
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.evidence import check_unchanged, with_evidence
from nvdla_tb.run.regress.code_exclusions import load_exclusions
from nvdla_tb.run.regress.held import being_played, held
from nvdla_tb.run.regress.named import Named
from nvdla_tb.run.regress.store import Run, Store
from nvdla_tb.run.systems import is_nvdla, system_of
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.generate.random import ENGINES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds of regressions and their options."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    drawn = _kind(kinds, "random", "layers of all units, sizes and modes, one scenario per seed")
    drawn.add_argument(
        "--seeds",
        type=numbers.seeds,
        default=100,
        metavar="N",
        help="number of scenarios, with --seed too (default: 100)",
    )
    _seed_option(drawn, 0, "first of the --seeds: --seed 7 --seeds 3 plays the seeds 7, 8 and 9 (default: 0)")
    only_option(drawn, f"engines, of {','.join(ENGINES)},", "'SDP,PDP'")
    drawn.add_argument("--engines", action=Renamed, now="--only", type=patterns)
    planned = _kind(kinds, "plan", "every scenario of a plan with several seeds")
    plan_option(planned)
    planned.add_argument(
        "--level",
        metavar="LEVEL",
        help="level of the test plan, such as L1: its tests, and random scenarios that add coverage",
    )
    only_option(planned, "scenarios")
    planned.add_argument(
        "--seeds", type=numbers.count, metavar="N", help="seeds of each scenario (default: 1, or the level's)"
    )
    _seed_option(planned, None, "first of the seeds (default: that of the plan, or 1)")
    for kind in (drawn, planned):
        kind.add_argument("--list", action="store_true", help=_LIST)
    drawn.add_argument(
        "--write-plan",
        type=output_file,
        metavar="TOML",
        help="write the scenario of --seed, with --seeds 1, as a plan that run plays, and exit",
    )
    traces = _kind(kinds, "traces", "traces of the public format")
    traces.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="trace folder, .cfg, or folder of traces")
    for kind in (drawn, planned, traces):
        add_dut_options(kind)
        exact_option(kind)
        kind.add_argument(
            "--code-coverage",
            choices=CODE_COVERAGE,
            help="count covered lines, branches or toggles of the RTL (Verilator)",
        )
    for kind in (drawn, planned):
        kind.add_argument(
            "--until-coverage",
            type=numbers.percent,
            metavar="PERCENT",
            help="continue with seeds that reach more bins until this coverage",
        )
    resumed = _kind(kinds, "resume", "play the tasks that an interrupted run lacks or has lost")
    again = _kind(kinds, "rerun-failed", "play the failures of a run again, as a run of its own")
    shown = _kind(kinds, "show", "print the results of a run, and write its page and JUnit XML")
    for kind in (resumed, again):
        build_option(kind)
        kind.add_argument(
            "--rtl", type=Path, metavar="FILELIST", help="that of the run, unless the project file names it"
        )
    for kind in (resumed, again, shown):
        kind.add_argument(
            "run", nargs="?", type=numbers.ordinal, metavar="RUN", help="number of the run (default: the newest)"
        )
    for kind in (drawn, planned, traces, resumed, again):
        _add_playing_options(kind)
    for kind in (drawn, planned, traces, resumed, again, shown):
        add_results_option(kind)
        cycles_options(kind)
        kind.add_argument(
            "--code-exclusions",
            action="append",
            default=[],
            type=Path,
            metavar="TOML",
            help="code of the RTL that need not be covered, with reasons; may be repeated",
        )


def _kind(kinds: argparse._SubParsersAction[argparse.ArgumentParser], name: str, about: str) -> argparse.ArgumentParser:
    return kinds.add_parser(name, help=about, description=f"{about}.")


_LIST = (
    "print each scenario with its layers, cubes as channels x height x width, and exit: what a level searches for "
    "coverage is not among them"
)


def _seed_option(parser: argparse.ArgumentParser, default: int | None, about: str) -> None:
    parser.add_argument("--seed", type=numbers.seed, default=default, metavar="N", help=about)
    parser.add_argument("--first", action=Renamed, now="--seed", type=numbers.seed)


def _add_playing_options(parser: argparse.ArgumentParser) -> None:
    group = scenario_options(parser)
    workers_options(group)
    waves_option(group, "play failures again for their waves", default=True)
    group.add_argument(
        "--time-budget", type=numbers.budget, metavar="SECONDS", help="start nothing later (default: no limit)"
    )


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    args.code_exclusions = tuple(exclusion for path in args.code_exclusions for exclusion in load_exclusions(path))
    if getattr(args, "list", False):
        return print_list(args)
    if getattr(args, "write_plan", None) is not None:
        return write_plan(args)
    if args.kind != "show":
        check_workers(args)
    until = deadline(args)
    reads = args.kind in ("show", "resume", "rerun-failed")
    if not reads:
        folders.made(BUILD_ROOT)
    with existing_store(args.results) if reads else Store(args.results / STORE) as store:
        # Before anything is played.
        cycles_before(args)
        if args.kind == "show":
            run = store.run(args.run)
            return conclude(store, run, args, playing=being_played(run))
        if args.kind == "resume":
            run = store.run(args.run)
            _check_named(args, store.tasks(run))
            with held(run):
                _check_resumable(run, store.tasks(run))
                store.forget_lost(run)
                return Player(args, store, run, until).play()
        if args.kind == "rerun-failed":
            old = store.run(args.run)
            failing = {result.key for result in store.results(old) if result.ending.is_failure}
            failed = [task for task in store.tasks(old) if task.key in failing]
            if not failed:
                print(f"run {old.id} has no failures")
                return 0
            _check_named(args, failed)
            now = [msgspec.structs.replace(task, dut=with_evidence(task.dut, task.plusargs)) for task in failed]
            return _played(args, store, store.start(f"failures of {old.title}", now), until)
        if not is_nvdla(args.config):
            check_random_alone(args)
        if args.kind == "random":
            if is_nvdla(args.config):
                engines_of(args)
            last = args.seed + args.seeds - 1
            Console.of(args).say(f"seed {last}" if args.seeds == 1 else f"seeds {args.seed} to {last}")
        note = system_of(args.config).note(args.rtl)
        if note:
            Console.of(args).say(f"note: {note}")
        tasks = tasks_of(args)
        if is_nvdla(args.config):
            build_dut(args, HwConfig.load(args.config), coverage=args.code_coverage)
        for dut in dict.fromkeys(task.dut for task in tasks):
            compiled(dut, Console.of(args), how=args.build)
        if args.kind == "random":
            return _play_random(args, store, until)
        level = None if args.kind != "plan" or args.level is None else feature_plan(args).level(args.level)
        chosen = args.kind == "plan" and args.only is not None
        title = args.kind if level is None else f"chosen tests of {level.name}" if chosen else level.name
        goal = getattr(args, "until_coverage", None)
        if level is None or chosen:
            return _played(args, store, store.start(title, tasks, goal=goal), until)
        run = store.start(title, tasks, goal=goal, complete=not level.search)
        return _played(args, store, run, until, level.search, level.steered)


def _played(
    args: argparse.Namespace,
    store: Store,
    run: Run,
    until: float | None,
    looked_at: int = 0,
    steered: int | None = None,
) -> int:
    """Play a new run, which no other process plays meanwhile, see ``Player.play``."""
    with held(run):
        return Player(args, store, run, until).play(looked_at, steered)


def _check_resumable(run: Run, tasks: Sequence[Task]) -> None:
    """Check that what a run lacks would be played on what the rest was played on.

    Raises:
        InputError: when it would not.
    """
    try:
        for dut, plusargs in dict.fromkeys((task.dut, task.plusargs) for task in tasks):
            check_unchanged(dut, plusargs)
    except LaunchError as error:
        raise InputError(f"run {run.id} cannot be resumed, start a new one: {error}") from error


def _check_named(args: argparse.Namespace, tasks: Sequence[Task]) -> None:
    """Check that the user has named what stored tasks would build and execute."""
    Named(args.rtl, args.plusarg).check(str(args.results / STORE), "the run", tasks, args.command_line)


def _play_random(args: argparse.Namespace, store: Store, until: float | None) -> int:
    """Play seeds in runs that memory can hold, one after the other; return the exit code of the worst."""
    code = 0
    for seeds in seed_lots(args):
        over = is_over(until)
        run = store.start(args.kind, random_tasks(args, engines_of(args), seeds), goal=args.until_coverage)
        code = max(code, _played(args, store, run, until))
        left = args.seed + args.seeds - seeds.stop
        if over and left:
            # Those of this run stand in its report as not played.
            print(f"the time is over; more seeds that are left: --seed {seeds.stop} --seeds {left}")
            return 1
    return code
