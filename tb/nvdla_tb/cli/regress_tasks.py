"""What ``regress`` plays: tasks from its options."""

from __future__ import annotations

import argparse
import shlex
import zlib
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import RUN_SEEDS, RUN_TASKS
from nvdla_models.reading import resolved, shown
from nvdla_tb.cli.dut import anywhere, dut_arguments, dut_of
from nvdla_tb.cli.patterns import matches, meant
from nvdla_tb.cli.playing import plusarg_arguments
from nvdla_tb.cli.run import planned, plans_of
from nvdla_tb.cli.run_play import devices, first_seed
from nvdla_tb.cli.trace import check_different
from nvdla_tb.coverage.model import model_of
from nvdla_tb.paths import COMMAND
from nvdla_tb.run.compile.kinds import CSB
from nvdla_tb.run.compile.ports import load_port_map
from nvdla_tb.run.evidence import with_evidence
from nvdla_tb.run.regress.features import FEATURES, FeaturePlan, PlannedTest, load_feature_plan, planned_tests
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.run.systems import is_nvdla, system_of
from nvdla_tb.run.task import BENCH, Task
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.random import ENGINES
from nvdla_tb.stimulus.result import Dut
from nvdla_tb.stimulus.trace import find_traces
from nvdla_tb.stimulus.trace.files import name_of

_STATES = 4
"""Initial states of simulators in a level."""


def tasks_of(args: argparse.Namespace) -> list[Task]:
    """Return the tasks that the options name; of a level, those known beforehand, and of seeds, those of the first run.

    Raises:
        InputError: for options that name nothing, or something that does not exist.
    """
    if args.kind == "traces":
        return _trace_tasks(args)
    if args.kind == "random":
        return random_tasks(args, engines_of(args), next(seed_lots(args)))
    return _plan_tasks(args) if args.level is None else _level_tasks(args)


def seed_lots(args: argparse.Namespace) -> Iterator[range]:
    """Yield the seeds of random scenarios, those of a run together.

    Raises:
        InputError: for so many that ``--until-coverage`` would come to them in another run.
    """
    seeds = range(args.seed, args.seed + args.seeds)
    if args.until_coverage is not None and len(seeds) > RUN_SEEDS:
        raise InputError(f"--seeds must be at most {RUN_SEEDS} with --until-coverage, not {len(seeds)}")
    for first in range(seeds.start, seeds.stop, RUN_SEEDS):
        yield range(first, min(first + RUN_SEEDS, seeds.stop))


def feature_plan(args: argparse.Namespace) -> FeaturePlan:
    """Return the test plan of the configuration that the options select."""
    return load_feature_plan(FEATURES, model_of(args.config))


def random_tasks(args: argparse.Namespace, engines: str, seeds: Iterable[int]) -> list[Task]:
    """Return one random scenario a seed; where there are several cores, they take turns.

    Args:
        args: Options of the command.
        engines: Names of engines, separated by commas, in the order in which seeds draw them.
        seeds: The seeds.
    """
    system = system_of(args.config).name
    drawn, option = (engines, f" --only {engines}") if is_nvdla(args.config) else (system, "")
    again = f"{COMMAND} regress random --seeds 1{option}"
    cores = [(counting_dut(core), f"{again} {same_device(core)}") for core, _ in devices(args)]
    tasks, plusargs = [], tuple(args.plusarg)
    for seed in seeds:
        dut, rerun = cores[seed % len(cores)]
        tasks.append(Task("random", seed, "random", drawn, dut, f"{rerun} --seed {seed}", args.exact, plusargs))
    return tasks


def engines_of(args: argparse.Namespace) -> str:
    """Return the engines that ``--only`` of ``regress random`` chooses, all without it, in the order that it names.

    Raises:
        InputError: for a pattern that matches none.
    """
    found: dict[str, None] = {}
    for pattern in args.only or ("*",):
        matched = [engine for engine in ENGINES if matches(engine, [pattern])]
        if not matched:
            near = meant(pattern, ENGINES)
            raise InputError(f"--only: no engine matches {shown(pattern)}; engines are {', '.join(ENGINES)}{near}")
        found |= dict.fromkeys(matched)
    return ",".join(found)


def check_random_alone(args: argparse.Namespace) -> None:
    """Refuse what only NVDLA has.

    Raises:
        InputError: naming the first.
    """
    devices(args)
    name = system_of(args.config).name
    if args.kind != "random":
        rule = f"levels, coverage and traces are NVDLA's, and {COMMAND} run plays the plan"
        raise InputError(f"regress must be random for {name}, not {args.kind}: {rule}")
    if args.only is not None:
        raise InputError(f"--only must be left out for {name}, whose random scenarios have no engines")


def counting_dut(args: argparse.Namespace) -> Dut:
    """Return the device under test with what is counted of its code, and with its content of now."""
    dut = msgspec.structs.replace(dut_of(args), coverage=args.code_coverage)
    return with_evidence(dut, args.plusarg)


def same_device(args: argparse.Namespace) -> str:
    """Return the options that play on the same device, with the same arguments for the simulator, as strictly again."""
    exact = ["--exact"] if args.exact else []
    return " ".join([dut_arguments(args), *([plusarg_arguments(args.plusarg)] if args.plusarg else []), *exact])


def _plan_tasks(args: argparse.Namespace) -> list[Task]:
    paths = [resolved(path) for path in plans_of(args.plan, HwConfig.load(args.config))]
    chosen = planned(paths, args.only)
    tests = {PlannedTest(entry.name, str(path), "plan"): first_seed(args.seed, entry) for entry, path in chosen}
    return _test_tasks(args, tests, 1 if args.seeds is None else args.seeds)


def _level_tasks(args: argparse.Namespace) -> list[Task]:
    for name in ("plan", "seeds"):
        if getattr(args, name) is not None:
            raise InputError(f"--{name} must not be given with --level, which says what is played")
    plan = feature_plan(args)
    level = plan.level(args.level)
    features = plan.up_to(level.name)
    if args.port_map is not None and CSB in load_port_map(args.port_map, HwConfig.load(args.config)).wrapped:
        # Its registers are behind another port than CSB.
        features = [feature for feature in features if not feature.bare_registers]
    tests = planned_tests(features)
    for pattern in args.only or ():
        if not any(matches(test.name, [pattern]) for test in tests):
            names = {test.name for test in tests}
            raise PlanError(f"no test of level {level.name} matches {pattern}{meant(pattern, names)}")
    tests = [test for test in tests if matches(test.name, args.only)]
    tasks = _test_tasks(args, dict.fromkeys(tests, 1 if args.seed is None else args.seed), level.seeds)
    if args.only is None:
        tasks += random_tasks(args, ",".join(ENGINES), range(level.random))
    as_chosen = not SIMULATORS[args.sim].random_registers or any(map(_chooses_state, args.plusarg))
    return tasks if as_chosen else list(map(_powered_up, tasks))


def _chooses_state(plusarg: str) -> bool:
    return plusarg.startswith("+verilator+rand+reset+")


def _powered_up(task: Task) -> Task:
    """Let a task's simulator begin as a chip does, with any numbers in registers and memories: one of a few states.

    A register without a reset shows so. The scenarios of a worker share a simulator for each state.
    """
    state = ("+verilator+rand+reset+2", f"+verilator+seed+{1 + zlib.crc32(task.identity.encode()) % _STATES}")
    again = f"{task.rerun} {plusarg_arguments(state)}"
    return msgspec.structs.replace(task, plusargs=(*task.plusargs, *state), rerun=again)


def _test_tasks(args: argparse.Namespace, tests: Mapping[PlannedTest, int], count: int) -> list[Task]:
    """Return the tasks of tests, each with so many seeds from its first one on."""
    if len(tests) * count > RUN_TASKS:
        raise InputError(f"a run must have at most {RUN_TASKS} tasks, not {count} seeds of {len(tests)} tests")
    dut = counting_dut(args)
    tasks, plusargs = [], tuple(args.plusarg)
    for test, first in tests.items():
        if test.kind == BENCH:
            # Nothing in it follows from a seed.
            rerun = f"{COMMAND} regress plan --level {args.level} {same_device(args)} --only {test.name}"
            tasks.append(Task(test.name, first, BENCH, test.source, dut, rerun, plusargs=plusargs))
            continue
        options = f"--plan {shlex.quote(test.source)} {same_device(args)} --only {shlex.quote(test.name)}"
        rerun = f"{COMMAND} run {options} --seed"
        tasks += [
            Task(test.name, seed, "plan", test.source, dut, f"{rerun} {seed}", args.exact, plusargs)
            for seed in range(first, first + count)
        ]
    return tasks


def _trace_tasks(args: argparse.Namespace) -> list[Task]:
    paths, dut, options = find_traces(args.paths), counting_dut(args), same_device(args)
    check_different([name_of(path) for path in paths], paths)
    reruns = [f"{COMMAND} trace {shlex.quote(anywhere(path))} {options}" for path in paths]
    return [
        Task(name_of(path), 0, "trace", str(resolved(path)), dut, rerun, args.exact, tuple(args.plusarg))
        for path, rerun in zip(paths, reruns, strict=True)
    ]
