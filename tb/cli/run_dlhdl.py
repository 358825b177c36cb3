"""``run`` for the Deep Learning HDL processor: each scenario on each core that the configuration stands for."""

from __future__ import annotations

import argparse
import shlex
from functools import partial

from models.errors import InputError
from tb.cli.console import Console
from tb.cli.dut import DEFAULT_TOP, build_dut, dut_arguments
from tb.cli.patterns import matches
from tb.cli.playing import play_all, setup_of
from tb.dlhdl import deployment
from tb.dlhdl.config import SYSTEM, DlhdlConfig, configs_of
from tb.dlhdl.scenario import DlhdlEntry, load_plan
from tb.places import COMMAND, PLANS
from tb.run.compile.dlhdl import TOP
from tb.run.jobs import Job
from tb.run.systems import note

_FOREIGN = ("exact", "stop_at_first", "waves_from", "stages", "performance", "cycles_against", "port_map", "build")
"""Options that mean nothing here."""


def main(args: argparse.Namespace) -> int:
    """Play the plan and return the exit code."""
    path = args.plan or PLANS / f"{SYSTEM}.toml"
    deployment.refuse([path])
    entries = [entry for entry in load_plan(path) if matches(entry.name, args.only)]
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
        plays.append(([planned(entry, config, core) for entry in entries], setup_of(args, core, built)))
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


def planned(entry: DlhdlEntry, config: DlhdlConfig, core: argparse.Namespace) -> Job:
    """Return the job that plays a scenario of a plan on a core, whose name the test's ends with."""
    plan = f" --plan {shlex.quote(str(core.plan))}" if core.plan is not None else ""
    rerun = f"{COMMAND} run --only {shlex.quote(entry.name)} --seed {core.seed}{plan} {dut_arguments(core)}"
    name = f"{entry.name}.{config.name.removeprefix(f'{SYSTEM}_')}"
    return Job(name, core.seed, rerun, partial(entry.build, config, core.seed))
