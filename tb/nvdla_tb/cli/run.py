"""``run``: play a plan of scenarios, or list them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.reading import shown
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut_options import add_dut_options, add_reports_option
from nvdla_tb.cli.patterns import matches, meant, only_option, plan_option
from nvdla_tb.cli.run_options import add_run_options
from nvdla_tb.paths import COMMAND, PLANS
from nvdla_tb.run import project
from nvdla_tb.run.plans import plan_file
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import load_plan, plan_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    plan_option(parser, "tb/nvdla_tb/plans/CONFIG.toml, else nv_small.toml")
    only_option(parser, "scenarios")
    seed_option(parser)
    parser.add_argument("--list", action="store_true", help="print the scenarios and exit")
    add_dut_options(parser)
    add_run_options(parser)
    add_reports_option(parser)


def seed_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed`` of commands that play scenarios of plans with one seed."""
    about = "seed of all data (default: that of the plan, or 1)"
    parser.add_argument("--seed", type=numbers.seed, metavar="N", help=about)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if args.list and args.plan is None and args.config in builtin_names():
        print_list(planned(plans_of(None, HwConfig.load(args.config)), args.only))
        return 0
    # Whoever looks for a name waits for nothing that plays.
    from nvdla_tb.cli.run_play import play

    return play(args)


def print_list(chosen: Sequence[tuple[Any, Path]]) -> None:
    """Print the scenarios of plans, a line each."""
    print("\n".join(f"{entry.name:45} {shown(entry.about)}" for entry, _ in chosen))


def plans_of(given: Path | None, config: HwConfig) -> list[Path]:
    """Return the plans to play: the one given, else those of the project file, else that of the configuration."""
    if given is not None:
        return [given]
    own = [plan_file(str(path)) for path in project.current().plans]
    return own or [plan_of(config, PLANS)]


def planned(
    paths: Sequence[Path], patterns: Sequence[str] | None, load: Callable[[Path], Sequence[Any]] = load_plan
) -> list[tuple[Any, Path]]:
    """Return the scenarios of plans whose name matches a shell pattern, all without any, each with its plan.

    Raises:
        PlanError: for a name that two of them have, and for a pattern that matches none.
    """
    known: dict[str, tuple[Any, Path]] = {}
    for path in paths:
        for entry in load(path):
            if entry.name in known:
                where = f"{known[entry.name][1]} and {path}"
                raise PlanError(f"scenarios must have different names, not both {entry.name}: {where}")
            known[entry.name] = entry, path
    for pattern in patterns or ():
        if not any(matches(name, [pattern]) for name in known):
            raise PlanError(
                f"no scenario of {len(known)} matches {pattern}{meant(pattern, known)}; see {COMMAND} run --list"
            )
    return [chosen for name, chosen in known.items() if matches(name, patterns)]
