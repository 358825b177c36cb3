"""``trace``: play traces of the public format; with ``--model-only``, on the reference model without a simulator."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.cli.dut import anywhere, build_dut, dut_arguments
from nvdla_tb.cli.dut_options import add_dut_options, add_reports_option
from nvdla_tb.cli.playing import check_model_only, check_run_options, dump_folder, play_and_report, remove_earlier_file
from nvdla_tb.cli.run_options import add_run_options
from nvdla_tb.counting import counted
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints, margin_part
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import COMMAND
from nvdla_tb.report import failures, report, summary
from nvdla_tb.report.summary import aligned
from nvdla_tb.run.jobs import Job
from nvdla_tb.run.systems import refuse
from nvdla_tb.run.task import trace_jobs
from nvdla_tb.stimulus.model import Played, play_model
from nvdla_tb.stimulus.refusal import with_takers
from nvdla_tb.stimulus.result import Dut, Result
from nvdla_tb.stimulus.trace import TraceError, TraceUnsupported, find_traces, read
from nvdla_tb.stimulus.trace.files import name_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="trace folder, .cfg, input.txn, or folder of them",
    )
    parser.add_argument(
        "--model-only", action="store_true", help="no simulator: compare golden results with the reference model"
    )
    add_dut_options(parser)
    add_run_options(parser)
    add_reports_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    refuse(args.paths)
    if args.model_only:
        return compare(args)
    config = HwConfig.load(args.config)
    options, paths = dut_arguments(args), find_traces(args.paths)
    jobs = trace_jobs(paths, config, [f"{COMMAND} trace {shlex.quote(anywhere(path))} {options}" for path in paths])
    check_different([job.identity for job in jobs], paths)
    check_run_options(args)
    built = build_dut(args, config, waves=args.waves)
    return play_and_report(args, [(args, jobs, built)], "trace")


def check_different(names: Sequence[str], paths: Sequence[Path]) -> None:
    """Check that traces can be told apart by their names, which their results and folders have.

    Raises:
        InputError: for two of one name.
    """
    found: dict[str, Path] = {}
    for name, path in zip(names, paths, strict=True):
        if name in found:
            raise InputError(f"traces must have different names, not both {name}: {found[name]} and {path}")
        found[name] = path


_COLUMNS = ("result", "scenario", "family", "layers", "bytes judged", "golden", "differing", "worst margin", "seconds")
_FAMILY_COLUMNS = (
    *("family", "files", "passed", "failed", "refused"),
    *("exact", "by tolerance", "worst margin", "counters", "bytes judged"),
)
_LEGEND = (
    "exact: files whose golden results the bit-accurate model reproduces in every byte\n"
    "by tolerance: files with FP16 results judged by a published threshold; worst margin: the largest part of it used\n"
    "counters: statistics registers read after a layer that hold what the model counts"
)
_PREFIX = "measured_"
MODEL = "model"
"""What takes the simulator's place in results of the model alone."""
_UNREADABLE = "unreadable"
_NAMES = 4
"""Traces that are named of those with polls that were not checked."""


def compare(args: argparse.Namespace) -> int:
    """Play every trace, print tables and complaints, and return the exit code.

    Raises:
        InputError: for an option that needs a simulator.
    """
    check_model_only(args)
    remove_earlier_file(args.json)
    started = time.monotonic()
    families: dict[str, list[Result]] = {}
    results = []
    for path in find_traces(args.paths):
        result = compared(path, args.config, args.exact, args.dump)
        results.append(result)
        families.setdefault(_UNREADABLE if _is_broken(result) else family_of(path), []).append(result)
    if all(map(_is_broken, results)):
        raise TraceError(*(line for result in results for line in complaints(result.verdict)))
    print(f"{aligned([_COLUMNS, *_rows(families)], left=3)}\n")
    problems = "\n".join((*filter(None, [failures.told(results)]), *_unchecked(results)))
    if problems:
        print(f"{problems}\n")
    totals = [_totals(*item) for item in families.items()]
    if len(families) > 1:
        totals.append(_totals("all", results))
    print(f"{aligned([_FAMILY_COLUMNS, *totals], left=1)}\n")
    print(f"{_LEGEND}\n")
    if args.json:
        report.write_json(results, args.json)
    print(f"{time.monotonic() - started:.1f} s")
    counts = summary.endings(results)
    print(summary.counts_line(counts))
    return summary.exit_code(counts)


def compared(path: Path, config_name: str, exact: bool, dump: Path | None = None) -> Result:
    """Play one trace.

    Returns:
        The result, a failure for a file that cannot be read; its verdict tells how many golden bytes the bit-accurate
        model does not reproduce.
    """
    config = HwConfig.load(config_name)
    rerun = f"{COMMAND} trace --model-only {shlex.quote(anywhere(path))} --config {shlex.quote(anywhere(config_name))}"
    job = Job(name_of(path), 0, f"{rerun} --exact" if exact else rerun, partial(read, path, config))
    started = time.monotonic()
    try:
        scenario = job.nvdla_scenario()
        if exact:
            scenario = replace(scenario, settings=msgspec.structs.replace(scenario.settings, exact=True))
        played = play_model(scenario, config, None if dump is None else dump_folder(dump, job.identity))
    except TraceUnsupported as error:
        played = Played(Verdict(refused=str(error)))
    except TraceError as error:
        return job.result(Dut(config_name, MODEL), Verdict.of(Check.INPUT, str(error)))
    if played.verdict.refused is not None:
        played.verdict.refused = with_takers(played.verdict.refused, config, partial(read, path))
    return job.result(Dut(config_name, MODEL), played.verdict, time.monotonic() - started)


def _unchecked(results: Sequence[Result]) -> list[str]:
    """Return the line that says how many polls and reads the model could not check; nothing without any."""
    lacking = [result for result in results if result.verdict.unchecked]
    if not lacking:
        return []
    count = sum(result.verdict.unchecked for result in lacking)
    names = ", ".join(result.identity for result in lacking[:_NAMES])
    more = f" and {len(lacking) - _NAMES} more" if len(lacking) > _NAMES else ""
    polls, were = counted(count, "poll or expected read", "polls and expected reads"), "was" if count == 1 else "were"
    what = f"{polls} {were} not checked, as the model does not predict their registers"
    return [f"not checked: {names}{more}: {what}"]


def _is_broken(result: Result) -> bool:
    """Return whether the file could not be read."""
    return any(finding.check is Check.INPUT for finding in result.verdict.findings)


def family_of(path: Path) -> str:
    """Return what a trace is counted under."""
    return name_of(path).removeprefix(_PREFIX).partition("_")[0]


def _rows(families: dict[str, list[Result]]) -> list[tuple[str, ...]]:
    return [
        (
            report.outcome(result.ending),
            result.test,
            family,
            str(result.verdict.layers),
            str(result.verdict.judged_bytes),
            f"{result.verdict.crc_passed}/{result.verdict.crc_passed + result.verdict.crc_failed}",
            str(result.verdict.differing_bytes),
            margin_part(result.verdict.worst_margin),
            f"{result.seconds:.2f}",
        )
        for family, results in families.items()
        for result in results
    ]


def _totals(family: str, results: Sequence[Result]) -> tuple[str, ...]:
    outcomes = [report.outcome(result.ending) for result in results]
    counts = [outcomes.count(name) for name in ("passed", "failed", "refused")]
    passed = [result.verdict for result in results if result.ending is Ending.PASSED]
    judged = sum(verdict.judged_bytes for verdict in passed)
    exact = sum(verdict.differing_bytes == 0 for verdict in passed)
    margins = [result.verdict.worst_margin for result in results if result.verdict.worst_margin is not None]
    counters = sum(verdict.counters for verdict in passed)
    numbers = [str(number) for number in (len(results), *counts, exact, len(margins))]
    return (family, *numbers, margin_part(max(margins, default=None)), str(counters), str(judged))
