"""A simulator process that many scenarios share, one after the other, as it is asked over a socket.

Requests and answers are lines of JSON. The cocotb test on the other end is given the socket's number in
``NVDLA_REQUESTS``; it ends when the socket closes.
"""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple, TextIO

from tb.judge.finding import Check
from tb.run.compile.runners import simulation
from tb.run.compile.spec import Built
from tb.run.process import Ended, abort, kill, start
from tb.run.simulate import JUNIT_NAME, LOG_NAME, SimResult, judge, make_empty
from tb.run.systems import ENTRY_ENVIRONMENT, entry_module
from tb.stimulus.exchange import Request

_REQUESTS = "NVDLA_REQUESTS"
_TEST = "serve"
"""The entry module's test that answers requests."""

_CLOSING_GRACE_SECONDS = 5.0
_COUNTING_GRACE_SECONDS = 300.0
"""The same with code coverage: hundreds of thousands of points are written at the end."""


class _Alive(NamedTuple):
    """A process that waits for requests, and both ways of talking to it."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    answers: TextIO


class SharedProcess:
    """Plays scenario after scenario in one simulator process, with a reset before each.

    Unless one passes, the next gets a new process: whatever went wrong stays where it was.

    Attributes:
        built: The model that it runs.
        plusargs: Arguments of the simulator.
        work_dir: Where it runs, and leaves at its end what it has counted of the RTL's code.
        scenarios: How many the process that is alive has been given.
        last: ``TEST.SEED`` of the last one of them, None before the first.
    """

    def __init__(self, built: Built, work_dir: Path, plusargs: tuple[str, ...] = ()) -> None:
        """Remember what to play on; the process starts with the first scenario.

        Args:
            built: A compiled model with the native back end.
            work_dir: Folder for what the process says between scenarios; made when missing.
            plusargs: Arguments for the simulator; only jobs with the same ones can be played in it.
        """
        self.built, self.plusargs, self.work_dir, self.scenarios = built, plusargs, work_dir.resolve(), 0
        self.last: str | None = None
        self._alive: _Alive | None = None

    def takes(self, plusargs: tuple[str, ...]) -> bool:
        """Return whether scenarios with these arguments can share the process.

        Coroutines live as long as the process, and waves are written at its end.
        """
        return self.built.spec.native and not self.built.spec.waves and plusargs == self.plusargs

    def play(self, request: Request, log_path: Path, timeout_seconds: float) -> SimResult:
        """Play a saved scenario and say how that ended; unless it passed, the process has ended, too.

        Args:
            request: What to play, and where its answer and its log go.
            log_path: That log, if the simulator gets that far.
            timeout_seconds: Wall-clock limit, after which the process is killed.
        """
        log_path.unlink(missing_ok=True)
        if self._alive is None:
            self._alive = self._start()
        self.scenarios += 1
        self.last = request.test
        started = time.monotonic()
        check, message = None, ""
        ended = _asked(self._alive, request.encode(), timeout_seconds)
        seconds = time.monotonic() - started
        log_path = log_path if log_path.is_file() else self.work_dir / LOG_NAME
        if ended is not None:
            test = f"{entry_module(self.built.spec.config)}.{_TEST}"
            check, message = judge(ended, self.work_dir / JUNIT_NAME, log_path, test, timeout_seconds)
            if check is None:
                check, message = Check.CRASH, f"{test}: the simulator ended without an answer"
            self.close()
        return SimResult(check, message, seconds, log_path)

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

    def _start(self) -> _Alive:
        ours, theirs = socket.socketpair()
        with theirs:
            variables = {**ENTRY_ENVIRONMENT, _REQUESTS: str(theirs.fileno())}
            make_empty(self.work_dir)
            module, results_path = entry_module(self.built.spec.config), self.work_dir / JUNIT_NAME
            command, environment = simulation(self.built, module, _TEST, variables, results_path, self.plusargs)
            with (self.work_dir / LOG_NAME).open("wb") as log:
                process = start(
                    command, cwd=self.work_dir, environment=environment, log=log, pass_fds=[theirs.fileno()]
                )
        return _Alive(process, ours, ours.makefile("r", encoding="utf-8"))


def _asked(alive: _Alive, request: str, timeout_seconds: float) -> Ended | None:
    """Have a request carried out; return how the process ended instead of answering, or None."""
    alive.socket.settimeout(timeout_seconds)
    try:
        alive.socket.sendall(f"{request}\n".encode())
        if alive.answers.readline():
            return None
        # It closed the socket without an answer: the test failed, or the process is dead.
        return Ended(alive.process.wait(timeout_seconds), timed_out=False)
    except (TimeoutError, subprocess.TimeoutExpired):
        return abort(alive.process)
    except (BrokenPipeError, ConnectionResetError):
        return Ended(alive.process.wait(), timed_out=False)
