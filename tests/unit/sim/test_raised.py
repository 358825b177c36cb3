"""Exceptions of tests in Python as findings: their words, and the lines of the user's own files."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import msgspec
import pytest

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.judge.detail import Call, Raised
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.nvdla.short import Conv
from nvdla_tb.paths import PACKAGE
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.csb import CsbTimeout
from nvdla_tb.sim.ending import FindingsError
from nvdla_tb.sim.interrupts import HangError
from nvdla_tb.sim.raised import RaisedNote, raised

KEYWORD = "got an unexpected keyword argument"


def keyword(near: str) -> str:
    """Return the question whether a keyword was meant, which Python asks itself since 3.13."""
    return f"; did you mean {near!r}?" if sys.version_info < (3, 13) else f". Did you mean {near!r}?"


def caught(code: str, name: str = "/home/me/mine.py") -> BaseException:
    """Return what code of a file raises."""
    try:
        exec(compile(code, name, "exec"), {"HwConfig": HwConfig, "Bench": Bench, "Conv": Conv})
    except Exception as error:
        return error
    raise AssertionError("it must raise")


def test_an_error_has_its_words_and_the_lines_of_the_user_and_of_the_library_that_raised_it() -> None:
    finding = raised(caught("def load():\n    HwConfig.load('nowhere')\n\nload()"), "tests/mine.py")
    assert (finding.check, type(finding.detail)) == (Check.RAISED, Raised)
    assert isinstance(finding.detail, Raised)
    assert finding.detail.kind == "ConfigError"
    own = [call for call in finding.detail.calls if call.path == "/home/me/mine.py"]
    assert own == [Call("/home/me/mine.py", 4, "<module>", ""), Call("/home/me/mine.py", 2, "load", "")]
    assert finding.detail.inside is not None
    assert finding.detail.inside.path.endswith(".py")
    assert "nvdla_models" in finding.detail.inside.path


def test_a_test_of_the_package_itself_is_the_users_file() -> None:
    tests = str(PACKAGE / "gate_tests" / "mine.py")
    finding = raised(caught("1 / 0", tests), tests)
    assert isinstance(finding.detail, Raised)
    assert finding.detail.calls[-1] == Call(tests, 1, "<module>", "")
    assert finding.detail.inside is None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("HwConfig.lode", "type object 'HwConfig' has no attribute 'lode'; did you mean 'load'?"),
        ("HwConfig.qqqqqq", "type object 'HwConfig' has no attribute 'qqqqqq'"),
        ("raise AttributeError('of mine')", "of mine"),
        ("{}['x']", "'x'"),
        ("Conv(1, 2, paddin=3)", f"Conv() {KEYWORD} 'paddin'{keyword('padding')}"),
        (
            "Bench.reserve(None, (1, 1, 1), line_stride=3)",
            f"Placing.reserve() {KEYWORD} 'line_stride'{keyword('line_stride_bytes')}",
        ),
        ("Conv(1, 2, qqqqqq=3)", f"Conv() {KEYWORD} 'qqqqqq'"),
        ("def own(x): ...\nown(y=3)", f"own() {KEYWORD} 'y'"),
        (
            "bench = Bench.start(None)\ntry: bench.place\nfinally: bench.close()",
            "'coroutine' object has no attribute 'place'; did you forget to await Bench.start?",
        ),
    ],
)
def test_a_misspelt_name_comes_with_the_nearest_one(code: str, message: str) -> None:
    detail = raised(caught(code), "tests/mine.py").detail
    assert isinstance(detail, Raised)
    assert detail.message == message


def test_a_module_that_cannot_be_parsed_has_the_line() -> None:
    detail = raised(caught("x = 1\nx = = 2"), "tests/mine.py").detail
    assert isinstance(detail, Raised)
    assert detail.calls[-1] == Call("/home/me/mine.py", 2, "<module>", "x = = 2")


@pytest.mark.parametrize(
    ("error", "check"),
    [
        (AssertionError("no"), Check.TEST),
        (CsbTimeout("read of 0x4", accepted=True), Check.TEST),
        (InputError("no"), Check.RAISED),
        (ExceptionGroup("both", [FindingsError("told"), KeyError("x")]), Check.RAISED),
    ],
)
def test_what_says_that_the_device_is_wrong_is_a_failed_check(tmp_path: Path, error: Exception, check: Check) -> None:
    path = tmp_path / "raised.json"
    log = logging.getLogger("test_raised")
    note = RaisedNote(path, "tests/mine.py")
    log.addHandler(note)
    try:
        log.warning("no exception")
        assert not path.exists()
        log.warning("it failed", exc_info=error)
    finally:
        log.removeHandler(note)
    assert msgspec.json.decode(path.read_bytes(), type=Finding).check is check


@pytest.mark.parametrize("error", [FindingsError("wrong value"), HangError("hang")])
def test_what_the_verdict_has_already_is_not_told_again(tmp_path: Path, error: Exception) -> None:
    RaisedNote(tmp_path / "raised.json", "tests/mine.py").leave(error)
    assert list(tmp_path.iterdir()) == []
