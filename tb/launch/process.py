"""Run one command in its own process group, with its output in a log and an optional deadline.

Such a group gets no interrupt from the terminal, so whoever catches one ends all of them with ``stop``.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import IO

# Time for a process to write where it stood before it is killed.
ABORT_GRACE_SECONDS = 5.0
_RELEVANT = re.compile(r"error|undefined|cannot|unable|fatal|killed|no such|\*\*\*", re.IGNORECASE)
_SHOWN_LINES = 15

_living: set[subprocess.Popen[bytes]] = set()
_stopped, _changing = Event(), Lock()


class InterruptedRunError(RuntimeError):
    """A process that is not started, as the user has interrupted the run."""


@dataclass(frozen=True)
class Ended:
    """How a command ended; a negative return code is the signal that killed it."""

    returncode: int
    timed_out: bool


def supervise(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    log_path: Path,
    timeout_seconds: float | None = None,
) -> Ended:
    """Run ``command`` to its end or its deadline, and leave no process of its group behind.

    On the deadline the group first gets SIGABRT, on which Python's fault handler (when the
    environment enables it) writes its stack to the log, and then SIGKILL.

    Args:
        command: Program and arguments.
        cwd: Folder to run in.
        environment: Complete environment.
        log_path: File that standard output and error are appended to.
        timeout_seconds: Deadline in wall-clock seconds, or None.
    """
    with log_path.open("ab") as log:
        process = start(command, cwd=cwd, environment=environment, log=log)
        try:
            return Ended(process.wait(timeout_seconds), timed_out=False)
        except subprocess.TimeoutExpired:
            return abort(process)
        finally:
            # Also reached by an interrupt of this process, and for children that outlive the command.
            kill(process)


def start(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], log: IO[bytes], pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start ``command`` as the leader of a process group.

    Args:
        command: Program and arguments.
        cwd: Folder to run in.
        environment: Complete environment.
        log: File that standard output and error go to.
        pass_fds: Open files that it inherits.

    Raises:
        InterruptedRunError: after ``stop``.
    """
    with _changing:
        if _stopped.is_set():
            raise InterruptedRunError("no process is started after an interrupt")
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=pass_fds,
        )
        _living.add(process)
    return process


def stop() -> None:
    """End all groups at once, and start no more: the user has interrupted the run."""
    with _changing:
        _stopped.set()
        for process in _living:
            _signal_group(process.pid, signal.SIGKILL)


@contextmanager
def threads(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Give threads that run commands; an interrupt ends these commands, which would be waited for otherwise."""
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield pool
        except KeyboardInterrupt:
            stop()
            raise


def abort(process: subprocess.Popen[bytes]) -> Ended:
    """End a group whose deadline has passed: first SIGABRT, then SIGKILL."""
    _signal_group(process.pid, signal.SIGABRT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(ABORT_GRACE_SECONDS)
    return Ended(kill(process), timed_out=True)


def kill(process: subprocess.Popen[bytes]) -> int:
    """End what is left of a group, and return how its leader ended."""
    _signal_group(process.pid, signal.SIGKILL)
    with _changing:
        _living.discard(process)
    return process.wait()


def last_relevant_lines(log_path: Path) -> str:
    """Return the last lines of a log that speak of an error, or its last lines when none does."""
    lines = log_path.read_text(encoding="utf-8", errors="replace").splitlines()
    relevant = [line for line in lines if _RELEVANT.search(line)]
    return "\n".join((relevant or lines)[-_SHOWN_LINES:])


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
