"""What ``run`` does: play a plan of scenarios, on each device that the configuration means."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from pathlib import Path
from typing import Any

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.reading import resolved
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut import STORE, altered, anywhere, build_dut, dut_arguments, dut_of
from nvdla_tb.cli.dut_options import DEFAULT_RESULTS, DEFAULT_TOP
from nvdla_tb.cli.kept import kept_in
from nvdla_tb.cli.playing import check_run_options, play_and_report
from nvdla_tb.cli.run import planned, plans_of, print_list
from nvdla_tb.counting import counted
from nvdla_tb.paths import COMMAND
from nvdla_tb.report.summary import after_plan
from nvdla_tb.run import project
from nvdla_tb.run.evidence import with_evidence
from nvdla_tb.run.jobs import Job
from nvdla_tb.run.nvdla import NVDLA
from nvdla_tb.run.regress.held import held
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.system import AnyConfig, Entry, System
from nvdla_tb.run.systems import refuse, system_of, system_with
from nvdla_tb.run.task import planned_job


def play(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    system = system_of(args.config)
    is_nvdla = system is NVDLA
    paths = plans_of(args.plan, HwConfig.load(args.config)) if is_nvdla else [args.plan or system.plan]
    refuse(paths)
    chosen = planned(paths, args.only, system.load_plan)
    if args.list:
        print_list(chosen)
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
    results = args.results or DEFAULT_RESULTS
    with Store(results / STORE) as store:
        jobs = plays[0][1]
        run, keep = kept_in(store, dut, jobs, [sources[job.name] for job in jobs], args)
        console.say(f"run {run.id} in {results}: {counted(len(jobs), 'scenario')} to play")
        with held(run):
            run.note_about([dut], args.command_line)
            proven = partial(after_plan, name, len(chosen), args.only, dut_arguments(args))
            return play_and_report(args, plays, title, keep, proven)


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
    *("exact", "stop_at_first", "waves_from", "stages", "performance", "cycles_against", "port_map", "build", "dump"),
    *("until_coverage", "code_coverage"),
)
"""Options that mean nothing for other systems than NVDLA."""


def _device(args: argparse.Namespace, system: System[Any, Any], config: AnyConfig) -> argparse.Namespace:
    top = system.top if args.top == DEFAULT_TOP else args.top
    name = config.name if args.config == system.name else args.config
    return altered(args, config=name, top=top, backend="coroutine")


def first_seed(given: int | None, entry: Entry[Any, Any]) -> int:
    """Return the seed of a scenario: the one that an option gives, else that of its plan."""
    return entry.seed if given is None else given


def _job(entry: Any, plan: Path | None, config: AnyConfig, device: argparse.Namespace) -> Job:
    """Return the job that plays a scenario on a device; on one of several, its name ends with the device's."""
    own = "" if plan is None else f" --plan {shlex.quote(anywhere(plan))}"
    seed = first_seed(device.seed, entry)
    rerun = f"{COMMAND} run --only {shlex.quote(entry.name)} --seed {seed}{own} {dut_arguments(device)}"
    if isinstance(config, HwConfig):
        return planned_job(entry, config, seed, rerun)
    name = f"{entry.name}.{config.name.removeprefix(f'{system_with(config).name}_')}"
    return Job(name, seed, rerun, partial(entry.build, config, seed))
