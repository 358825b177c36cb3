"""Run one command in its own process group, with its output in a log and an optional deadline.

Each runs below a ``supervisor``, which kills all that the command has started when the command ends and when this
process does, whatever ends it. Such a group gets no interrupt from the terminal, so whoever catches one ends all of
them with ``stop``; ``spread`` and ``as_ended`` do, which run several at once.
"""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock
from typing import IO, TypeVar

from nvdla_models.reading import shown

# Time for a process to write where it stood before it is killed.
ABORT_GRACE_SECONDS = 5.0

# Time for a supervisor to kill what its command has started; it needs milliseconds.
KILL_GRACE_SECONDS = 20.0
LOOK_SECONDS = 0.5
"""How often whoever waits for a command looks how far it is."""

SUPERVISOR = Path(__file__).with_name("supervisor.py")
_RELEVANT = re.compile(r"error|undefined|cannot|unable|fatal|killed|no such|\*\*\*", re.IGNORECASE)
_SHOWN_LINES = 15
_TAIL_BYTES = 1 << 20

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
    meanwhile: Callable[[], bool | None] | None = None,
    pass_fds: Sequence[int] = (),
) -> Ended:
    """Run ``command`` to its end or its deadline, and leave no process that it has started behind.

    On the deadline the group first gets SIGABRT, on which Python's fault handler (when the
    environment enables it) writes its stack to the log, and then SIGKILL.

    Args:
        command: Program and arguments.
        cwd: Folder to run in.
        environment: Complete environment.
        log_path: File that standard output and error are appended to.
        timeout_seconds: Deadline in wall-clock seconds, or None.
        meanwhile: Called about twice a second until the end, or None; True ends the command as its deadline does.
        pass_fds: Open files that the command inherits.
    """
    with log_path.open("ab") as log:
        process = start(command, cwd=cwd, environment=environment, log=log, pass_fds=pass_fds)
        try:
            return Ended(_wait(process, timeout_seconds, meanwhile), timed_out=False)
        except subprocess.TimeoutExpired:
            return abort(process)
        finally:
            # Also reached by an interrupt of this process, and for children that outlive the command.
            kill(process)


def start(
    command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], log: IO[bytes], pass_fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start ``command`` in a process group of its own, below a supervisor, which is what is returned.

    It ends as the command does; 127 says that there is no such command. ``pass_fds`` are open files that the command
    inherits; see ``supervise`` for the rest.

    Raises:
        InterruptedRunError: after ``stop``.
    """
    with _changing:
        if _stopped.is_set():
            raise InterruptedRunError("no process is started after an interrupt")
        files = ",".join(map(str, pass_fds))
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SUPERVISOR), files, *command],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.PIPE,
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
            _let_go(process)


def abort(process: subprocess.Popen[bytes]) -> Ended:
    """End a group whose deadline has passed: first SIGABRT, then SIGKILL."""
    _signal_group(process.pid, signal.SIGABRT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(ABORT_GRACE_SECONDS)
    return Ended(kill(process), timed_out=True)


def kill(process: subprocess.Popen[bytes]) -> int:
    """End what is left of a command, and return how it ended."""
    _let_go(process)
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(KILL_GRACE_SECONDS)
    finally:
        # The supervisor itself may have been killed.
        _signal_group(process.pid, signal.SIGKILL)
        with _changing:
            _living.discard(process)
    return process.wait()


def last_lines(log_path: Path) -> list[str]:
    """Return the last lines of a log, which may be larger than memory, printable: what RTL displays lies in it."""
    with log_path.open("rb") as log:
        log.seek(max(log.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
        text = log.read(_TAIL_BYTES).decode("utf-8", errors="replace")
    return [shown(line) for line in text.splitlines()]


def last_relevant_lines(log_path: Path) -> list[str]:
    """Return the last lines of a log that speak of an error, or its last lines when none does."""
    lines = last_lines(log_path)
    relevant = [line for line in lines if _RELEVANT.search(line)]
    return (relevant or lines)[-_SHOWN_LINES:]


def _wait(
    process: subprocess.Popen[bytes], timeout_seconds: float | None, meanwhile: Callable[[], bool | None] | None
) -> int:
    """Wait for the end of a process, and return its code."""
    if meanwhile is None:
        return process.wait(timeout_seconds)
    deadline = math.inf if timeout_seconds is None else time.monotonic() + timeout_seconds
    while time.monotonic() < deadline and not meanwhile():
        with suppress(subprocess.TimeoutExpired):
            return process.wait(max(0.0, min(LOOK_SECONDS, deadline - time.monotonic())))
    raise subprocess.TimeoutExpired(process.args, timeout_seconds or 0.0)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe that keeps a supervisor's command alive."""
    assert process.stdin is not None
    process.stdin.close()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)


Player = TypeVar("Player")
Item = TypeVar("Item")
Played = TypeVar("Played")


def spread(
    players: Sequence[Player], items: Iterable[Item], play: Callable[[Player, Item], Played]
) -> Iterator[Played]:
    """Yield the results of players, such as simulator processes, for items, as they end.

    Each player has one item at a time.
    """
    free: SimpleQueue[Player] = SimpleQueue()
    for player in players:
        free.put(player)

    def taken(item: Item) -> Played:
        player = free.get()
        try:
            return play(player, item)
        finally:
            free.put(player)

    yield from as_ended(len(players), taken, items)


def as_ended(workers: int, work: Callable[[Item], Played], items: Iterable[Item]) -> Iterator[Played]:
    """Yield the result of each item as it ends, so many at a time as there are workers.

    An interrupt ends the commands that are run, and whoever takes no more results cancels what has not begun.
    """
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        except KeyboardInterrupt:
            stop()
            raise
        finally:
            for future in futures:
                future.cancel()
