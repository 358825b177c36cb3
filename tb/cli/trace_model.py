"""``trace --model-only``: golden traces and measured layers on the reference model, without a simulator."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from models.config import HwConfig
from tb.cli.common import check_model_only
from tb.playback import Played, play_model
from tb.regress import report
from tb.regress.columns import aligned
from tb.regress.jobs import Job, JobResult
from tb.trace import TraceUnsupported, find_traces, measured, read
from tb.trace.files import MEASURED
from tb.verdict import Outcome, Verdict

_COLUMNS = ("result", "scenario", "family", "layers", "bytes judged", "golden", "differing", "worst margin", "seconds")
_FAMILY_COLUMNS = (
    "family",
    "files",
    *(outcome.value for outcome in Outcome),
    "exact",
    "by tolerance",
    "worst margin",
    "counters",
    "bytes judged",
)
_LEGEND = (
    "exact: files whose golden results the bit-accurate model reproduces in every byte\n"
    "by tolerance: files with FP16 results judged by a published threshold; worst margin: the largest part of it used\n"
    "counters: statistics registers read after a layer that hold what the model counts\n"
    "described: files without register writes; theirs are made from the file's description"
)
_PREFIX = "measured_"


def main(args: argparse.Namespace) -> int:
    """Play every trace and layer, print tables and complaints, and return the exit code.

    Raises:
        ValueError: for an option that needs a simulator.
    """
    check_model_only(args)
    started = time.monotonic()
    families: dict[str, list[JobResult]] = {}
    results = []
    for path in find_traces(args.paths):
        result = play(path, args.config, args.exact)
        results.append(result)
        families.setdefault(family_of(path), []).append(result)
    print(f"{aligned([_COLUMNS, *_rows(families)], left=3)}\n")
    problems = report.complaints(results)
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
    print(report.summary(results))
    return report.exit_code(results)


def play(path: Path, config_name: str, exact: bool) -> JobResult:
    """Play one trace or layer; layers are played on the configuration that they were measured on.

    Args:
        path: The trace or layer.
        config_name: What traces are played on.
        exact: Whether FP16 results must equal the bit-accurate model.

    Returns:
        The result; its facts tell how many golden bytes the bit-accurate model does not reproduce.
    """
    name = measured.CONFIG if path.suffix == MEASURED else config_name
    config = HwConfig.load(name)
    rerun = f"python -m tb trace --model-only {shlex.quote(str(path))} --config {shlex.quote(config_name)}"
    job = Job(path.stem, 0, f"{rerun} --exact" if exact else rerun, partial(read, path, config))
    started = time.monotonic()
    try:
        scenario = job.make()
        scenario = replace(scenario, settings=replace(scenario.settings, exact=exact or scenario.settings.exact))
        played = play_model(scenario, config)
    except TraceUnsupported as error:
        played = Played(Verdict(refused=str(error)))
    verdict = played.verdict
    complaints = verdict.complaints() if verdict.refused is None else [verdict.refused]
    seconds = time.monotonic() - started
    facts = verdict.to_dict() | {"differing_bytes": played.differing_bytes, "counters": played.counters}
    return JobResult(job, verdict.outcome, tuple(complaints), seconds, None, facts)


def family_of(path: Path) -> str:
    """Return what a trace or layer is counted under."""
    if path.suffix == MEASURED:
        return measured.MeasuredFile.load(path).family
    return path.stem.removeprefix(_PREFIX).partition("_")[0]


def _rows(families: dict[str, list[JobResult]]) -> list[tuple[str, ...]]:
    return [
        (
            result.outcome.value,
            result.job.name,
            family,
            str(result.facts["layers"]),
            str(result.facts["judged_bytes"]),
            f"{result.facts['crc_passed']}/{result.facts['crc_passed'] + result.facts['crc_failed']}",
            str(result.facts["differing_bytes"]),
            _margin([result]),
            f"{result.seconds:.2f}",
        )
        for family, results in families.items()
        for result in results
    ]


def _totals(family: str, results: Sequence[JobResult]) -> tuple[str, ...]:
    counts = [sum(result.outcome is outcome for result in results) for outcome in Outcome]
    passed = [result for result in results if result.outcome is Outcome.PASSED]
    judged = sum(result.facts["judged_bytes"] for result in passed)
    exact = sum(result.facts["differing_bytes"] == 0 for result in passed)
    tolerated = sum(result.facts["worst_margin"] is not None for result in results)
    counters = sum(result.facts["counters"] for result in passed)
    numbers = [str(number) for number in (len(results), *counts, exact, tolerated)]
    return (family, *numbers, _margin(results), str(counters), str(judged))


def _margin(results: Sequence[JobResult]) -> str:
    """Return the largest part of a tolerance that was used."""
    margins = [result.facts["worst_margin"] for result in results if result.facts["worst_margin"] is not None]
    return f"{max(margins):.3f}" if margins else "-"
