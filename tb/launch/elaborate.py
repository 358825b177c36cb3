"""Ask Verilator for the top ports of real RTL, after parameters and includes are resolved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tb.launch.errors import BuildError
from tb.launch.filelist import FileList
from tb.launch.ports import Port
from tb.launch.process import last_relevant_lines, supervise
from tb.launch.toolchain import tool_environment, verilator_root

# A user's RTL is not lint-clean, and its warnings are not what is being checked.
QUIET = ("-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD")


@dataclass(frozen=True)
class Elaboration:
    """Ports of the top module in declaration order, and every file that was read for it."""

    ports: tuple[Port, ...]
    read_files: tuple[Path, ...]


def library_arguments(files: FileList) -> list[str]:
    """Return Verilator's arguments for library folders, files and extensions."""
    extensions = [f"+libext{''.join(f'+{extension}' for extension in files.library_extensions)}"]
    folders = [argument for path in files.library_dirs for argument in ("-y", str(path))]
    return extensions + folders + [argument for path in files.library_files for argument in ("-v", str(path))]


def elaborate(files: FileList, top: str, log_path: Path) -> Elaboration:
    """Elaborate the RTL without building it.

    Args:
        files: The RTL.
        top: Name of its top module.
        log_path: Where Verilator's output goes.

    Raises:
        BuildError: when Verilator refuses the RTL, or a port is neither a plain nor a packed vector.
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=log_path.parent, prefix="elaborate-") as folder:
        command = [
            *(str(verilator_root() / "bin" / "verilator_bin"), "--json-only", "--no-timing", *QUIET),
            *("--Mdir", folder, "--prefix", "Vtop", "--top-module", top),
            *(f"-D{name}={value}" for name, value in files.defines),
            *(f"-I{path}" for path in files.include_dirs),
            *library_arguments(files),
            *map(str, files.sources),
        ]
        log_path.write_bytes(b"")
        ended = supervise(command, cwd=Path(folder), environment=tool_environment(), log_path=log_path)
        if ended.returncode != 0:
            lines = last_relevant_lines(log_path)
            raise BuildError(f"Verilator cannot elaborate {top}:\n{lines}\nlog: {log_path}", log_path)
        tree = json.loads((Path(folder) / "Vtop.tree.json").read_text(encoding="utf-8"))
        meta = json.loads((Path(folder) / "Vtop.tree.meta.json").read_text(encoding="utf-8"))
    return Elaboration(tuple(_ports(tree, top, log_path)), tuple(_read_files(meta)))


def _ports(tree: Mapping[str, Any], top: str, log_path: Path) -> Iterator[Port]:
    """Yield the top module's ports; in the tree a port is a variable with a direction."""
    module = next(m for m in tree["modulesp"] if m["name"] == top)
    types = {t["addr"]: t for misc in tree["miscsp"] for t in misc.get("typesp", ())}
    for item in module["stmtsp"]:
        if item["type"] != "VAR" or item["direction"] == "NONE":
            continue
        width = _width(types[item["dtypep"]], types)
        if width is None:
            raise BuildError(f"port {item['name']} of {top} must be a vector, not a struct or the like", log_path)
        yield Port(item["name"], item["direction"].lower(), width)


def _width(kind: Mapping[str, Any], types: Mapping[str, Any]) -> int | None:
    """Return the bits of a packed type, or None for one that is no vector."""
    if kind["type"] == "BASICDTYPE":
        return _range_width(kind["range"]) if "range" in kind else _KEYWORD_BITS.get(kind["keyword"])
    if kind["type"] in ("REFDTYPE", "PACKARRAYDTYPE"):
        inner = _width(types[kind["refDTypep"]], types)
        if inner is None or kind["type"] == "REFDTYPE":
            return inner
        return inner * _range_width(kind["declRange"].strip("[]"))
    return None


# Types without a range of their own.
_KEYWORD_BITS = {"logic": 1, "bit": 1, "reg": 1, "byte": 8, "shortint": 16, "int": 32, "integer": 32, "longint": 64}


def _range_width(text: str) -> int:
    left, right = (int(bound) for bound in text.split(":"))
    return abs(left - right) + 1


def _read_files(meta: Mapping[str, Any]) -> Iterator[Path]:
    for entry in meta["files"].values():
        path = Path(entry["realpath"])
        if path.is_absolute() and not path.is_relative_to(verilator_root().resolve()):
            yield path
