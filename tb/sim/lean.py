"""Start cocotb without pytest, which would take 0.1 s more: cocotb needs it only to name how a test failed.

``PYGPI_USERS=tb.sim.lean:load`` makes this the first Python that a simulator runs.
"""

import importlib
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pygpi.entry


class _NeverRaised(BaseException):
    """In the place of what ``pytest.raises`` raises, which no test of ours uses."""


class _LatePytest(ModuleType):
    """Has what cocotb takes from pytest while it is imported; for anything else pytest is loaded."""

    raises = SimpleNamespace(Exception=_NeverRaised)

    def __getattr__(self, name: str) -> Any:
        # cocotb goes without these two where an older pytest lacks them.
        if name in ("RaisesExc", "RaisesGroup") or name.startswith("__"):
            raise AttributeError(f"module {self.__name__} has no attribute {name}")
        for stand_in in _STAND_INS:
            sys.modules.pop(stand_in.__name__, None)
        return getattr(importlib.import_module(self.__name__), name)


def _empty(name: str, attribute: str) -> ModuleType:
    module = ModuleType(name)
    setattr(module, attribute, None)
    return module


_STAND_INS = (
    _LatePytest("pytest"),
    ModuleType("_pytest"),
    # cocotb imports these before it looks whether COCOTB_REWRITE_ASSERTION_FILES asks for them.
    _empty("_pytest.assertion", "install_importhook"),
    _empty("_pytest.config", "Config"),
)


def load() -> None:
    """Put the stand-ins in place and load cocotb as usual."""
    sys.modules.update({module.__name__: module for module in _STAND_INS})
    del os.environ["PYGPI_USERS"]
    pygpi.entry.load_entry()
