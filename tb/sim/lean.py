"""Start cocotb without what it imports and never uses in a simulation: pytest, asyncio, pdb, profilers, metadata.

``PYGPI_USERS=tb.sim.lean:load`` makes this the first Python that a simulator runs. What is left out is loaded as
soon as anybody asks for it; likewise methods of dataclasses are compiled when they are called.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pygpi.entry


class _NeverRaised(BaseException):
    """In the place of what ``pytest.raises`` raises, which no test of ours uses."""


class _Late(ModuleType):
    """A module whose code runs as soon as it is asked for what it neither has nor lacks."""

    _lacks: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        if name in self._lacks:
            raise AttributeError(f"module {self.__name__} has no attribute {name}")
        self.__class__ = ModuleType
        if self.__name__ == "pytest":
            for stand_in in _OF_PYTEST:
                sys.modules.pop(stand_in.__name__, None)
        self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def _late(name: str, *lacks: str) -> _Late:
    """Return a module that is found, but not loaded, and that goes without the attributes that it ``lacks``."""
    module = module_from_spec(find_spec(name))
    module.__class__ = _Late
    # Import asks every module for its path, which packages have.
    module._lacks = ("__path__", *lacks)
    return module


def _empty(name: str, attribute: str) -> ModuleType:
    module = ModuleType(name)
    setattr(module, attribute, None)
    return module


_OF_PYTEST = (
    ModuleType("_pytest"),
    # cocotb imports these before it looks whether COCOTB_REWRITE_ASSERTION_FILES asks for them.
    _empty("_pytest.assertion", "install_importhook"),
    _empty("_pytest.config", "Config"),
)


def _late_methods(create: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes a method of a dataclass, but compiles all save ``__init__`` at their first call.

    A class has six of them, a simulation compares, hashes and prints hardly any, and a fault alone assigns.
    """

    def made(name: str, args: list[str], body: list[str], **options: Any) -> Callable[..., Any]:
        if name == "__init__":
            return create(name, args, body, **options)

        @cache
        def compiled() -> Callable[..., Any]:
            return create(name, args, body, **options)

        def method(*given: Any) -> Any:
            return compiled()(*given)

        method.__name__ = name
        return method

    return made


def load() -> None:
    """Put the stand-ins in place and load cocotb as usual."""
    # cocotb goes without these two where an older pytest lacks them.
    pytest = _late("pytest", "RaisesExc", "RaisesGroup")
    pytest.raises = SimpleNamespace(Exception=_NeverRaised)
    asyncio = _late("asyncio")
    for module in (pytest, asyncio, _late("pdb"), _late("cProfile"), _late("pstats"), *_OF_PYTEST, *_version()):
        sys.modules[module.__name__] = module
    # All that cocotb takes from asyncio.
    exceptions = importlib.import_module("asyncio.exceptions")
    asyncio.CancelledError = exceptions.CancelledError
    asyncio.InvalidStateError = exceptions.InvalidStateError
    # Python 3.13 makes all methods of a class at once, by other means.
    if hasattr(dataclasses, "_create_fn"):
        dataclasses._create_fn = _late_methods(dataclasses._create_fn)
    del os.environ["PYGPI_USERS"]
    pygpi.entry.load_entry()
    # What was imported never becomes garbage, so that no collection needs to look at it, nor the end of the process.
    gc.freeze()


def _version() -> list[ModuleType]:
    """Return cocotb's module that knows its version, as the folder of its metadata is named; none without one folder.

    The module itself reads and parses the metadata of a package for that.
    """
    packages = Path(find_spec("cocotb").origin).parents[1]
    prefix, suffix = "cocotb-", ".dist-info"
    found = [path.name.removeprefix(prefix).removesuffix(suffix) for path in packages.glob(f"{prefix}*{suffix}")]
    if len(found) != 1:
        return []
    module = ModuleType("cocotb._version")
    module.__version__ = found[0]
    return [module]
