"""``run``: play a plan of scenarios."""

from __future__ import annotations

import argparse
import shlex
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from models.config import HwConfig
from tb.cli import numbers
from tb.cli.common import add_dut_options, add_run_options, build_dut, check_run_options, dut_arguments, play_and_report
from tb.places import PLANS
from tb.run.sources import planned_job
from tb.stimulus.generate.describe import PlanError
from tb.stimulus.generate.plan import PlanEntry, load_plan, plan_of

HELP = "play a plan of scenarios and judge every byte"
EXAMPLE = "python -m tb run --only 'pdp_*' --seed 7 --sim icarus"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "--plan", type=Path, metavar="TOML", help="plan file (default: tb/plans/CONFIG.toml, else nv_small.toml)"
    )
    parser.add_argument("--only", metavar="PATTERN", help="scenarios whose name matches, such as 'sdp_*'")
    parser.add_argument("--seed", type=numbers.seed, default=1, metavar="N", help="seed of all data (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the scenarios and stop")
    add_dut_options(parser)
    add_run_options(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    config = HwConfig.load(args.config)
    path = args.plan or plan_of(config, PLANS)
    entries = select(load_plan(path), args.only)
    if args.list:
        print("\n".join(f"{entry.name:45} {entry.about}" for entry in entries))
        return 0
    print(f"plan: {path.name}")
    check_run_options(args)
    built = build_dut(args, config, waves=args.waves)
    plan = f" --plan {shlex.quote(str(args.plan))}" if args.plan else ""
    jobs = [
        planned_job(
            entry,
            config,
            args.seed,
            f"python -m tb run --only {shlex.quote(entry.name)} --seed {args.seed}{plan} {dut_arguments(args)}",
        )
        for entry in entries
    ]
    return play_and_report(args, jobs, built, path.stem)


def select(entries: tuple[PlanEntry, ...], pattern: str | None) -> list[PlanEntry]:
    """Return the entries whose name matches a shell pattern.

    Raises:
        PlanError: when none does.
    """
    chosen = [entry for entry in entries if pattern is None or fnmatchcase(entry.name, pattern)]
    if not chosen:
        closest = get_close_matches(pattern or "", [entry.name for entry in entries])
        meant = f"; closest: {', '.join(closest)}" if closest else ""
        raise PlanError(f"no scenario of {len(entries)} matches {pattern}{meant}; see python -m tb run --list")
    return chosen
