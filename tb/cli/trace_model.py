"""``trace --model-only``: golden traces and measured layers on the reference model, without a simulator."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from models.config import HwConfig
from tb.playback import play_model
from tb.regress import report
from tb.regress.jobs import Job, JobResult
from tb.trace import TraceUnsupported, find_traces, measured, read
from tb.verdict import Outcome, Verdict

_COLUMNS = ("result", "scenario", "family", "layers", "bytes judged", "golden", "seconds")
_FAMILY_COLUMNS = ("family", "files", *(outcome.value for outcome in Outcome), "bytes judged")
_PREFIX = "measured_"


def main(args: argparse.Namespace) -> int:
    """Play every trace and layer, print tables and complaints, and return the exit code.

    Raises:
        ValueError: for an option that needs a simulator.
    """
    for option in ("rtl", "port_map", "debug", "waves"):
        if getattr(args, option):
            raise ValueError(f"--{option.replace('_', '-')} must be left out: --model-only plays no RTL")
    started = time.monotonic()
    families: dict[str, list[JobResult]] = {}
    results = []
    for path in find_traces(args.paths):
        result = play(path, args.config)
        results.append(result)
        families.setdefault(family_of(path), []).append(result)
    print(f"{report.aligned([_COLUMNS, *_rows(families)], left=3)}\n")
    problems = report.complaints(results)
    if problems:
        print(f"{problems}\n")
    print(f"{report.aligned([_FAMILY_COLUMNS, *(_totals(*item) for item in families.items())], left=1)}\n")
    if args.json:
        report.write_json(results, args.json)
    print(f"{time.monotonic() - started:.1f} s")
    print(report.summary(results))
    return report.exit_code(results)


def play(path: Path, config_name: str) -> JobResult:
    """Play one trace or layer; layers are played on the configuration that they were measured on."""
    name = measured.CONFIG if path.suffix == measured.SUFFIX else config_name
    config = HwConfig.load(name)
    rerun = f"python -m tb trace --model-only {shlex.quote(str(path))} --config {shlex.quote(config_name)}"
    job = Job(path.stem, 0, rerun, partial(read, path, config))
    started = time.monotonic()
    try:
        verdict = play_model(job.make(), config).verdict
    except TraceUnsupported as error:
        verdict = Verdict(refused=str(error))
    complaints = verdict.complaints() if verdict.refused is None else [verdict.refused]
    seconds = time.monotonic() - started
    return JobResult(job, verdict.outcome, tuple(complaints), seconds, None, verdict.to_dict())


def family_of(path: Path) -> str:
    """Return what a trace or layer is counted under."""
    if path.suffix == measured.SUFFIX:
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
            f"{result.seconds:.2f}",
        )
        for family, results in families.items()
        for result in results
    ]


def _totals(family: str, results: Sequence[JobResult]) -> tuple[str, ...]:
    counts = [str(sum(result.outcome is outcome for result in results)) for outcome in Outcome]
    judged = sum(result.facts["judged_bytes"] for result in results if result.outcome is Outcome.PASSED)
    return (family, str(len(results)), *counts, str(judged))
