"""``score``: play seeded bugs, and say which were caught, by what, how early, and whether the cause was named."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from models.config import HwConfig
from tb.cli.common import BUILD_ROOT, add_dut_options, build_dut, play_options
from tb.cli.run import PLAN_DIR
from tb.score import report
from tb.score.catalogue import Bug, load_catalogue
from tb.score.play import Bench, BugResult, false_alarms, play_bugs
from tb.score.scenarios import Source, of_unit, sources

HELP = "play seeded bugs: which are caught, by what, how early, and is the cause named"
EXAMPLE = "python -m tb score --only 'sdp_*'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("--only", metavar="PATTERN", help="bugs whose name matches, such as 'sdp_*'")
    parser.add_argument(
        "--kind", metavar="KIND", help="bugs of a kind: layout, arithmetic, control, protocol, interrupt"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of all data (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the bugs and stop")
    add_dut_options(parser)
    group = parser.add_argument_group("running")
    play_options(group)
    group.add_argument(
        "--results", type=Path, default=BUILD_ROOT / "score", metavar="DIR", help="folder (default: sim_build/score)"
    )


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    catalogue = load_catalogue()
    bugs = select(catalogue.bugs, args.only, args.kind)
    if args.list:
        print("\n".join(f"{bug.name:32} {bug.kind.value:10} {bug.about}" for bug in bugs))
        return 0
    if args.rtl is not None:
        raise ValueError("--rtl must not be given: the seeded bugs are those of the embedded DUT")
    config = HwConfig.load(args.config)
    found = sources(PLAN_DIR)
    cases = [(bug, of_unit(found, catalogue.units[bug.unit])) for bug in bugs]
    bench = Bench(build_dut(args, config), config, args.results, args.timeout)
    if alarms(cases, bench, args):
        return 1
    results: list[BugResult] = []
    for result in play_bugs(cases, bench, seed=args.seed, workers=args.jobs):
        results.append(result)
        print(f"[{len(results):3}/{len(bugs)}] {report.line(result)}", flush=True)
    order = [bug.name for bug in bugs]
    results.sort(key=lambda result: order.index(result.bug.name))
    report.write_json(results, args.results / "score.json")
    print("\n" + "\n".join(report.summary(results)))
    print(f"results: {args.results / 'score.json'}")
    return 0 if report.passed(results) else 1


def alarms(cases: Sequence[tuple[Bug, Sequence[Source]]], bench: Bench, args: argparse.Namespace) -> bool:
    """Play every scenario without a bug first, and return whether one complained; its complaints are printed."""
    used = {source.name: source for _, found in cases for source in found}
    failed = list(false_alarms(list(used.values()), bench, seed=args.seed, workers=args.jobs))
    for result in failed:
        print("\n  ".join([f"false alarm: {result.job.identity}", *result.complaints]))
    print(f"without a bug: {len(used) - len(failed)} of {len(used)} scenarios pass", flush=True)
    return bool(failed)


def select(bugs: tuple[Bug, ...], pattern: str | None, kind: str | None) -> list[Bug]:
    """Return the bugs of a kind whose name matches a shell pattern.

    Raises:
        ValueError: when there is none.
    """
    chosen = [
        bug
        for bug in bugs
        if (pattern is None or fnmatchcase(bug.name, pattern)) and (kind is None or bug.kind.value == kind)
    ]
    if not chosen:
        raise ValueError(f"no bug matches {pattern or '*'} of kind {kind or 'any'}; see python -m tb score --list")
    return chosen
