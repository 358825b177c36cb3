"""Records: every way to end is told apart, failures of one cause share a signature, nothing is lost on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from models.errors import InputError
from tb.launch.simulate import Outcome as SimOutcome
from tb.program.ops import Program
from tb.regress.jobs import Job, JobResult
from tb.regress.record import Ending, Record, record_of
from tb.regress.task import Task
from tb.scenario import Scenario
from tb.verdict import Outcome
from tests.unit.regress.tasks import record, task

EMPTY: Program = ()
JOB = Job("bad", 3, "rerun", lambda: Scenario("bad", "nv_small", EMPTY, 3))


def ended(
    outcome: Outcome, simulation: SimOutcome | None, *complaints: str, verdict: str | None = None, **facts: Any
) -> Ending:
    if verdict is not None:
        facts = {"outcome": verdict, "crc_failed": 0, "memory_faults": 0, **facts}
    return record_of("key", JobResult(JOB, outcome, complaints, 1.5, Path("runs/bad.3"), facts, simulation)).ending


@pytest.mark.parametrize(
    ("complaint", "ending"),
    [
        ("wrong value: 1 elements; first at", Ending.MISMATCH),
        ("missing write: 1 elements; first at", Ending.MISMATCH),
        ("stray write: 8 bytes; first at", Ending.MISMATCH),
        ("double write with another value: 1 elements", Ending.MISMATCH),
        ("hang: nothing moved for 5000 cycles", Ending.HANG),
        ("nothing was compared: no layer wrote", Ending.EMPTY),
        ("MC: read of 8 bytes at 0x100: never written", Ending.PROTOCOL),
    ],
)
def test_a_bad_verdict_is_told_by_its_complaints(complaint: str, ending: Ending) -> None:
    assert ended(Outcome.FAILED, SimOutcome.FAILED, complaint, verdict="failed") is ending


def test_a_hang_is_a_hang_even_when_bytes_are_missing() -> None:
    complaints = ("missing write: 8 elements", "hang: nothing moved")
    assert ended(Outcome.FAILED, SimOutcome.FAILED, *complaints, verdict="failed") is Ending.HANG


def test_a_wrong_crc_is_a_mismatch() -> None:
    assert ended(Outcome.FAILED, SimOutcome.FAILED, "CRC", verdict="failed", crc_failed=1) is Ending.MISMATCH


@pytest.mark.parametrize(
    ("simulation", "ending"),
    [
        (SimOutcome.CRASHED, Ending.CRASH),
        (SimOutcome.TIMED_OUT, Ending.TIMEOUT),
        (SimOutcome.FAILED, Ending.BENCH_ERROR),
    ],
)
def test_a_simulation_without_verdict_is_told_by_its_end(simulation: SimOutcome, ending: Ending) -> None:
    assert ended(Outcome.FAILED, simulation, "killed") is ending


def test_a_crash_behind_a_good_verdict_is_a_crash() -> None:
    assert ended(Outcome.FAILED, SimOutcome.CRASHED, "ended by SIGSEGV", verdict="passed") is Ending.CRASH


def test_passed_and_refused_are_no_failures() -> None:
    assert ended(Outcome.PASSED, SimOutcome.PASSED, verdict="passed") is Ending.PASSED
    assert ended(Outcome.REFUSED, None, "no Y") is Ending.REFUSED
    assert [ending for ending in Ending if not ending.is_failure] == [Ending.PASSED, Ending.REFUSED]


def test_a_scenario_that_was_made_for_the_configuration_and_is_refused_is_an_error_of_the_bench() -> None:
    complaint = "refused: SDP.D_DP_BN_CFG.bn_bypass must be YES"
    assert ended(Outcome.FAILED, SimOutcome.PASSED, complaint, verdict="refused") is Ending.BENCH_ERROR


def test_the_signature_leaves_numbers_out() -> None:
    failures = [
        Record("a", Ending.MISMATCH, (f"wrong value: {n} elements; at c={n} (address {n:#x} of MC)", "more"))
        for n in (3, 77)
    ]
    assert {failure.signature for failure in failures} == {"wrong value: # elements; at c=# (address # of MC)"}
    assert Record("a", Ending.PASSED, ()).signature == ""


def test_records_and_tasks_survive_json() -> None:
    original = record(task(3))
    assert Record.from_dict(json.loads(json.dumps(original.to_dict()))) == original
    assert Task.from_dict(json.loads(json.dumps(task(3).to_dict()))) == task(3)


def test_a_task_with_other_keys_is_refused() -> None:
    data = task(3).to_dict()
    del data["rerun"]
    all_keys, given = "dut, exact, kind, rerun, seed, source, test", "dut, exact, kind, seed, source, test"
    with pytest.raises(InputError, match=rf"^a task must have the keys {all_keys}, not {given}$"):
        Task.from_dict(data)
