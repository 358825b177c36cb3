"""``run``: play a plan of scenarios, on each device that the configuration means."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.reading import resolved, shown
from nvdla_tb.cli import numbers
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut import (
    DEFAULT_RESULTS,
    DEFAULT_TOP,
    STORE,
    add_dut_options,
    add_reports_option,
    altered,
    anywhere,
    build_dut,
    dut_arguments,
    dut_of,
)
from nvdla_tb.cli.kept import kept_in
from nvdla_tb.cli.patterns import matches, only_option, plan_option
from nvdla_tb.cli.playing import add_run_options, check_run_options, play_and_report
from nvdla_tb.paths import COMMAND, PLANS
from nvdla_tb.report.summary import after_plan
from nvdla_tb.run import project
from nvdla_tb.run.evidence import with_evidence
from nvdla_tb.run.jobs import Job
from nvdla_tb.run.nvdla import NVDLA
from nvdla_tb.run.plans import plan_file
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.system import AnyConfig, System
from nvdla_tb.run.systems import refuse, system_of, system_with
from nvdla_tb.run.task import planned_job
from nvdla_tb.stimulus.generate.describe import PlanError
from nvdla_tb.stimulus.generate.plan import load_plan, plan_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    plan_option(parser, "tb/nvdla_tb/plans/CONFIG.toml, else nv_small.toml")
    only_option(parser, "scenarios")
    parser.add_argument("--seed", type=numbers.seed, default=1, metavar="N", help="seed of all data (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the scenarios and exit")
    add_dut_options(parser)
    add_run_options(parser)
    add_reports_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    system = system_of(args.config)
    is_nvdla = system is NVDLA
    paths = plans_of(args.plan, args.config)
    refuse(paths)
    chosen = planned(paths, args.only, system.load_plan)
    if args.list:
        print("\n".join(f"{entry.name:45} {shown(entry.about)}" for entry, _ in chosen))
        return 0
    found = devices(args)
    check_run_options(args)
    console, name = Console.of(args), ", ".join(path.name for path in paths)
    console.say(f"plan: {name}")
    note = system.note(args.rtl)
    if note:
        console.say(f"note: {note}")
    by_default = args.plan is None and not (is_nvdla and project.current().plans)
    plays = []
    # Before anything is built: RTL that changes meanwhile is refused by the build.
    dut = with_evidence(dut_of(args), args.plusarg) if is_nvdla else None
    for device, config in found:
        built = build_dut(device, config, waves=args.waves)
        jobs = [_job(entry, None if by_default else path, config, device) for entry, path in chosen]
        plays.append((device, jobs, built))
    title = "-".join(path.stem for path in paths)
    if dut is None:
        return play_and_report(args, plays, title)
    sources = {entry.name: str(resolved(path)) for entry, path in chosen}
    with Store((args.results or DEFAULT_RESULTS) / STORE) as store:
        jobs = plays[0][1]
        keep = kept_in(store, dut, jobs, [sources[job.name] for job in jobs], args)
        code = play_and_report(args, plays, title, keep)
    console.say(after_plan(name, len(chosen), args.only, passed=code == 0, dut=dut_arguments(args)))
    return code


def plans_of(given: Path | None, config: str) -> list[Path]:
    """Return the plans to play: the one given, else those of the project file, else that of the configuration."""
    if given is not None:
        return [given]
    system = system_of(config)
    if system is not NVDLA:
        return [system.plan]
    own = [plan_file(str(path)) for path in project.current().plans]
    return own or [plan_of(HwConfig.load(config), PLANS)]


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
            closest = get_close_matches(pattern, known)
            meant = f"; closest: {', '.join(closest)}" if closest else ""
            raise PlanError(f"no scenario of {len(known)} matches {pattern}{meant}; see {COMMAND} run --list")
    return [chosen for name, chosen in known.items() if matches(name, patterns)]


def devices(args: argparse.Namespace) -> list[tuple[argparse.Namespace, AnyConfig]]:
    """Return the devices that the options mean, each with the options that select it alone.

    Raises:
        InputError: for options that the system does not have.
    """
    system = system_of(args.config)
    if system is NVDLA:
        return [(args, HwConfig.load(args.config))]
    for option in _OF_NVDLA:
        if getattr(args, option, None) not in (None, False):
            raise InputError(f"--{option.replace('_', '-')} must be left out for {system.name}")
    if args.backend == "native":
        raise InputError(f"--backend must be coroutine for {system.name}, not native")
    if args.config == system.name and args.rtl is not None:
        raise InputError(f"--config must name a file that describes the core of --rtl, not {system.name}")
    return [(_device(args, system, config), config) for config in system.configs(args.config)]


_OF_NVDLA = (
    *("exact", "stop_at_first", "waves_from", "stages", "performance", "cycles_against", "port_map", "build"),
    *("until_coverage", "code_coverage"),
)
"""Options that mean nothing for other systems than NVDLA."""


def _device(args: argparse.Namespace, system: System[Any, Any], config: AnyConfig) -> argparse.Namespace:
    top = system.top if args.top == DEFAULT_TOP else args.top
    name = config.name if args.config == system.name else args.config
    return altered(args, config=name, top=top, backend="coroutine")


def _job(entry: Any, plan: Path | None, config: AnyConfig, device: argparse.Namespace) -> Job:
    """Return the job that plays a scenario on a device; on one of several, its name ends with the device's."""
    own = "" if plan is None else f" --plan {shlex.quote(anywhere(plan))}"
    rerun = f"{COMMAND} run --only {shlex.quote(entry.name)} --seed {device.seed}{own} {dut_arguments(device)}"
    if isinstance(config, HwConfig):
        return planned_job(entry, config, device.seed, rerun)
    name = f"{entry.name}.{config.name.removeprefix(f'{system_with(config).name}_')}"
    return Job(name, device.seed, rerun, partial(entry.build, config, device.seed))
