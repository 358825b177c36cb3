"""Runs one command for a process that may die at any moment, and lets nothing of it live on.

``python -I -S supervisor.py FILES COMMAND...`` gets a pipe as its standard input, and for as long as somebody holds
the other end, the command runs. When the command ends, the pipe closes, or a signal asks for it, every process that
the command has started is killed, also one that has left its process group and session. The exit status, or the
signal, is then the command's. FILES are the numbers of the open files that only the command needs, with commas
between them.

On Linux orphans come back to this process (``prctl(2)``, PR_SET_CHILD_SUBREAPER) and the command itself cannot
outlive it (PR_SET_PDEATHSIG). Other systems have neither: there a process that leaves the process group escapes.

A script of the standard library alone, and of little of it: one starts with every simulator.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress
from types import FrameType

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
"""Of ``linux/prctl.h``."""

_IS_LINUX = sys.platform == "linux"
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_PIPE = 0
_NOT_FOUND = 127

_KILLING_SECONDS = 10.0
"""How long killed processes are waited for; one that belongs to another user never ends."""

_LOOK_SECONDS = 0.002


class Supervisor:
    """The command of this process, which is its only child and leads no group of its own."""

    def __init__(self, command: list[str], files: list[int]) -> None:
        """Start the command, which alone keeps the open files."""
        # What its starter keeps from itself is no business of the command.
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        self._wake, wake_writer = os.pipe()
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        self._asked: int | None = None
        signal.signal(signal.SIGCHLD, _notice)
        # A deadline aborts the whole group: the command says where it stood, and this process stays to clean up.
        signal.signal(signal.SIGABRT, _notice)
        for number in _ENDING:
            signal.signal(number, self._ask)
        self._status: int | None = None
        if _IS_LINUX:
            _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        parent = os.getpid()
        self._child = os.fork()
        if self._child == 0:
            _become(command, parent)
        for file in files:
            os.close(file)

    def run(self) -> int:
        """Wait for the command's end, or end it; return its status as ``waitpid(2)`` has it."""
        while self._status is None and self._asked is None:
            ready, _, _ = select.select([_PIPE, self._wake], [], [])
            if _PIPE in ready and not os.read(_PIPE, 1):
                break
            if self._wake in ready:
                os.read(self._wake, 1)
                self._reap()
        self._kill_all()
        if self._asked is not None:
            return self._asked
        # Without a status it is a process that cannot be killed.
        return signal.SIGKILL if self._status is None else self._status

    def _ask(self, number: int, _: FrameType | None) -> None:
        self._asked = number

    def _reap(self) -> bool:
        """Take note of children that have ended; return whether there are others."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._child:
                self._status = status

    def _kill_all(self) -> None:
        """Kill children until there are none: the orphans that each leaves become children."""
        until = time.monotonic() + _KILLING_SECONDS
        while True:
            for pid in self._children():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            if not self._reap() or time.monotonic() > until:
                return
            time.sleep(_LOOK_SECONDS)

    def _children(self) -> list[int]:
        # proc(5): one that comes or goes meanwhile may be left out, and is found the next time.
        with suppress(FileNotFoundError), open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listed:
            return [int(word) for word in listed.read().split()]
        return [] if self._status is not None else [self._child]


def _notice(number: int, frame: FrameType | None) -> None:
    """Do nothing: that a signal came is read from the wake-up file."""


def _become(command: list[str], parent: int) -> None:
    """Turn this process, a fresh child, into the command."""
    if _IS_LINUX:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(_NOT_FOUND)
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), _PIPE)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: cannot execute: {error.strerror}\n".encode())
        os._exit(_NOT_FOUND)


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _end_like(status: int) -> None:
    """End as the command did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        # The command has left a core file if there is to be one.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    _end_like(Supervisor(sys.argv[2:], [int(word) for word in sys.argv[1].split(",") if word]).run())
