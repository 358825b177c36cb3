"""``run``: play a plan of scenarios; of the Deep Learning HDL processor, on each core that the configuration means."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from models.config import HwConfig
from models.errors import InputError
from tb.cli import numbers
from tb.cli.console import Console
from tb.cli.dut import DEFAULT_TOP, add_dut_options, build_dut, dut_arguments
from tb.cli.patterns import matches, only_option
from tb.cli.playing import add_run_options, check_run_options, play_all, play_and_report, setup_of
from tb.dlhdl import deployment
from tb.dlhdl.config import SYSTEM, DlhdlConfig, configs_of, is_dlhdl
from tb.dlhdl.scenario import DlhdlEntry
from tb.dlhdl.scenario import load_plan as load_dlhdl_plan
from tb.places import COMMAND, PLANS
from tb.report.summary import after_plan
from tb.run import project
from tb.run.compile.wrapper import DLHDL_TOP as TOP
from tb.run.jobs import Job
from tb.run.systems import note
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
        return play_dlhdl(args)
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


_FOREIGN = ("exact", "stop_at_first", "waves_from", "stages", "performance", "cycles_against", "port_map", "build")
"""Options that mean nothing here."""


def play_dlhdl(args: argparse.Namespace) -> int:
    """Play the plan and return the exit code."""
    path = args.plan or PLANS / f"{SYSTEM}.toml"
    deployment.refuse([path])
    entries = [entry for entry in load_dlhdl_plan(path) if matches(entry.name, args.only)]
    if not entries:
        raise InputError(f"no scenario of {path.name} matches {' '.join(args.only)}; see {COMMAND} run --list")
    if args.list:
        print("\n".join(f"{entry.name:45} {entry.about}" for entry in entries))
        return 0
    check_options(args)
    console = Console.of(args)
    console.say(f"plan: {path.name}")
    console.say(f"note: {note(args.config, args.rtl)}")
    plays = []
    for config in configs_of(args.config):
        core = core_of(args, config)
        built = build_dut(core, config, waves=args.waves)
        plays.append(([_planned(entry, config, core) for entry in entries], setup_of(args, core, built)))
    return play_all(args, plays, path.stem)


def check_options(args: argparse.Namespace) -> None:
    """Refuse options that this system does not have.

    Raises:
        InputError: naming the first.
    """
    for option in _FOREIGN:
        if getattr(args, option, None):
            raise InputError(f"--{option.replace('_', '-')} must be left out for {SYSTEM}")
    if args.backend == "native":
        raise InputError(f"--backend must be coroutine for {SYSTEM}, not native")
    if args.config == SYSTEM and args.rtl is not None:
        raise InputError("--config must name a file that describes the core of --rtl, not dlhdl")


def core_of(args: argparse.Namespace, config: DlhdlConfig) -> argparse.Namespace:
    """Return the options of one core."""
    top = TOP if args.top == DEFAULT_TOP else args.top
    name = config.name if args.config == SYSTEM else args.config
    return argparse.Namespace(**{**vars(args), "config": name, "top": top, "backend": "coroutine"})


def _planned(entry: DlhdlEntry, config: DlhdlConfig, core: argparse.Namespace) -> Job:
    """Return the job that plays a scenario of a plan on a core, whose name the test's ends with."""
    plan = f" --plan {shlex.quote(str(core.plan))}" if core.plan is not None else ""
    rerun = f"{COMMAND} run --only {shlex.quote(entry.name)} --seed {core.seed}{plan} {dut_arguments(core)}"
    name = f"{entry.name}.{config.name.removeprefix(f'{SYSTEM}_')}"
    return Job(name, core.seed, rerun, partial(entry.build, config, core.seed))
