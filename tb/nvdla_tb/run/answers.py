"""Answers: what a simulator process has left in its folder, and how it ended, as a verdict."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from nvdla_models.reading import read_json
from nvdla_tb.judge.detail import DriverFault, DriverFaultKind, Note, Raised
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.plain_data import converted
from nvdla_tb.run.process import last_lines
from nvdla_tb.run.simulate import SimResult
from nvdla_tb.stimulus.exchange import ACCESSES_FILE, LAST_ACCESSES, RAISED_FILE, Driver
from nvdla_tb.stimulus.result import Result

RESULT_FILE = "result.json"


def raised_in(run: SimResult, work_dir: Path) -> Finding | None:
    """Return what a test in Python has raised, or its module while it was loaded; None where that did not end it."""
    path = work_dir / RAISED_FILE
    ended_it = run.check is Check.TEST or (run.check is Check.CRASH and not run.reported)
    if not ended_it or not path.is_file():
        return None
    found = converted(read_json(path), Finding, str(path))
    assert isinstance(found.detail, Raised)
    here = f"{Path.cwd()}{os.sep}"
    calls = tuple(msgspec.structs.replace(call, path=call.path.removeprefix(here)) for call in found.detail.calls)
    return msgspec.structs.replace(found, detail=msgspec.structs.replace(found.detail, calls=calls))


def of_driver(driver: Driver | None, run: SimResult, work_dir: Path) -> Verdict | None:
    """Return the verdict of a process that ended without an answer while a driver in C ran in it, None without one."""
    path = work_dir / ACCESSES_FILE
    if run.standstill is not None or not path.is_file():
        return None
    accesses = tuple(line for line in last_lines(path) if line)[-LAST_ACCESSES:]
    name = "of the test" if driver is None else driver.name
    return Verdict(
        findings=[Finding(_check_of(run), DriverFault(name, DriverFaultKind.PROCESS, run.message, accesses))]
    )


def left_in(work_dir: Path) -> Result | None:
    """Return the result that a simulator has left in a folder, None when it has left none.

    Raises:
        InputError: for a file that holds none.
    """
    path = work_dir / RESULT_FILE
    return Result.load(path) if path.is_file() else None


def verdict_of(answer: Result, run: SimResult) -> Verdict:
    """Return the verdict of a simulation, with a complaint when its findings should have been explained and are not.

    An answer is saved before it is explained, so that an error of the explainer hides nothing that was found.
    """
    if answer.verdict.needs_explanation and answer.explained is None:
        answer.verdict.add(Finding(Check.EXPLANATION, Note(f"the testbench could not explain this: {run.message}")))
    return answer.verdict


def finding_of(run: SimResult, *log: str) -> Finding:
    """Return why a simulation did not pass, with the last lines of its log unless it says where time stood still."""
    return run.standstill or Finding(_check_of(run), Note("\n".join((run.message, *log))))


def _check_of(run: SimResult) -> Check:
    """Return the error of a simulation; a test that fails without a verdict is an error of the bench."""
    return Check.BENCH if run.check in (None, Check.TEST) else run.check
