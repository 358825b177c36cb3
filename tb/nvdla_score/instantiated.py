"""The modules of a design, as Verilator elaborates it, and their files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from nvdla_tb.run.compile.elaborate import elaborated
from nvdla_tb.run.compile.filelist import FileList

_MODULE = re.compile(r' *\{"type":"MODULE","name":"([^"]+)","addr":"([^"]+)".*?"origName":"([^"]+)"')
_CELL = re.compile(r' *\{"type":"CELL".*?"modp":"([^"]+)"')


class Design(NamedTuple):
    """The parts of a top module.

    Attributes:
        modules: their names in the sources.
        parametrised: those that are used with other parameters than their own.
        files: all files that were read.
        parents: by module, the modules that instantiate it.
    """

    modules: frozenset[str]
    parametrised: frozenset[str]
    files: tuple[Path, ...]
    parents: Mapping[str, frozenset[str]] = {}


def design_of(files: FileList, top: str, log_path: Path) -> Design:
    """Elaborate RTL and return what it consists of: neither libraries that are not used nor dead branches.

    Raises:
        BuildError: when Verilator refuses the RTL.
    """
    with elaborated(files, top, log_path) as (lines, read):
        found = _modules(lines)
    modules = frozenset(module.own for module in found)
    parametrised = frozenset(module.own for module in found if module.name != module.own)
    return Design(modules, parametrised, read, _parents(found))


class _Module(NamedTuple):
    """A module of a tree: its name there, its address, its name in the sources, and the addresses of its cells."""

    name: str
    address: str
    own: str
    cells: list[str]


def _modules(lines: Iterable[str]) -> list[_Module]:
    """Return the modules of a tree, which has hundreds of megabytes."""
    modules: list[_Module] = []
    for line in lines:
        if found := _MODULE.match(line):
            modules.append(_Module(found[1], found[2], found[3], []))
        elif modules and (cell := _CELL.match(line)):
            modules[-1].cells.append(cell[1])
    return modules


def _parents(elaborated: Iterable[_Module]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    own = {module.address: module.own for module in elaborated}
    for module in elaborated:
        for address in module.cells:
            found.setdefault(own[address], set()).add(module.own)
    return {name: frozenset(parents) for name, parents in found.items()}
