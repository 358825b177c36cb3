"""What ends a test in Python by an exception, as a finding in a file of its folder that the launcher reads.

A log has all of a traceback; a user looks for the lines of their own files in it.
"""

from __future__ import annotations

import linecache
import logging
import re
import sysconfig
from collections.abc import Iterator
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from traceback import walk_tb
from types import CoroutineType

import msgspec
from cocotb.handle import SimHandleBase
from cocotb.triggers import SimTimeoutError

import nvdla_models
from nvdla_tb.judge.detail import Call, Raised
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.port_rules import PORT_PREFIX
from nvdla_tb.nvdla import short
from nvdla_tb.paths import PACKAGE
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.csb import CsbTimeout, PollTimeout
from nvdla_tb.sim.ending import FindingsError
from nvdla_tb.sim.interrupts import HangError
from nvdla_tb.sim.native import NEEDS_COROUTINES, is_native
from nvdla_tb.sim.native_backend import NativeBackend
from nvdla_tb.sim.native_csb import NativeCsb
from nvdla_tb.sim.native_port import NativePort

_TOLD = (FindingsError, HangError)
"""Of these the verdict has a finding already."""

_FAILED = (AssertionError, CsbTimeout, PollTimeout, SimTimeoutError)
"""What says that the device is wrong; all else is an error of the test."""

_LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *map(str, (PACKAGE, Path(nvdla_models.__file__).parent)),
    "<",
)
"""Beginnings of the names of files that are not the user's."""


class RaisedNote(logging.Handler):
    """Leaves the exception with which cocotb reports that a test has failed.

    ::

        logging.getLogger("cocotb").addHandler(RaisedNote(folder / "raised.json", "tests/mine.py"))
    """

    def __init__(self, path: Path, tests: str) -> None:
        """Take the file to write, and that of the tests, which is the user's wherever it lies."""
        super().__init__()
        self._path, self._tests = path, tests

    def emit(self, record: logging.LogRecord) -> None:
        """Leave the exception of a record, if it has one."""
        if record.exc_info and record.exc_info[1] is not None:
            self.leave(record.exc_info[1])

    def leave(self, error: BaseException) -> None:
        """Leave the first exception of those that ended a test of which the verdict says nothing."""
        own = next((one for one in _each(error) if not _is_told(one)), None)
        if own is not None:
            self._path.write_bytes(msgspec.json.encode(raised(own, self._tests)))


def raised(error: BaseException, tests: str) -> Finding:
    """Return the finding that a test was ended by an exception.

    Args:
        error: the exception.
        tests: file of the test, whose lines are the user's wherever it lies.
    """
    calls = list(_calls(error))
    own = [call for call in calls if call.path == tests or not call.path.startswith(_LIBRARIES)]
    inside = calls[-1] if calls and calls[-1] not in own else None
    words = f"{error}{_needs_coroutines(error) or _nearest(error)}"
    check = Check.TEST if isinstance(error, _FAILED) else Check.RAISED
    return Finding(check, Raised(type(error).__name__, words, tuple(own), inside if own else None))


def _is_told(error: BaseException) -> bool:
    """Return whether the verdict has a finding of an exception already.

    The verdict at the end is raised while cocotb cancels a coroutine, of which it says that it raised something else,
    and not which.
    """
    return isinstance(error, _TOLD) or (type(error) is RuntimeError and error.__traceback__ is None)


def _each(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions of a group, or the one that is none."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _each(one)
    else:
        yield error


def _calls(error: BaseException) -> Iterator[Call]:
    for frame, line in walk_tb(error.__traceback__):
        code = frame.f_code
        yield Call(code.co_filename, line, code.co_name, linecache.getline(code.co_filename, line).strip())
    if isinstance(error, SyntaxError) and error.filename is not None:
        yield Call(error.filename, error.lineno or 0, "<module>", (error.text or "").strip())


_COMPILED = (NativeBackend, NativeCsb, NativePort)
_PINS = ("csb2nvdla_", "nvdla2csb_", *(f"{prefix}_" for prefix in PORT_PREFIX.values()))


def _needs_coroutines(error: BaseException) -> str:
    """Return what to do about a name that a pin or agent of the coroutine back end alone has; mostly empty."""
    if not isinstance(error, AttributeError) or error.name is None:
        return ""
    of_pin = isinstance(error.obj, SimHandleBase) and is_native(error.obj) and error.name.startswith(_PINS)
    return f"; {NEEDS_COROUTINES}" if of_pin or isinstance(error.obj, _COMPILED) else ""


_WRONG_KEYWORD = re.compile(r"(?:\w+\.)*(\w+)\(\) got an unexpected keyword argument '(\w+)'")
"""The words of Python before 3.13, which asks the question itself."""


def _nearest(error: BaseException) -> str:
    """Return a question whether another name was meant, as Python's own report of an error has it; mostly empty."""
    name, known = "", []
    if isinstance(error, AttributeError) and error.name is not None and error.obj is not None:
        if isinstance(error.obj, CoroutineType):
            return f"; did you forget to await {error.obj.__qualname__}?"
        name, known = error.name, [known for known in dir(error.obj) if not known.startswith("_")]
    elif (wrong := _WRONG_KEYWORD.fullmatch(str(error))) is not None:
        called = getattr(short, wrong[1], None) or getattr(Bench, wrong[1], None)
        name, known = wrong[2], [] if called is None else list(signature(called).parameters)
    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
