"""Run one cocotb test on a compiled model, in its own process group and folder, and say how it ended."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from tb.judge.finding import Check
from tb.run.compile.runners import simulation
from tb.run.compile.spec import Built
from tb.run.errors import LaunchError
from tb.run.process import Ended, last_relevant_lines, supervise

LOG_NAME = "sim.log"
JUNIT_NAME = "results.xml"


_ENDED_EARLY = "SimFailure"
"""The name that cocotb gives a test whose simulation ended before it."""

_FROM_OUTSIDE = (Signals.SIGKILL, Signals.SIGTERM, Signals.SIGHUP, Signals.SIGINT, Signals.SIGQUIT)
"""Signals that no fault of a simulator causes; SIGKILL is also what a kernel sends when memory is short."""


@dataclass(frozen=True)
class SimResult:
    """One finished simulation.

    Attributes:
        check: What went wrong: the test itself, a crash, a timeout, or a kill from outside; None when the test ran
            and nothing failed.
        message: Why it did not pass; empty when it did.
        seconds: Wall-clock time.
        log_path: Everything the simulator and the test printed.
    """

    check: Check | None
    message: str
    seconds: float
    log_path: Path

    @property
    def passed(self) -> bool:
        """Whether the test ran and nothing failed."""
        return self.check is None


def simulate(
    built: Built,
    *,
    test_module: str,
    testcase: str,
    env: Mapping[str, str],
    work_dir: Path,
    timeout_seconds: float,
    waves: bool = False,
    plusargs: Sequence[str] = (),
) -> SimResult:
    """Run one cocotb test.

    Args:
        built: The compiled model.
        test_module: Module that holds the test, importable from this process's ``sys.path``.
        testcase: Exact name of the test function.
        env: Environment variables for the simulation; they win over this process's own.
        work_dir: Folder for the log, the result file and the waves; made when missing.
        timeout_seconds: Wall-clock deadline, after which the whole process group is killed.
        waves: Whether to write waves; the model must be built with ``waves``.
        plusargs: Arguments such as ``+verbose`` for the simulator.

    Raises:
        LaunchError: for waves from a model that was built without.
    """
    if waves and built.wave_suffix is None:
        raise LaunchError("waves need a model that was built with waves=True")
    if timeout_seconds <= 0:
        raise LaunchError(f"timeout_seconds must be greater than 0, not {timeout_seconds}")
    work_dir = work_dir.resolve()
    log_path, junit_path = work_dir / LOG_NAME, work_dir / JUNIT_NAME
    waves_path = work_dir / f"waves.{built.wave_suffix}" if waves else None
    started = time.monotonic()
    arguments = [] if built.spec.simulator == "verilator" else ["-fst" if waves else "-none"]
    arguments += [*([f"+wave_file={waves_path}"] if waves else []), *plusargs]
    make_empty(work_dir)
    command, environment = simulation(built, test_module, testcase, env, junit_path, arguments)
    ended = supervise(
        command, cwd=work_dir, environment=environment, log_path=log_path, timeout_seconds=timeout_seconds
    )
    check, message = judge(ended, junit_path, log_path, f"{test_module}.{testcase}", timeout_seconds)
    seconds = time.monotonic() - started
    return SimResult(check, message, seconds, log_path)


def make_empty(work_dir: Path) -> None:
    """Make the folder of a simulation, without log and results of an earlier one."""
    work_dir.mkdir(parents=True, exist_ok=True)
    (work_dir / LOG_NAME).unlink(missing_ok=True)
    (work_dir / JUNIT_NAME).unlink(missing_ok=True)


def judge(
    ended: Ended, junit_path: Path, log_path: Path, test: str, timeout_seconds: float
) -> tuple[Check | None, str]:
    """Return how a simulation ended and why; only a result file that says so makes it pass."""
    if ended.timed_out:
        return Check.TIMEOUT, f"{test} was killed after {timeout_seconds:g} seconds"
    if -ended.returncode in _FROM_OUTSIDE:
        return Check.LOST, f"{test}: the simulator was killed by {Signals(-ended.returncode).name} from outside"
    if ended.returncode < 0:
        return Check.CRASH, f"{test}: the simulator was ended by {Signals(-ended.returncode).name}"
    if not junit_path.is_file():
        last = last_relevant_lines(log_path).rpartition("\n")[2]
        return Check.CRASH, f"{test}: the simulator ended with code {ended.returncode} and no result file: {last}"
    try:
        cases = list(ElementTree.parse(junit_path).iter("testcase"))
    except ElementTree.ParseError as error:
        return Check.CRASH, f"{test}: the result file is incomplete: {error}"
    problems = [problem for case in cases for kind in ("failure", "error") for problem in case.iter(kind)]
    if any(problem.get("type", problem.get("error_type")) == _ENDED_EARLY for problem in problems):
        # Nothing else ends a simulation: the test had not asked for it, and no signal came.
        return Check.CRASH, f"{test}: the device ended the simulation, as by $finish"
    if problems:
        return Check.TEST, f"{test}: {problems[0].get('message') or problems[0].get('error_msg') or 'failed'}"
    ran = [case for case in cases if case.find("skipped") is None]
    if not ran:
        return Check.CRASH, f"{test}: no such test ran"
    if ended.returncode != 0:
        return Check.CRASH, f"{test}: the simulator ended with code {ended.returncode} after the test passed"
    return None, ""
