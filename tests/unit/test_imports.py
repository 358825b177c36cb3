"""Imports only go down the list of folders, and only tb/nvdla_tb/sim knows the simulator."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repository import ROOT

# From the top: a place may import itself and whatever stands in a later row. Places of one row are
# strangers to each other.
ROWS = (
    ("tests",),
    ("nvdla_tb.api",),
    ("nvdla_score", "nvdla_steer"),
    ("dlhdl_tb.system", "dlhdl_tb.layouts"),
    ("dlhdl_tb.sim", "dlhdl_tb.ports"),
    ("dlhdl_tb", "nvdla_networks"),
    ("dlhdl_models",),
    ("nvdla_tb.__main__", "nvdla_tb.plugin", "nvdla_tb.gate_tests"),
    ("nvdla_tb.cli",),
    ("nvdla_tb.report",),
    ("nvdla_tb.run",),
    ("nvdla_tb.sim",),
    ("nvdla_tb.explain", "nvdla_tb.coverage"),
    ("nvdla_tb.stimulus",),
    ("nvdla_tb.judge",),
    ("nvdla_tb.nvdla",),
    ("nvdla_tb",),
    ("nvdla_models",),
)
# Packages of the simulator, and the places that may import them besides tests.
SIMULATOR = {
    "cocotb": ("nvdla_tb.sim", "dlhdl_tb.sim", "nvdla_tb.gate_tests"),
    "cocotb_bus": ("nvdla_tb.sim",),
    "cocotbext": ("nvdla_tb.sim", "dlhdl_tb.sim"),
    "cocotb_tools": ("nvdla_tb.sim", "nvdla_tb.run"),
}


MODELS = ("nvdla_models", "dlhdl_models")


def place_of(module: str) -> str | None:
    """Return the place of the list that a module belongs to, or None for another package."""
    places = [place for row in ROWS for place in row]
    for place in sorted(places, key=len, reverse=True):
        if module == place or module.startswith(f"{place}."):
            return place
    return None


def row_of(place: str) -> int:
    return next(number for number, row in enumerate(ROWS) if place in row)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements below a node; expressions, which are most of a tree, hold no imports."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements(child)


def imported(tree: ast.Module, package: str) -> Iterator[tuple[int, str]]:
    """Yield line and absolute name of every module that is imported, at any depth of the file."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            # ``from nvdla_tb import sim`` imports the folder, so each name counts as a module too.
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


FRONT_DOOR = ("tb/nvdla_tb/__init__.py", "nvdla_tb.api.*")
"""The package takes its public names from a module that stands above all rooms whose names it collects."""


def violations(root: Path) -> list[str]:
    """Return every import that goes up, sideways or to the simulator, as ``file:line: what``."""
    found = []
    for path in sorted(path for top in ("tests", "tb", "models") for path in (root / top).rglob("*.py")):
        relative = path.relative_to(root)
        parts = relative.with_suffix("").parts
        module = ".".join(parts if parts[0] == "tests" else parts[1:]).removesuffix(".__init__")
        package = module.rpartition(".")[0]
        place = place_of(module)
        assert place is not None
        folder = ".".join(relative.parts[1:3]) if len(relative.parts) > 3 else place
        if place == "nvdla_tb" and folder != place:
            found.append(f"{relative}:1: folder {folder} is not in the list")
            continue
        for line, name in imported(parsed(path), package):
            problem = None if (str(relative), name) == FRONT_DOOR else _problem(place, name)
            if problem:
                found.append(f"{relative}:{line}: {problem}")
    return found


def _problem(place: str, name: str) -> str | None:
    top = name.partition(".")[0]
    if top in SIMULATOR and place not in ("tests", *SIMULATOR[top]):
        return f"{place} must not import {top}"
    target = place_of(name)
    if target is None:
        if place in MODELS and top != "numpy" and top not in sys.stdlib_module_names:
            return f"{place} must import only numpy and itself, not {top}"
        return None
    if target != place and row_of(target) <= row_of(place):
        return f"{place} must not import {target}"
    return None


# Modules that import inside functions, with what they wait for.
LATER = {
    "tb/nvdla_tb/__init__.py": "a test that asks for a name of the front door",
    "tb/nvdla_tb/cli/commands.py": "the user's choice of a subcommand, and a shell that asks what completes one",
    "tb/nvdla_tb/cli/run.py": "the user's choice to play, not to list",
    "tb/nvdla_tb/cli/workers.py": "the user's choice of a cluster",
    "tb/nvdla_score/bench/model.py": "PyTorch, which need not be installed",
    "tb/nvdla_tb/sim/answer.py": "a failure, which few simulations end with",
    "tb/nvdla_tb/sim/python_tests.py": "the launcher's request, which names the user's tests",
    "tb/nvdla_tb/run/regress/batch.py": "dask-jobqueue, which need not be installed",
    "tb/nvdla_networks/host.py": "onnxruntime, which need not be installed",
}


_INSIDE = re.compile(r"^(?!import |from ).*import", re.MULTILINE)
"""A line that may import anywhere but at the top of a module."""


def late_imports(path: Path) -> list[int]:
    """Return the lines of a module that import inside a function, or by name."""
    if not _INSIDE.search(path.read_text(encoding="utf-8")):
        return []
    tree = parsed(path)
    functions = [node for node in statements(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = [node for function in functions for node in statements(function)]
    names = [(node.lineno, node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names += [(node.lineno, node.attr) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    found = {node.lineno for node in inside if isinstance(node, ast.Import | ast.ImportFrom)}
    named = {line for line, name in names if name in ("import_module", "__import__")}
    return sorted(found | named)


def test_imports_stand_at_the_top_of_modules() -> None:
    modules = [path for top in ("tb", "models") for path in (ROOT / top).rglob("*.py")]
    late = {str(path.relative_to(ROOT)) for path in modules if late_imports(path)}
    assert late == LATER.keys()


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import os\nfrom a import b", []),
        ("def f():\n    import os", [2]),
        ("class C:\n    async def f(self):\n        from a import b", [3]),
        ("from importlib import import_module as im, import_module\nimport_module('os')", [2]),
        ("import importlib\nx = importlib.import_module('os')", [2]),
    ],
)
def test_an_import_elsewhere_is_seen(tmp_path: Path, source: str, lines: list[int]) -> None:
    path = tmp_path / "module.py"
    path.write_text(source, encoding="utf-8")
    assert late_imports(path) == lines


def test_imports_only_go_down_the_list_of_folders() -> None:
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "models/nvdla_models/sdp.py",
            "import nvdla_tb.nvdla.layers",
            "models/nvdla_models/sdp.py:1: nvdla_models must not import nvdla_tb.nvdla",
        ),
        (
            "models/nvdla_models/sdp.py",
            "import os\nimport scipy",
            "models/nvdla_models/sdp.py:2: nvdla_models must import only numpy and itself, not scipy",
        ),
        (
            "models/nvdla_models/sdp.py",
            "import cocotb",
            "models/nvdla_models/sdp.py:1: nvdla_models must not import cocotb",
        ),
        (
            "tb/nvdla_tb/nvdla/memory.py",
            "import cocotb",
            "tb/nvdla_tb/nvdla/memory.py:1: nvdla_tb.nvdla must not import cocotb",
        ),
        (
            "tb/nvdla_tb/nvdla/memory.py",
            "import cocotb_tools",
            "tb/nvdla_tb/nvdla/memory.py:1: nvdla_tb.nvdla must not import cocotb_tools",
        ),
        (
            "tb/nvdla_tb/nvdla/memory.py",
            "from nvdla_tb import sim",
            "tb/nvdla_tb/nvdla/memory.py:1: nvdla_tb.nvdla must not import nvdla_tb.sim",
        ),
        (
            "tb/nvdla_tb/nvdla/memory.py",
            "from .. import sim",
            "tb/nvdla_tb/nvdla/memory.py:1: nvdla_tb.nvdla must not import nvdla_tb.sim",
        ),
        (
            "tb/nvdla_tb/nvdla/program/ops.py",
            "from ...stimulus import trace",
            "tb/nvdla_tb/nvdla/program/ops.py:1: nvdla_tb.nvdla must not import nvdla_tb.stimulus",
        ),
        (
            "tb/nvdla_tb/nvdla/memory.py",
            "def f():\n    import nvdla_tb.cli",
            "tb/nvdla_tb/nvdla/memory.py:2: nvdla_tb.nvdla must not import nvdla_tb.cli",
        ),
        (
            "tb/nvdla_tb/stimulus/trace/x.py",
            "from nvdla_tb.run.compile.build import y",
            "tb/nvdla_tb/stimulus/trace/x.py:1: nvdla_tb.stimulus must not import nvdla_tb.run",
        ),
        ("tb/nvdla_tb/run/x.py", "import cocotb.handle", "tb/nvdla_tb/run/x.py:1: nvdla_tb.run must not import cocotb"),
        (
            "tb/nvdla_tb/stimulus/generate/x.py",
            "import nvdla_tb.explain",
            "tb/nvdla_tb/stimulus/generate/x.py:1: nvdla_tb.stimulus must not import nvdla_tb.explain",
        ),
        (
            "tb/nvdla_tb/sim/x.py",
            "import nvdla_tb.__main__",
            "tb/nvdla_tb/sim/x.py:1: nvdla_tb.sim must not import nvdla_tb.__main__",
        ),
        ("tb/nvdla_tb/sim/x.py", "import tests.unit", "tb/nvdla_tb/sim/x.py:1: nvdla_tb.sim must not import tests"),
        (
            "tb/nvdla_tb/run/x.py",
            "from dlhdl_tb.config import DlhdlConfig",
            "tb/nvdla_tb/run/x.py:1: nvdla_tb.run must not import dlhdl_tb",
        ),
        (
            "tb/nvdla_tb/explain/x.py",
            "import dlhdl_models",
            "tb/nvdla_tb/explain/x.py:1: nvdla_tb.explain must not import dlhdl_models",
        ),
        (
            "tb/nvdla_tb/cli/x.py",
            "import nvdla_networks",
            "tb/nvdla_tb/cli/x.py:1: nvdla_tb.cli must not import nvdla_networks",
        ),
        (
            "tb/nvdla_tb/__main__.py",
            "import nvdla_score",
            "tb/nvdla_tb/__main__.py:1: nvdla_tb.__main__ must not import nvdla_score",
        ),
        ("tb/nvdla_tb/extra/x.py", "", "tb/nvdla_tb/extra/x.py:1: folder nvdla_tb.extra is not in the list"),
    ],
)
def test_the_checker_sees_a_violation(tmp_path: Path, path: str, source: str, expected: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(source, encoding="utf-8")
    assert violations(tmp_path) == [expected]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "models/nvdla_models/layout/x.py",
            "import numpy.typing\nimport tomllib\nfrom nvdla_models.config import HwConfig",
        ),
        (
            "tb/nvdla_tb/judge/predictor.py",
            "from nvdla_models import sdp\nfrom nvdla_tb.nvdla.program.codec import encode",
        ),
        ("tb/nvdla_tb/nvdla/program/x.py", "from nvdla_tb.nvdla.layers import Layer"),
        (
            "tb/nvdla_tb/sim/x.py",
            "import cocotb\nfrom cocotb_bus.drivers import BusDriver\nfrom nvdla_tb.nvdla.memory import Ram",
        ),
        ("tb/nvdla_tb/run/x.py", "from cocotb_tools.runner import get_runner\nimport find_libpython"),
        ("tb/nvdla_tb/__main__.py", "from nvdla_tb.cli import run\nimport nvdla_tb.run.regress"),
        ("tb/nvdla_tb/cli/x.py", "import nvdla_tb.run.regress\nimport nvdla_tb.sim.bench"),
        ("tests/sim/x.py", "import cocotb\nimport nvdla_tb.__main__"),
    ],
)
def test_the_checker_allows_what_goes_down(tmp_path: Path, path: str, source: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(source, encoding="utf-8")
    assert violations(tmp_path) == []


ADDED = re.compile(r"dlhdl|deep learning hdl|nvdla_networks|nvdla_score|nvdla_steer", re.IGNORECASE)
"""The packages that add themselves to the bench through entry points, which it must not know of."""


def mentions(root: Path) -> list[str]:
    """Return every line of the bench and its models that mentions a package beside them, as ``file:line``."""
    files = [path for top in ("tb/nvdla_tb", "models/nvdla_models") for path in sorted((root / top).rglob("*"))]
    own = [
        path for path in files if path.is_file() and "hdl_stubs" not in path.parts and "__pycache__" not in path.parts
    ]
    return [
        f"{path.relative_to(root)}:{number}"
        for path in own
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1)
        if ADDED.search(line)
    ]


def test_the_bench_mentions_none_of_the_packages_that_add_themselves() -> None:
    assert mentions(ROOT) == []


def test_a_mention_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "tb" / "nvdla_tb" / "plans" / "x.toml"
    path.parent.mkdir(parents=True)
    path.write_text('name = "x"\nsystem = "DLHDL"\n', encoding="utf-8")
    assert mentions(tmp_path) == ["tb/nvdla_tb/plans/x.toml:2"]
