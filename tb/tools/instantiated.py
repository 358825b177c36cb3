"""The modules of a design, as Verilator elaborates it, and their files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tb.run.compile.elaborate import QUIET, library_arguments
from tb.run.compile.filelist import FileList
from tb.run.compile.toolchain import tool_environment, verilator_root
from tb.run.errors import BuildError
from tb.run.process import last_relevant_lines, supervise

_MODULE = re.compile(r' *\{"type":"MODULE","name":"([^"]+)","addr":"([^"]+)".*?"origName":"([^"]+)"')
_CELL = re.compile(r' *\{"type":"CELL".*?"modp":"([^"]+)"')
_OWN_PREFIX = "/"


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
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=log_path.parent.resolve(), prefix="design-") as folder:
        command = [
            *(str(verilator_root() / "bin" / "verilator_bin"), "--json-only", "--no-timing", *QUIET),
            *("--Mdir", folder, "--prefix", "Vtop", "--top-module", top),
            *(f"-D{name}={value}" for name, value in files.defines),
            *(f"-I{path}" for path in files.include_dirs),
            *library_arguments(files),
            *map(str, (*files.controls, *files.sources)),
        ]
        log_path.write_bytes(b"")
        ended = supervise(command, cwd=Path(folder), environment=tool_environment(), log_path=log_path)
        if ended.returncode != 0:
            lines = last_relevant_lines(log_path)
            raise BuildError(f"Verilator cannot elaborate {top}:\n{lines}\nlog: {log_path}", log_path)
        with (Path(folder) / "Vtop.tree.json").open(encoding="utf-8", errors="surrogateescape") as tree:
            elaborated = list(_modules(tree))
        meta = json.loads((Path(folder) / "Vtop.tree.meta.json").read_text(encoding="utf-8"), strict=False)
    modules = frozenset(module.own for module in elaborated)
    parametrised = frozenset(module.own for module in elaborated if module.name != module.own)
    files_read = tuple(_files(entry["realpath"] for entry in meta["files"].values()))
    return Design(modules, parametrised, files_read, _parents(elaborated))


class _Module(NamedTuple):
    """A module of a tree: its name there, its address, its name in the sources, and the addresses of its cells."""

    name: str
    address: str
    own: str
    cells: list[str]


def _modules(lines: Iterable[str]) -> Iterator[_Module]:
    """Yield the modules of a tree, which has hundreds of megabytes."""
    module: _Module | None = None
    for line in lines:
        found = _MODULE.match(line)
        if found:
            if module is not None:
                yield module
            module = _Module(found[1], found[2], found[3], [])
            continue
        cell = _CELL.match(line)
        if cell and module is not None:
            module.cells.append(cell[1])
    if module is not None:
        yield module


def _parents(elaborated: Iterable[_Module]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    own = {module.address: module.own for module in elaborated}
    for module in elaborated:
        for address in module.cells:
            found.setdefault(own[address], set()).add(module.own)
    return {name: frozenset(parents) for name, parents in found.items()}


def _files(names: Iterable[str]) -> Iterator[Path]:
    own = verilator_root().resolve()
    for name in names:
        path = Path(name)
        if name.startswith(_OWN_PREFIX) and not path.is_relative_to(own):
            yield path
