"""Start cocotb and numpy without what they import and no simulation uses, or not before its first register access.

``PYGPI_USERS=tb.sim.lean:load`` makes this the first Python that a simulator runs. What is left out is loaded as
soon as anybody asks for it; likewise methods of dataclasses are compiled when they are called.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import GenericAlias, ModuleType, SimpleNamespace
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
        return getattr(_loaded(self), name)


def _loaded(module: ModuleType) -> ModuleType:
    """Run the code of a late module, unless it has run, and return the module."""
    if isinstance(module, _Late):
        module.__class__ = ModuleType
        if module.__name__ == "pytest":
            for stand_in in _OF_PYTEST:
                sys.modules.pop(stand_in.__name__, None)
        module.__spec__.loader.exec_module(module)
    return module


def _late(name: str, *lacks: str) -> _Late:
    """Return a module that is found, but not loaded, and that goes without the attributes that it ``lacks``."""
    package = name.rpartition(".")[0]
    # Python's own way to find a part of a package loads the package.
    folders = find_spec(package).submodule_search_locations if package else None
    module = module_from_spec(PathFinder.find_spec(name, folders))
    module.__class__ = _Late
    # Import asks every module for its path, which packages have.
    module._lacks = ("__path__", *lacks)
    return module


def _called_late(module: _Late, name: str) -> Callable[..., Any]:
    """Return a function of a late module that loads it when it is called."""
    return lambda *args, **options: getattr(_loaded(module), name)(*args, **options)


class _LateReporter:
    """cocotb's reporter of results, which becomes a real one when it is asked for anything: behind the first test."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._made_with = args, options

    def __getattr__(self, name: str) -> Any:
        args, options = vars(self).pop("_made_with")
        self.__class__ = _loaded(sys.modules["cocotb._xunit_reporter"]).XUnitReporter
        self.__init__(*args, **options)
        return getattr(self, name)


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
    reporter = _late("cocotb._xunit_reporter")
    reporter.XUnitReporter, reporter.Status = _LateReporter, str
    unused = [_late(name) for name in ("pdb", "cProfile", "pstats", "pickle", "platform", "tokenize")]
    for module in (pytest, asyncio, reporter, *unused, *_OF_PYTEST, *_version()):
        sys.modules[module.__name__] = module
    # All that cocotb takes from asyncio.
    exceptions = importlib.import_module("asyncio.exceptions")
    asyncio.CancelledError = exceptions.CancelledError
    asyncio.InvalidStateError = exceptions.InvalidStateError
    _load_numpy()
    # Not before: it loads what reads source code, which takes the stand-in of tokenize.
    dataclasses = importlib.import_module("dataclasses")
    # Python 3.13 makes all methods of a class at once, by other means.
    if hasattr(dataclasses, "_create_fn"):
        dataclasses._create_fn = _late_methods(dataclasses._create_fn)
    del os.environ["PYGPI_USERS"]
    pygpi.entry.load_entry()
    # What was imported never becomes garbage, so that no collection needs to look at it, nor the end of the process.
    gc.freeze()


def _load_numpy() -> None:
    """Load numpy without linear algebra, and without the types of annotations."""
    linalg, typing = _late("numpy.linalg"), _late("numpy.typing")
    # All that numpy itself takes from there while it is loaded.
    for name in ("eigvals", "inv", "lstsq", "matrix_power"):
        setattr(linalg, name, _called_late(linalg, name))
    # Annotations are never looked at, but the names of types are made of it.
    typing.NDArray = type("NDArray", (), {"__class_getitem__": classmethod(GenericAlias)})
    sys.modules.update({"numpy.linalg": linalg, "numpy.typing": typing})
    numpy = importlib.import_module("numpy")
    numpy.linalg, numpy.typing = linalg, typing


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
