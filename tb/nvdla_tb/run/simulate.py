"""Run cocotb tests on a compiled model, and say how they ended: one by one, or in a process that many scenarios share.

A process that is shared is asked over a socket: requests and answers are lines of JSON. The cocotb test on the other
end is given the socket's number in ``NVDLA_REQUESTS``; it ends when the socket closes.
"""

from __future__ import annotations

import select
import socket
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from signal import Signals
from typing import NamedTuple, TextIO

from nvdla_tb.judge.detail import Note
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.text import complaint
from nvdla_tb.run.compile.runners import simulation
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.process import LOOK_SECONDS, Ended, abort, kill, last_relevant_lines, start, supervise
from nvdla_tb.run.simulators import SIMULATORS
from nvdla_tb.run.standstill import Standstill
from nvdla_tb.run.systems import ENTRY_ENVIRONMENT, system_with
from nvdla_tb.stimulus.exchange import PINS_MARKER, Request

LOG_NAME = "sim.log"
ENDING_NAME = "cocotb.ending"
"""What cocotb says of its test. No JUnit by its name: the test of a scenario passes whatever the judge has found."""

_ENDED_EARLY = "SimFailure"
"""The name that cocotb gives a test whose simulation ended before it."""

_CLOCK_IS_DRIVEN = 77
"""The exit code of the native back end's clock loop when somebody else drives a clock."""

_FROM_OUTSIDE = (Signals.SIGKILL, Signals.SIGTERM, Signals.SIGHUP, Signals.SIGINT, Signals.SIGQUIT)
"""Signals that no fault of a simulator causes; SIGKILL is also what a kernel sends when memory is short."""


@dataclass(frozen=True)
class SimResult:
    """One finished simulation.

    Attributes:
        check: What went wrong: the test itself, a crash, a timeout, a kill from outside, time that stood still, or a
            test that let no time pass; None when the test ran and nothing failed.
        message: Why it did not pass; empty when it did.
        seconds: Wall-clock time.
        log_path: Everything the simulator and the test printed.
        standstill: That simulation time stood still, None when it did not.
        reported: Whether cocotb reported an ending of its test; False when it could not even load it.
    """

    check: Check | None
    message: str
    seconds: float
    log_path: Path
    standstill: Finding | None = None
    reported: bool = True

    @property
    def passed(self) -> bool:
        """Whether the test ran and nothing failed."""
        return self.check is None

    @property
    def finding(self) -> Finding:
        """Why it did not pass."""
        assert self.check is not None
        return self.standstill or Finding(self.check, Note(self.message))


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
    loaded: str | None = None,
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
        loaded: Module that cocotb loads, which has the test of ``test_module``; that module when left out.

    Raises:
        LaunchError: for waves from a model that was built without.
    """
    if waves and built.wave_suffix is None:
        raise LaunchError("waves need a model that was built with waves=True")
    if timeout_seconds <= 0:
        raise LaunchError(f"timeout_seconds must be greater than 0, not {timeout_seconds}")
    work_dir = work_dir.resolve()
    log_path, ending_path = work_dir / LOG_NAME, work_dir / ENDING_NAME
    started = time.monotonic()
    simulator = SIMULATORS[built.spec.simulator]
    arguments = list(simulator.with_waves if waves else simulator.without_waves)
    arguments += [f"+wave_file={work_dir}/waves.{built.wave_suffix}"] if waves else []
    arguments += plusargs
    make_empty(work_dir)
    with Standstill() as watch:
        variables = {**env, **watch.variables}
        command, environment = simulation(built, test_module, testcase, variables, ending_path, arguments, loaded)
        ended = supervise(
            command,
            cwd=work_dir,
            environment=environment,
            log_path=log_path,
            timeout_seconds=timeout_seconds,
            meanwhile=watch.look,
        )
        check, message = judge(ended, ending_path, log_path, f"{test_module}.{testcase}", timeout_seconds)
        result = _result(check, message, time.monotonic() - started, log_path, watch)
    result = replace(result, reported=ending_path.is_file())
    ending_path.unlink(missing_ok=True)
    return result


def _result(check: Check | None, message: str, seconds: float, log_path: Path, watch: Standstill) -> SimResult:
    """Return how a simulation ended; time that stood still is why it was killed, or ended by itself."""
    found = watch.found(log_path) if check in (Check.TIMEOUT, Check.CRASH) else None
    if found is not None:
        return SimResult(found.check, complaint(found), seconds, log_path, found)
    return SimResult(check, message + watch.where if check is Check.TIMEOUT else message, seconds, log_path)


def make_empty(work_dir: Path) -> None:
    """Make the folder of a simulation, without log and results of an earlier one."""
    work_dir.mkdir(parents=True, exist_ok=True)
    (work_dir / LOG_NAME).unlink(missing_ok=True)
    (work_dir / ENDING_NAME).unlink(missing_ok=True)


def judge(
    ended: Ended, ending_path: Path, log_path: Path, test: str, timeout_seconds: float
) -> tuple[Check | None, str]:
    """Return how a simulation ended and why; only a result file that says so makes it pass."""
    if ended.timed_out:
        return Check.TIMEOUT, f"{test} was killed after {timeout_seconds:g} seconds"
    if ended.returncode == _CLOCK_IS_DRIVEN:
        how = f"mark the test {PINS_MARKER} to play it with agents in Python"
        return Check.RAISED, f"{test} drives a clock, as the native back end does itself: {how}"
    if -ended.returncode in _FROM_OUTSIDE:
        return Check.LOST, f"{test}: the simulator was killed by {Signals(-ended.returncode).name} from outside"
    if ended.returncode < 0:
        return Check.CRASH, f"{test}: the simulator was ended by {Signals(-ended.returncode).name}"
    if not ending_path.is_file():
        last = next((line for line in reversed(last_relevant_lines(log_path)) if any(map(str.isalnum, line))), "")
        return Check.CRASH, f"{test}: the simulator ended with code {ended.returncode} and no result file: {last}"
    try:
        cases = list(ElementTree.parse(ending_path).iter("testcase"))
    except ElementTree.ParseError as error:
        return Check.CRASH, f"{test}: the result file is incomplete: {error}"
    problems = [problem for case in cases for kind in ("failure", "error") for problem in case.iter(kind)]
    if any(problem.get("type", problem.get("error_type")) == _ENDED_EARLY for problem in problems):
        # Nothing else ends a simulation: the test had not asked for it, and no signal came.
        why = "the device ended the simulation, as by $finish, or no clock runs, so that nothing more happens"
        return Check.CRASH, f"{test}: {why}"
    if problems:
        return Check.TEST, f"{test}: {problems[0].get('message') or problems[0].get('error_msg') or 'failed'}"
    ran = [case for case in cases if case.find("skipped") is None]
    if not ran:
        return Check.CRASH, f"{test}: no such test ran"
    if ended.returncode != 0:
        return Check.CRASH, f"{test}: the simulator ended with code {ended.returncode} after the test passed"
    if not any(map(_took_time, ran)):
        return Check.EMPTY, f"{test} ended before any time had passed, so that it played nothing"
    return None, ""


def _took_time(case: ElementTree.Element) -> bool:
    """Return whether the simulation went on during a test; cocotb notes for how long."""
    return not any(
        found.get("name") == "sim_time_duration" and float(found.get("value", "")) == 0.0
        for found in case.iter("property")
    )


_REQUESTS = "NVDLA_REQUESTS"
_TEST = "serve"
"""The entry module's test that answers requests."""

_CLOSING_GRACE_SECONDS = 5.0
_COUNTING_GRACE_SECONDS = 300.0
"""The same with code coverage: hundreds of thousands of points are written at the end."""


class _Alive(NamedTuple):
    """A process that waits for requests, both ways of talking to it, and what watches its time."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    answers: TextIO
    watch: Standstill


class SharedProcess:
    """Plays scenario after scenario in one simulator process, with a reset before each.

    Unless one passes, the next gets a new process: whatever went wrong stays where it was.

    Attributes:
        built: The model that it runs.
        plusargs: Arguments of the simulator; only jobs with the same ones can be played in it.
        work_dir: Where it runs, says something between scenarios, and leaves at its end what it has counted of the
            RTL's code; made when missing.
        scenarios: How many the process that is alive has been given.
        last: ``TEST.SEED`` of the last one of them, None before the first.
    """

    def __init__(self, built: Built, work_dir: Path, plusargs: tuple[str, ...] = ()) -> None:
        """Remember what to play on; the process starts with the first scenario."""
        self.built, self.plusargs, self.work_dir, self.scenarios = built, plusargs, work_dir.resolve(), 0
        self.last: str | None = None
        self._alive: _Alive | None = None

    def takes(self, plusargs: tuple[str, ...]) -> bool:
        """Return whether scenarios with these arguments can share the process.

        Coroutines live as long as the process, and waves are written at its end.
        """
        return self.built.spec.native and not self.built.spec.waves and plusargs == self.plusargs

    def play(self, request: Request, log_path: Path, timeout_seconds: float) -> SimResult:
        """Play a saved scenario and say how that ended; without an answer the process has ended, too.

        Args:
            request: What to play, and where its answer and its log go.
            log_path: That log, if the simulator gets that far.
            timeout_seconds: Wall-clock limit, after which the process is killed.
        """
        log_path.unlink(missing_ok=True)
        if self._alive is None:
            self._alive = self._start()
        self.scenarios += 1
        self.last = request.so_far.identity
        started = time.monotonic()
        ended = _asked(self._alive, request.encode(), timeout_seconds)
        seconds = time.monotonic() - started
        log_path = log_path if log_path.is_file() else self.work_dir / LOG_NAME
        if ended is None:
            return SimResult(None, "", seconds, log_path)
        test = f"{system_with(self.built.spec.config).entry_module}.{_TEST}"
        check, message = judge(ended, self.work_dir / ENDING_NAME, log_path, test, timeout_seconds)
        if check is None:
            check, message = Check.CRASH, f"{test}: the simulator ended without an answer"
        result = _result(check, message, seconds, log_path, self._alive.watch)
        self.close()
        return result

    def close(self) -> None:
        """End the process, which finishes its test when it can."""
        alive, self._alive, self.scenarios, self.last = self._alive, None, 0, None
        if alive is None:
            return
        alive.answers.close()
        alive.socket.close()
        counts = self.built.spec.coverage is not None
        try:
            alive.process.wait(_COUNTING_GRACE_SECONDS if counts else _CLOSING_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            kill(alive.process)
            alive.watch.close()
            (self.work_dir / ENDING_NAME).unlink(missing_ok=True)

    def _start(self) -> _Alive:
        ours, theirs = socket.socketpair()
        watch = Standstill()
        with theirs:
            variables = {**ENTRY_ENVIRONMENT, **watch.variables, _REQUESTS: str(theirs.fileno())}
            make_empty(self.work_dir)
            module, results_path = system_with(self.built.spec.config).entry_module, self.work_dir / ENDING_NAME
            command, environment = simulation(self.built, module, _TEST, variables, results_path, self.plusargs)
            with (self.work_dir / LOG_NAME).open("wb") as log:
                process = start(
                    command,
                    cwd=self.work_dir,
                    environment=environment,
                    log=log,
                    pass_fds=[theirs.fileno()],
                )
        return _Alive(process, ours, ours.makefile("r", encoding="utf-8"), watch)


def _until(deadline: float) -> float:
    """Return the seconds until the next look at what is played, which is no later than its deadline."""
    return min(LOOK_SECONDS, max(deadline - time.monotonic(), 0.0))


def _asked(alive: _Alive, request: str, timeout_seconds: float) -> Ended | None:
    """Have a request carried out; return how the process ended instead of answering, or None."""
    deadline = time.monotonic() + timeout_seconds
    alive.socket.settimeout(timeout_seconds)
    try:
        alive.socket.sendall(f"{request}\n".encode())
        while not select.select([alive.socket], [], [], _until(deadline))[0]:
            if alive.watch.look() or time.monotonic() > deadline:
                return abort(alive.process)
        if alive.answers.readline():
            return None
        # It closed the socket without an answer: the test failed, or the process is dead.
        return Ended(alive.process.wait(timeout_seconds), timed_out=False)
    except (TimeoutError, subprocess.TimeoutExpired):
        return abort(alive.process)
    except (BrokenPipeError, ConnectionResetError):
        return Ended(alive.process.wait(), timed_out=False)
