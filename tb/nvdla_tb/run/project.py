"""The project file of a user's own repository: what is tested and where things lie; needs nothing but Python.

Every command finds ``nvdla-tb.toml`` in the current folder or in one above it. Options win over it, and it wins over
what is built in. Its paths are relative to its own folder. One that belongs to somebody else is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from nvdla_models.errors import InputError
from nvdla_models.reading import read_toml, shown
from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run import owners


def _text(folder: Path, value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{where} must be a text, not {value!r}")
    return value


def _path(folder: Path, value: object, where: str) -> Path:
    return folder / Path(_text(folder, value, where)).expanduser()


def _config(folder: Path, value: object, where: str) -> str:
    text = _text(folder, value, where)
    return str(_path(folder, text, where)) if text.endswith(".toml") else text


def _paths(folder: Path, value: object, where: str) -> tuple[Path, ...]:
    if not isinstance(value, list):
        raise InputError(f"{where} must be a list of files, not {value!r}")
    paths: list[Path] = []
    for entry in value:
        text = _text(folder, entry, where)
        if "/" not in text and "." not in text:
            paths.append(Path(text))
            continue
        matched = sorted(folder.glob(text)) if any(letter in text for letter in "*?[") else [folder / text]
        missing = [path for path in matched if not path.is_file()]
        if missing:
            raise InputError(f"{where} must be files that exist, not {shown(missing[0])}")
        paths += matched
    return tuple(paths)


@dataclass(frozen=True)
class Project:
    """What the project file says, a key for each field that names its reader; None and empty where it says nothing.

    Attributes:
        folder: where the file lies.
        rtl: file list of the RTL.
        top: top module.
        config: name of a configuration, or its file.
        port_map: file of port differences.
        sim: simulator.
        plans: plan files; a name without suffix is that of a plan of the testbench.
        tests: files of tests in Python.
        results: folder of results.
        cache: folder of built models.
    """

    folder: Path
    rtl: Annotated[Path | None, _path] = None
    top: Annotated[str | None, _text] = None
    config: Annotated[str | None, _config] = None
    port_map: Annotated[Path | None, _path] = None
    sim: Annotated[str | None, _text] = None
    plans: Annotated[tuple[Path, ...], _paths] = ()
    tests: Annotated[tuple[Path, ...], _paths] = ()
    results: Annotated[Path | None, _path] = None
    cache: Annotated[Path | None, _path] = None


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
    where = shown(path)
    hints = get_type_hints(Project, include_extras=True).items()
    readers = {key: hint.__metadata__[0] for key, hint in hints if hasattr(hint, "__metadata__")}
    given: dict[str, Any] = {}
    for key, value in read_toml(path).items():
        if key not in readers:
            raise InputError(f"{where}: there is no key {shown(key)}; known: {', '.join(readers)}")
        given[key] = readers[key](path.parent, value, f"{where}: {key}")
    return Project(path.parent, **given)


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
