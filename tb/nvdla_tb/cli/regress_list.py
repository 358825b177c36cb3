"""``regress --list`` and ``--write-plan``: what would be played, in a line each, and one drawn scenario as a plan."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from nvdla_models.errors import InputError
from nvdla_models.reading import shown
from nvdla_tb.cli.regress_tasks import check_random_alone, engines_of, random_tasks, same_device, seed_lots, tasks_of
from nvdla_tb.paths import COMMAND
from nvdla_tb.run.nvdla import NVDLA
from nvdla_tb.run.system import Entry
from nvdla_tb.run.systems import is_nvdla, system_of
from nvdla_tb.run.task import BENCH, Task
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.generate.plan_text import plan_text
from nvdla_tb.writing import writing


def print_list(args: argparse.Namespace) -> int:
    """Print the scenarios that the options name, a line each with its layers, and return the exit code 0.

    Raises:
        InputError: for options that name nothing, or something that does not exist.
    """
    for task in _tasks(args):
        print(f"{task.identity}  {shown(_in_short(task))}", flush=True)
    return 0


def write_plan(args: argparse.Namespace) -> int:
    """Write the random scenario of a seed as a plan, print how it is played, and return the exit code 0.

    Raises:
        InputError: for several seeds, for a system whose scenarios are not written as plans, and for a file that
            there is.
        OSError: for a file that cannot be written.
    """
    if args.seeds != 1:
        # The name decides the data, and a plan does not have it twice.
        raise InputError(f"--write-plan needs --seeds 1, not {args.seeds}: a plan holds the scenario of one seed")
    if not is_nvdla(args.config):
        raise InputError(f"--write-plan must be left out for {system_of(args.config).name}: only NVDLA's are written")
    if args.write_plan.exists():
        raise InputError(f"--write-plan must name a new file, not {args.write_plan}")
    engines = engines_of(args)
    (task,) = random_tasks(args, engines, [args.seed])
    entry = NVDLA.random_entry(NVDLA.load_config(args.config), args.seed, engines)
    with writing(args.write_plan):
        args.write_plan.write_text(drawn_plan(entry, args.seed, engines), encoding="utf-8")
    print(f"{task.identity}  {_in_short(task)}")
    print(f"to play it: {COMMAND} run --plan {shlex.quote(str(args.write_plan))} {same_device(args)} --waves")
    return 0


def drawn_plan(entry: PlanEntry, seed: int, engines: str) -> str:
    """Return the text of a plan with one random scenario, which gives the same bytes as its seed.

    Args:
        entry: what the seed draws.
        seed: the seed.
        engines: those that it was drawn from, separated by commas.
    """
    about = f"{COMMAND} regress random --config {entry.config} --only {engines} --seed {seed} --seeds 1"
    return plan_text(entry.config, [(entry.name, entry.about, entry.data)], about, seed)


def _tasks(args: argparse.Namespace) -> Iterator[Task]:
    if not is_nvdla(args.config):
        check_random_alone(args)
    if args.kind != "random":
        yield from tasks_of(args)
        return
    for seeds in seed_lots(args):
        yield from random_tasks(args, engines_of(args), seeds)


def _in_short(task: Task) -> str:
    if task.kind == BENCH:
        return "test in Python"
    system = system_of(task.dut.config)
    config = system.load_config(task.dut.config)
    if task.kind == "random":
        entry = system.random_entry(config, task.seed, task.source)
    else:
        entry = _entries(task.source)[task.test]
    try:
        return system.in_short(entry, config, task.seed)
    except InputError as error:
        # It is refused, or fails, when it is played: the others are listed.
        return f"cannot be built: {error}"


@cache
def _entries(plan: str) -> dict[str, Entry[Any, Any]]:
    return {entry.name: entry for entry in NVDLA.load_plan(Path(plan))}
