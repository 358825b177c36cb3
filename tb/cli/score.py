"""``score``: play seeded bugs, and say which were caught, by what, how early, and whether the cause was named."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from models.config import HwConfig
from models.errors import InputError
from tb.cli import numbers, score_mutants
from tb.cli.dut import BUILD_ROOT, add_dut_options, build_dut, dut_arguments, dut_of
from tb.cli.patterns import matches, only_option, said
from tb.cli.playing import play_options
from tb.cli.run_dlhdl import check_options, core_of
from tb.dlhdl.config import configs_of, is_dlhdl
from tb.judge.text import why_not_passed
from tb.places import COMMAND, PLANS
from tb.run.process import as_ended
from tb.run.systems import AnyConfig
from tb.tools.score import report
from tb.tools.score.catalogue import BUGS_FILE, DLHDL_BUGS_FILE, Bug, BugKind, load_catalogue
from tb.tools.score.journal import Journal, Played
from tb.tools.score.play import Bench, BugResult, false_alarms, play_bug
from tb.tools.score.scenarios import Source, dlhdl_sources, of_unit, sources

HELP = "play seeded bugs: which are caught, by what, how early, and is the cause named"
EXAMPLE = "python -m tb score --only 'sdp_*'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    only_option(parser, "bugs")
    kinds = ", ".join(kind.value for kind in BugKind)
    parser.add_argument("--kind", metavar="KIND", help=f"only bugs of this kind: {kinds}")
    parser.add_argument("--seed", type=numbers.seed, default=1, metavar="N", help="seed of all data (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the bugs and exit")
    score_mutants.add_arguments(parser)
    add_dut_options(parser)
    group = parser.add_argument_group("running")
    play_options(group)
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
        return score_mutants.main(args, rerun(args))
    dlhdl = is_dlhdl(args.config)
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
    plays = []
    for core, config in cores:
        own = [bug for bug in bugs if bug.config == config.name]
        if own:
            found = dlhdl_sources(PLANS) if dlhdl else sources(PLANS, config.name)
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
        for result in as_ended(args.jobs, partial(play_bug, bench=bench, seed=args.seed), left):
            journal.add(result.bug.name, result.ended)
            print(f"[{len(journal.done):3}/{len(bugs)}] {report.line(result)}", flush=True)
    results = [BugResult(bug, journal.done[bug.name]) for bug in bugs]
    report.write_json(results, args.results / "score.json")
    print("\n" + "\n".join(report.summary(results)))
    print(f"results: {args.results / 'score.json'}")
    return 0 if report.passed(results) else 1


def devices(args: argparse.Namespace) -> list[tuple[argparse.Namespace, AnyConfig]]:
    """Return the devices that bugs may be played on, each with the options that select it."""
    if not is_dlhdl(args.config):
        return [(args, HwConfig.load(args.config))]
    check_options(args)
    return [(core_of(args, config), config) for config in configs_of(args.config)]


def rerun(args: argparse.Namespace) -> str:
    """Return the command that plays the same again; what follows it may choose one bug or mutant."""
    words = ["--seed", str(args.seed)]
    if args.mutants is not None:
        words += ["--mutants", str(args.mutants), "--modules", args.modules, "--scenarios", args.scenarios]
        words += ["--level", args.level, "--each", str(args.each)]
        words += [] if args.random is None else ["--random", str(args.random)]
    if args.hang_cycles is not None:
        words += ["--hang-cycles", str(args.hang_cycles)]
    return f"{COMMAND} score {shlex.join(words)} {dut_arguments(args)}"


def alarms(found: Sequence[Source], bench: Bench, args: argparse.Namespace) -> bool:
    """Play scenarios without a bug, and return whether one failed; why is printed."""
    failed = list(false_alarms(found, bench, seed=args.seed, workers=args.jobs))
    for result in failed:
        print("\n  ".join([f"false alarm: {result.identity}", *why_not_passed(result.verdict)]))
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
