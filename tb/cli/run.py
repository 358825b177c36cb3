"""``run``: play a plan of scenarios."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from models.config import HwConfig
from tb.cli import numbers, run_dlhdl
from tb.cli.console import Console
from tb.cli.dut import add_dut_options, build_dut, dut_arguments
from tb.cli.gate import after_plan
from tb.cli.patterns import matches, only_option
from tb.cli.playing import add_run_options, check_run_options, play_and_report
from tb.dlhdl.config import is_dlhdl
from tb.places import COMMAND, PLANS
from tb.run import project
from tb.run.task import planned_job
from tb.stimulus.generate.describe import PlanError
from tb.stimulus.generate.plan import PlanEntry, load_plan, plan_of

HELP = "play a plan of scenarios and judge every byte"
EXAMPLE = "python -m tb run --only 'pdp_*' --seed 7 --sim icarus"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "--plan", type=Path, metavar="TOML", help="plan file (default: tb/plans/CONFIG.toml, else nv_small.toml)"
    )
    only_option(parser, "scenarios")
    parser.add_argument("--seed", type=numbers.seed, default=1, metavar="N", help="seed of all data (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the scenarios and exit")
    add_dut_options(parser)
    add_run_options(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if is_dlhdl(args.config):
        return run_dlhdl.main(args)
    config = HwConfig.load(args.config)
    paths = plans_of(args.plan, config)
    plans = {entry.name: path for path in paths for entry in load_plan(path)}
    entries = select(entries_of(paths), args.only)
    if args.list:
        print("\n".join(f"{entry.name:45} {entry.about}" for entry in entries))
        return 0
    console = Console.of(args)
    name = ", ".join(path.name for path in paths)
    console.say(f"plan: {name}")
    check_run_options(args)
    built = build_dut(args, config, waves=args.waves)
    own = args.plan is not None or bool(project.current().plans)
    jobs = [
        planned_job(
            entry,
            config,
            args.seed,
            f"{COMMAND} run --only {shlex.quote(entry.name)} --seed {args.seed}"
            f"{f' --plan {shlex.quote(str(plans[entry.name]))}' if own else ''} {dut_arguments(args)}",
        )
        for entry in entries
    ]
    code = play_and_report(args, jobs, built, "-".join(path.stem for path in paths))
    console.say(after_plan(name, len(jobs), args.only, passed=code == 0, dut=dut_arguments(args)))
    return code


def plans_of(given: Path | None, config: HwConfig) -> list[Path]:
    """Return the plans to play.

    Args:
        given: what an option names; without it those of the project file, else that of the configuration.
        config: what is tested.
    """
    if given is not None:
        return [given]
    own = [path if path.suffix else PLANS / f"{path}.toml" for path in project.current().plans]
    return own or [plan_of(config, PLANS)]


def entries_of(paths: Sequence[Path]) -> tuple[PlanEntry, ...]:
    """Return the scenarios of plans.

    Raises:
        PlanError: for a name that two of them have.
    """
    known: dict[str, Path] = {}
    entries = []
    for path in paths:
        for entry in load_plan(path):
            if entry.name in known:
                where = f"{known[entry.name]} and {path}"
                raise PlanError(f"scenarios must have different names, not both {entry.name}: {where}")
            known[entry.name] = path
            entries.append(entry)
    return tuple(entries)


def select(entries: tuple[PlanEntry, ...], patterns: Sequence[str] | None) -> list[PlanEntry]:
    """Return the entries whose name matches a shell pattern, all without any.

    Raises:
        PlanError: for a pattern that matches none.
    """
    names = [entry.name for entry in entries]
    for pattern in patterns or ():
        if not any(matches(name, [pattern]) for name in names):
            closest = get_close_matches(pattern, names)
            meant = f"; closest: {', '.join(closest)}" if closest else ""
            raise PlanError(f"no scenario of {len(entries)} matches {pattern}{meant}; see {COMMAND} run --list")
    return [entry for entry in entries if matches(entry.name, patterns)]
