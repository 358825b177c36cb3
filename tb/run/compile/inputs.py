"""Every file a build can read, with its content's hash: what the build cache is keyed by."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tb.run.compile.filelist import FileList

_HDL_SUFFIXES = frozenset((".v", ".sv", ".vh", ".svh", ".vlib", ".inc", ".h", ".vp", ".svp"))
_INCLUDE = re.compile(rb'`include\s+"([^"\n]+)"')


@dataclass(frozen=True)
class InputFile:
    """One file: its role in the build, its name there, where it lies, and its content's SHA-256."""

    role: str
    name: str
    path: Path
    sha256: str


def collect(files: FileList) -> tuple[InputFile, ...]:
    """Return the sources, library and control files, and whatever their include folders may contribute.

    From include and library folders every HDL file counts, whether it is read or not, because
    both simulators may take a module or a header from there; files with other suffixes count
    when an include directive names them. The list depends on contents and names but not on
    where the folders lie, so a moved tree has the same key.
    """
    found = list(_hashed("source", ((path.name, path) for path in files.sources)))
    found += _hashed("library", ((path.name, path) for path in files.library_files))
    found += _hashed("control", ((path.name, path) for path in files.controls))
    suffixes = _HDL_SUFFIXES | set(files.library_extensions)
    for number, folder in enumerate((*files.include_dirs, *files.library_dirs)):
        names = sorted(entry for entry in folder.iterdir() if entry.suffix in suffixes and entry.is_file())
        found += _hashed(f"folder {number}", ((path.name, path) for path in names))
    return (*found, *_included(found, files.include_dirs))


def _hashed(role: str, named: Iterable[tuple[str, Path]]) -> Iterator[InputFile]:
    for name, path in named:
        yield InputFile(role, name, path, hashlib.sha256(path.read_bytes()).hexdigest())


def _included(known: Iterable[InputFile], include_dirs: tuple[Path, ...]) -> list[InputFile]:
    """Return the files that include directives name and that are not known yet, transitively."""
    seen = {entry.path.resolve() for entry in known}
    waiting = list(seen)
    included: list[InputFile] = []
    while waiting:
        for raw_name in _INCLUDE.findall(waiting.pop().read_bytes()):
            name = raw_name.decode("utf-8", errors="replace")
            for folder in include_dirs:
                # Safe for any name, which Path's methods are not.
                if not os.path.isfile(folder / name):
                    continue
                path = (folder / name).resolve()
                if path not in seen:
                    seen.add(path)
                    waiting.append(path)
                    included += _hashed("include", [(name, path)])
    return sorted(included, key=lambda entry: entry.name)
