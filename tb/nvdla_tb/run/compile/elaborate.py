"""Ask Verilator for the top ports of real RTL, after parameters and includes are resolved."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nvdla_tb.run.compile.advice import refused
from nvdla_tb.run.compile.filelist import FileList
from nvdla_tb.run.compile.ports import Port
from nvdla_tb.run.compile.toolchain import tool_environment, verilator_root
from nvdla_tb.run.errors import BuildError
from nvdla_tb.run.process import supervise
from nvdla_tb.run.space import check_space

# A user's RTL is not lint-clean, and its warnings are not what is being checked.
QUIET = ("-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD")
Node = Mapping[str, str]

_MODULE = '  {"type":'
_VARIABLE = '    {"type":"VAR",'
_TYPE = re.compile(r' *(\{"type":"[A-Z]+DTYPE",)')
_ESCAPED = re.compile(r"(?P<octal>(?:\\[0-7]{3})+)|\\.", re.DOTALL)
_TEXT_ATTRIBUTE = re.compile(r'"\w+":"(?:[^"\\]|\\.)*"')


def library_arguments(files: FileList) -> list[str]:
    """Return Verilator's arguments for library folders, files and extensions."""
    given = {"-y": files.library_dirs, "-v": files.library_files}
    words = [word for option, paths in given.items() for path in paths for word in (option, str(path))]
    return ["+".join(("+libext", *files.library_extensions)), *words]


@contextmanager
def elaborated(
    files: FileList, top: str, log_path: Path, parameters: Mapping[str, int] | None = None
) -> Iterator[tuple[Iterable[str], tuple[Path, ...]]]:
    """Elaborate RTL without building it, and give the lines of Verilator's tree and all files that were read.

    ``parameters`` are those of the top that are not the default ones.

    Raises:
        BuildError: when Verilator refuses the RTL.
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=log_path.parent.resolve(), prefix="elaborate-") as folder:
        command = [
            *(str(verilator_root() / "bin" / "verilator_bin"), "--json-only", "--no-timing", *QUIET),
            *("--Mdir", folder, "--prefix", "Vtop", "--top-module", top),
            *(f"-D{name}={value}" for name, value in files.defines),
            *(f"-G{name}={value}" for name, value in (parameters or {}).items()),
            *(f"-I{path}" for path in files.include_dirs),
            *library_arguments(files),
            *map(str, (*files.controls, *files.sources)),
        ]
        log_path.write_bytes(b"")
        ended = supervise(command, cwd=Path(folder), environment=tool_environment(), log_path=log_path)
        if ended.returncode != 0:
            check_space(log_path.parent)
            raise refused(f"Verilator cannot elaborate {top}:", log_path)
        meta_text = (Path(folder) / "Vtop.tree.meta.json").read_text(encoding="utf-8", errors="surrogateescape")
        meta = json.loads(_ESCAPED.sub(_unescaped, meta_text), strict=False)
        paths = [Path(entry["realpath"]) for entry in meta["files"].values()]
        own = verilator_root().resolve()
        read = tuple(path for path in paths if path.is_absolute() and not path.is_relative_to(own))
        with (Path(folder) / "Vtop.tree.json").open(encoding="utf-8", errors="surrogateescape") as tree:
            yield tree, read


def elaborate(
    files: FileList, top: str, log_path: Path, parameters: Mapping[str, int] | None = None
) -> tuple[tuple[Port, ...], tuple[Path, ...]]:
    """Return the ports of the top module in declaration order, and all files that were read; see ``elaborated``.

    Raises:
        BuildError: when Verilator refuses the RTL, or a port is neither a plain nor a packed vector.
    """
    with elaborated(files, top, log_path, parameters) as (lines, read):
        variables, types = _netlist(lines, top)
    return tuple(_ports(variables, types, top, log_path)), read


def _netlist(lines: Iterable[str], top: str) -> tuple[list[Node], dict[str, Node]]:
    """Return a module's variables, and all types by their addresses, from the tree.

    The tree of a large design has hundreds of megabytes and is nested deeper than Python's decoder goes, so its
    lines are read one by one: each begins with one node and all of its attributes, indented by its depth.
    """
    variables: list[Node] = []
    types: dict[str, Node] = {}
    inside = False
    for line in lines:
        if line.startswith(_MODULE):
            inside = line.startswith(f'{_MODULE}"MODULE"') and _attributes(line)["name"] == top
        elif inside and line.startswith(_VARIABLE):
            variables.append(_attributes(line))
        elif match := _TYPE.match(line):
            node = _attributes(line[match.start(1) :])
            types[node["addr"]] = node
    return variables, types


def _attributes(line: str) -> Node:
    """Return a node's attributes that are text, without those of nodes below it on its line."""
    own = line.split(": [", 1)[0]
    node: Node = json.loads(f"{{{','.join(_TEXT_ATTRIBUTE.findall(own))}}}")
    return node


def _ports(variables: Iterable[Node], types: Mapping[str, Node], top: str, log_path: Path) -> Iterator[Port]:
    """Yield the top module's ports; in the tree a port is a variable with a direction."""
    for item in variables:
        if item["direction"] == "NONE":
            continue
        width = _width(types[item["dtypep"]], types)
        if width is None:
            raise BuildError(
                f"port {item['name']} of {top} must be a vector, not a struct or the like", log_path=log_path
            )
        yield Port(item["name"], item["direction"].lower(), width)


def _width(kind: Node, types: Mapping[str, Node]) -> int | None:
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


def _unescaped(match: re.Match[str]) -> str:
    """Return the characters of bytes that stand as octal numbers, which JSON does not know."""
    numbers = re.findall(r"[0-7]{3}", match["octal"] or "")
    return bytes(int(number, 8) for number in numbers).decode("utf-8", "surrogateescape") if numbers else match[0]
