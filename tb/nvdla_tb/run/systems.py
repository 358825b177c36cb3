"""The systems that the bench plays: NVDLA, and those that installed packages add."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from nvdla_models.errors import InputError
from nvdla_models.reading import shown
from nvdla_tb.added import added as added_by_packages
from nvdla_tb.run.nvdla import NVDLA
from nvdla_tb.run.system import AnyConfig, System, system_named_in

GROUP = "nvdla_tb.systems"
"""The group of entry points by which other packages add systems: each names a ``System``."""

REWRITTEN = "COCOTB_REWRITE_ASSERTION_FILES"
"""Variable with the files whose asserts cocotb rewrites so that they show values: by default, of all packages."""

ENTRY_ENVIRONMENT = {
    # Rewriting asserts costs more than all the rest of the start, and nothing here shows them.
    REWRITTEN: "",
    # Simulations run side by side; threads of one would only take processors from another.
    "OPENBLAS_NUM_THREADS": "1",
}
"""Variables of simulators that run a test of an entry module."""


@cache
def added() -> tuple[System[Any, Any], ...]:
    """Return the systems that installed packages add.

    Raises:
        InputError: for a name that is given twice.
    """
    names: set[str] = {NVDLA.name}
    found: list[System[Any, Any]] = []
    for entry, system in added_by_packages(GROUP, "a System", lambda value: isinstance(value, System)):
        if system.name in names:
            raise InputError(f"systems must have names of their own; {entry} adds {system.name} again")
        names.add(system.name)
        found.append(system)
    return tuple(found)


def system_of(name_or_path: str) -> System[Any, Any]:
    """Return the system of a configuration: NVDLA, unless another one knows the name or the file names another.

    Raises:
        InputError: for a file that names a system that there is not.
    """
    for system in added():
        if system.owns(name_or_path):
            return system
    named = system_named_in(name_or_path)
    if named is not None:
        names = ", ".join(system.name for system in added())
        raise InputError(f"{name_or_path}: system must be {names}, not {shown(str(named))}")
    return NVDLA


def system_with(config: AnyConfig) -> System[Any, Any]:
    """Return the system that a configuration is one of."""
    return next((system for system in added() if isinstance(config, system.config_type)), NVDLA)


def is_nvdla(name_or_path: str) -> bool:
    """Return whether a configuration is one of NVDLA, which alone has traces, levels and functional coverage.

    Raises:
        InputError: for a file that names a system that there is not.
    """
    return system_of(name_or_path) is NVDLA


def load_config(name_or_path: str) -> AnyConfig:
    """Return the configuration of a device, of whichever system it is.

    Raises:
        InputError: for a name or file that is none.
    """
    config: AnyConfig = system_of(name_or_path).load_config(name_or_path)
    return config


def refuse(paths: Iterable[Path]) -> None:
    """Refuse files that look as if they could be played, and cannot.

    Raises:
        InputError: saying what lacks.
    """
    for path in paths:
        for system in added():
            system.refuse(path)


def folders() -> tuple[Path, ...]:
    """Return the folders whose files decide what is played, and how it is judged."""
    return tuple(folder for system in (NVDLA, *added()) for folder in system.folders)
