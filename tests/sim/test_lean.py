"""Simulator processes of ours start cocotb without what it imports and does not use."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOAD = """
import sys
import pygpi.entry
from tb.sim import lean

pygpi.entry.load_entry = lambda: __import__("cocotb.regression")
lean.load()
import asyncio, cocotb, pdb, pytest
from cocotb.task import CancelledError
"""
STAND_INS = ["_pytest", "_pytest.assertion", "_pytest.config", "pytest"]


def printed(then: str) -> list[str]:
    """Return the words that a process prints which loads cocotb our way, and goes on with ``then``."""
    environment = {**os.environ, "PYGPI_USERS": "tb.sim.lean:load"}
    command = [sys.executable, "-c", LOAD + then]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_cocotb_loads_with_nothing_of_pytest_but_the_stand_ins() -> None:
    assert printed("print(*sorted(name for name in sys.modules if 'pytest' in name))") == STAND_INS


def test_cocotb_loads_nothing_of_asyncio_but_its_exceptions_and_neither_debugger_nor_metadata() -> None:
    then = """
heavy = ("asyncio.", "_asyncio", "ssl", "cmd", "_lsprof", "importlib.metadata", "email")
print(*sorted(name for name in sys.modules if name.startswith(heavy)))
"""
    assert printed(then) == ["asyncio.exceptions"]


def test_what_else_is_asked_of_pytest_is_pytests_own() -> None:
    then = "skip = pytest.skip; import pytest as real; print(skip is real.skip, real.__version__)"
    assert printed(then) == ["True", version("pytest")]


def test_asyncio_runs_once_it_is_asked_for_and_its_exceptions_stay_those_of_cocotb() -> None:
    then = """
async def cancelled():
    raise asyncio.CancelledError

try:
    asyncio.run(cancelled())
except CancelledError:
    print(*(name in asyncio.__all__ for name in ("run", "CancelledError", "InvalidStateError")))
import asyncio.queues
print(asyncio.exceptions.CancelledError is CancelledError, asyncio.queues.Queue is asyncio.Queue)
"""
    assert printed(then) == ["True"] * 5


def test_debugger_and_profilers_are_whole_once_they_are_asked_for() -> None:
    then = """
import cProfile, pstats
profile = cProfile.Profile()
profile.runcall(len, "")
print(pstats.Stats(profile).total_calls, pdb.Pdb.__base__.__name__)
"""
    assert printed(then) == ["2", "Bdb"]


def test_cocotb_knows_its_version_without_metadata() -> None:
    assert printed("print(cocotb.__version__)") == [version("cocotb")]


def test_dataclasses_compare_hash_print_and_stay_frozen_as_ever() -> None:
    then = """
from dataclasses import FrozenInstanceError, dataclass, replace

@dataclass(frozen=True, order=True)
class Pair:
    one: int
    other: str = "b"

def refused(change):
    try:
        change()
    except FrozenInstanceError as error:
        return str(error)

pair = Pair(1)
assert pair == Pair(1, "b") and pair != replace(pair, one=2) and pair != (1, "b")
assert hash(pair) == hash((1, "b")) and pair < Pair(2)
assert refused(lambda: setattr(pair, "one", 3)) == "cannot assign to field 'one'"
assert refused(lambda: delattr(pair, "one")) == "cannot delete field 'one'"
print(pair, Pair.__eq__.__qualname__)
"""
    assert printed(then) == ["Pair(one=1,", "other='b')", "Pair.__eq__"]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python 3.13 compiles the methods of a dataclass together")
def test_only_the_init_of_a_dataclass_is_compiled_before_it_is_called() -> None:
    then = """
import dataclasses
compiled = []

def listed(text, *scope):
    compiled.append(text.split()[-1])
    exec(text, *scope)

dataclasses.exec = listed

@dataclasses.dataclass(frozen=True)
class Point:
    x: int

print(*compiled)
hash(Point(1)), hash(Point(2))
print(*compiled)
"""
    assert printed(then) == ["__init__", "__init__", "__hash__"]


def test_garbage_collection_passes_over_what_was_imported() -> None:
    then = """
import gc
print(gc.isenabled(), gc.get_freeze_count() > 20_000, len(gc.get_objects()) < 5_000)
"""
    assert printed(then) == ["True"] * 3
