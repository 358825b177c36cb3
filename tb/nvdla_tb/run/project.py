"""The project file of a user's own repository: what is tested and where things lie.

Every command finds ``nvdla-tb.toml`` in the current folder or in one above it. Options win over it, and it wins over
what is built in. Its paths are relative to its own folder. One that belongs to somebody else is refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from glob import glob
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from nvdla_models.errors import InputError
from nvdla_models.reading import read_toml, shown
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.plain_data import converted
from nvdla_tb.run import owners

_Text = Annotated[str, Meta(min_length=1)]


class ProjectFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is tested, and where things lie; paths are relative to the file.

    Attributes:
        rtl: file list of the RTL.
        top: top module.
        config: name of a configuration, or its file.
        port_map: file of port differences.
        sim: simulator.
        plans: plan files, and names of plans of the testbench.
        tests: files of tests in Python.
        results: folder of results.
        cache: folder of built models.
    """

    rtl: _Text | None = None
    top: _Text | None = None
    config: _Text | None = None
    port_map: _Text | None = None
    sim: _Text | None = None
    plans: tuple[_Text, ...] = ()
    tests: tuple[_Text, ...] = ()
    results: _Text | None = None
    cache: _Text | None = None


def _path(folder: Path, text: str | None) -> Path | None:
    return None if text is None else folder / os.path.expanduser(text)


def _paths(folder: Path, texts: tuple[str, ...], where: str) -> tuple[Path, ...]:
    paths: list[Path] = []
    for text in texts:
        if "/" not in text and "." not in text:
            paths.append(Path(text))
            continue
        named = glob(text, root_dir=folder, recursive=True) if any(letter in text for letter in "*?[") else [text]
        matched = sorted(folder / name for name in named)
        missing = [path for path in matched if not os.path.isfile(path)]
        if missing:
            raise InputError(f"{where} must be files that exist, not {shown(missing[0])}")
        paths += matched
    return tuple(paths)


@dataclass(frozen=True)
class Project:
    """What the file in ``folder`` says, with paths as they are from anywhere; None and empty where it says nothing."""

    folder: Path
    rtl: Path | None = None
    top: str | None = None
    config: str | None = None
    port_map: Path | None = None
    sim: str | None = None
    plans: tuple[Path, ...] = ()
    tests: tuple[Path, ...] = ()
    results: Path | None = None
    cache: Path | None = None


NONE = Project(Path())
"""No project: nothing is said."""


def found(start: Path) -> Project:
    """Return the project of an absolute folder, ``NONE`` when no project file lies in it or above it.

    Raises:
        InputError: when the file cannot be used, or somebody else may have written it.
    """
    for folder in (start, *start.parents):
        path = folder / PROJECT_FILE
        if path.is_file():
            owners.check_said(path)
            return _read(path, path.stat().st_mtime_ns)
    return NONE


def current() -> Project:
    """Return the project of the current folder.

    Raises:
        InputError: as ``found``.
    """
    return found(Path.cwd())


def results_and_cache() -> tuple[Path | None, Path | None]:
    """Return where the project of the current folder keeps results and models; nothing while its file is wrong.

    The commands read it again and say what is wrong with it.
    """
    try:
        project = current()
    except (InputError, OSError):
        return None, None
    return project.results, project.cache


@cache
def _read(path: Path, _changed: int) -> Project:
    where, folder = shown(path), path.parent
    file = converted(read_toml(path), ProjectFile, where)
    config = file.config
    return Project(
        folder,
        rtl=_path(folder, file.rtl),
        top=file.top,
        config=str(_path(folder, config)) if config is not None and config.endswith(".toml") else config,
        port_map=_path(folder, file.port_map),
        sim=file.sim,
        plans=_paths(folder, file.plans, f"{where}: plans"),
        tests=_paths(folder, file.tests, f"{where}: tests"),
        results=_path(folder, file.results),
        cache=_path(folder, file.cache),
    )


TEMPLATE = """\
# What is tested, and where things lie. Every nvdla-tb command finds this file from its folder and from any below.
# Paths are relative to this file; options of a command win.

{rtl}
{top}
{config}
# port_map = "ports.toml"       # where ports are called otherwise
# sim = "verilator"             # or "icarus"

# Scenarios that `nvdla-tb run` and pytest play: plans of the testbench by name, and files of your own.
# plans = ["nv_small", "plans/*.toml"]

# Tests in Python, for pytest.
# tests = ["tests/*.py"]

results = "sim_build"           # logs, pages, regressions; leave it out of the repository
# cache = "/scratch/nvdla-tb"   # built models; default: your own cache, shared by all checkouts
"""
"""What ``init`` writes, with lines for what its options say."""
