"""One simulator process that does one thing after the other, as it is asked over a socket.

Requests and answers are lines of JSON. The cocotb test on the other end is given the socket's number in
``NVDLA_REQUESTS``; it ends when the socket closes.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tb.judge.finding import Check
from tb.run.compile.spec import Built
from tb.run.process import Ended, abort, kill, start
from tb.run.simulate import JUNIT_NAME, LOG_NAME, SimResult, judge, prepare

REQUESTS = "NVDLA_REQUESTS"
CLOSING_GRACE_SECONDS = 5.0

COUNTING_GRACE_SECONDS = 300.0
"""The same with code coverage: hundreds of thousands of points are written at the end."""


class Session:
    """A simulator process that waits for requests."""

    def __init__(
        self,
        built: Built,
        *,
        test_module: str,
        testcase: str,
        env: Mapping[str, str],
        work_dir: Path,
        plusargs: Sequence[str] = (),
    ) -> None:
        """Start the process.

        Args:
            built: The compiled model.
            test_module: Module that holds the test.
            testcase: Exact name of the test function, which answers requests.
            env: Environment variables for the simulator.
            work_dir: Folder for what the process says before the first request; made when missing.
            plusargs: Arguments for the simulator.
        """
        self._test = f"{test_module}.{testcase}"
        self._work_dir = work_dir.resolve()
        self._counts = built.spec.coverage
        ours, theirs = socket.socketpair()
        self._socket = ours
        self._answers = ours.makefile("r", encoding="utf-8")
        with theirs:
            variables = {**env, REQUESTS: str(theirs.fileno())}
            prepared = prepare(built, test_module, testcase, variables, self._work_dir, plusargs)
            with (self._work_dir / LOG_NAME).open("wb") as log:
                self._process = start(
                    prepared.command,
                    cwd=prepared.cwd,
                    environment=prepared.environment,
                    log=log,
                    pass_fds=[theirs.fileno()],
                )

    def ask(self, request: str, log_path: Path, timeout_seconds: float) -> SimResult:
        """Have one request carried out and say how that ended; unless it passed, the process has ended, too.

        Args:
            request: Request as a line of text.
            log_path: The file that the simulator writes to meanwhile, if it got that far.
            timeout_seconds: Wall-clock deadline, after which the whole process group is killed.
        """
        started = time.monotonic()
        check: Check | None = None
        message = ""
        ended = self._ask(request, timeout_seconds)
        log_path = log_path if log_path.is_file() else self._work_dir / LOG_NAME
        if ended is not None:
            check, message = judge(ended, self._work_dir / JUNIT_NAME, log_path, self._test, timeout_seconds)
            if check is None:
                check, message = Check.CRASH, f"{self._test}: the simulator ended without an answer"
        return SimResult(
            check=check,
            message=message,
            returncode=0 if ended is None else ended.returncode,
            seconds=time.monotonic() - started,
            log_path=log_path,
            junit_path=self._work_dir / JUNIT_NAME,
            waves_path=None,
        )

    def close(self) -> None:
        """End the process, which finishes its test when it can."""
        self._answers.close()
        self._socket.close()
        try:
            self._process.wait(CLOSING_GRACE_SECONDS if self._counts is None else COUNTING_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            kill(self._process)

    def _ask(self, request: str, timeout_seconds: float) -> Ended | None:
        """Return how the process ended instead of answering, or None."""
        self._socket.settimeout(timeout_seconds)
        try:
            self._socket.sendall(f"{request}\n".encode())
            if self._answers.readline():
                return None
            # It closed the socket without an answer: the test failed, or the process is dead.
            return Ended(self._process.wait(timeout_seconds), timed_out=False)
        except (TimeoutError, subprocess.TimeoutExpired):
            return abort(self._process)
        except (BrokenPipeError, ConnectionResetError):
            return Ended(self._process.wait(), timed_out=False)
