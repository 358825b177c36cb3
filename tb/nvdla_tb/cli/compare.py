"""``compare``: what two runs of a store say of the same tests."""

from __future__ import annotations

import argparse

from nvdla_models.reading import shown
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import existing_store
from nvdla_tb.cli.dut_options import add_results_option
from nvdla_tb.cli.run_options import slower_option
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.report import performance
from nvdla_tb.report.summary import counts_line, endings_of, has_failed
from nvdla_tb.run.evidence import OF_CONTENT

_MOST_SHOWN = 20
"""Tests that are named of each kind."""

_DIGITS = 12
"""Of the digest of a content."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("before", type=numbers.ordinal, metavar="RUN", help="number of the earlier run")
    parser.add_argument("after", type=numbers.ordinal, metavar="RUN", help="number of the run that may be worse")
    slower_option(parser)
    add_results_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code: 1 when the later run is worse, or has nothing in common."""
    with existing_store(args.results) as store:
        runs = [store.run(number) for number in (args.before, args.after)]
        before, after = map(store.endings, runs)
        contents = [store.evidence(run) for run in runs]
        cycles_before, cycles_after = (performance.cycles_of(store.results(run)) for run in runs)
    for run, endings, content in zip(runs, (before, after), contents, strict=True):
        of = f", content {shown(content[:_DIGITS])}" if content else ""
        print(f"run {run.id} ({shown(run.title)}{of}): {counts_line(endings_of(endings.values()))}")
        print("".join(f"  {shown(line)}\n" for line in run.read_about()), end="")
    if all(contents):
        same = contents[0] == contents[1]
        print("the same content" if same else f"different content: {OF_CONTENT}")
    both = before.keys() & after.keys()
    worse = _told("newly failing", [key for key in after if key in both and _is_worse(before[key], after[key])], after)
    _told("newly passing", [key for key in after if key in both and _is_worse(after[key], before[key])], before, "was ")
    _told("failing in both", [key for key in after if key in both and _both_fail(before[key], after[key])], after)
    gone = _told("no longer in the run", [key for key in before if key not in both], before, "was ")
    _told("new in the run", [key for key in after if key not in both], after)
    # What was not played has no cycles, and is named above.
    measured = cycles_after.keys() & cycles_before.keys()
    slower = performance.slower(cycles_after, cycles_before, args.slower, "") if measured else []
    print("".join(f"{line}\n" for line in slower), end="")
    if not both:
        print(f"runs {args.before} and {args.after} have no test in common")
    return int(bool(worse or gone or slower or not both))


def _is_right(ending: Ending) -> bool:
    return ending in (Ending.PASSED, Ending.GOLDEN)


def _is_worse(before: Ending, after: Ending) -> bool:
    """Return whether a test was right and is not any more; one that was not played says nothing good."""
    return _is_right(before) and not _is_right(after)


def _both_fail(before: Ending, after: Ending) -> bool:
    return has_failed(before) and has_failed(after)


def _told(what: str, keys: list[str], endings: dict[str, Ending], tense: str = "") -> int:
    """Print the tests of one kind with how they ended, in which run ``tense`` tells, and return how many there are."""
    if keys:
        print(f"{what}: {len(keys)}")
        print("".join(f"  {shown(key)}: {tense}{endings[key].value}\n" for key in keys[:_MOST_SHOWN]), end="")
        print(f"  and {len(keys) - _MOST_SHOWN} more\n" if len(keys) > _MOST_SHOWN else "", end="")
    return len(keys)
