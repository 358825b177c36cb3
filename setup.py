"""Build the wheel: everything below one import name, ``nvdla_tb``.

In a checkout the code lies in top-level folders, ``tb``, ``models``, ``hdl_stubs`` and ``tests``, and imports by their
names. Installed, such names would collide with those of others, so the build places the folders below ``nvdla_tb``,
by setuptools' ``package_dir``, and renames the imports of exactly these packages. Nothing else in a file changes.
"""

from __future__ import annotations

import ast
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from setuptools.errors import SetupError

NAME = "nvdla_tb"
PLACES = {"tb": NAME, "models": f"{NAME}.models", "tests": f"{NAME}.tests"}
"""Top-level packages of a checkout, and what they are called when installed."""

FOLDERS = {NAME: "tb", f"{NAME}.models": "models", f"{NAME}.hdl_stubs": "hdl_stubs"}
"""Packages that are installed with all that is below them, and their folders."""

GATE_TESTS = {
    f"{NAME}.tests.sim": ("tests/sim", ("checkers", "far_strides", "interfaces", "stress")),
    f"{NAME}.tests.unit.nvdla": ("tests/unit/nvdla", ("samples",)),
}
"""Packages of the tests in Python that the test plan plays, with their folders and the modules that are installed."""

DATA = [f"*.{suffix}" for suffix in ("cpp", "css", "f", "h", "html", "js", "json", "sv", "toml", "v", "vh", "vlt")]


def renamed(source: str, file: str) -> str:
    """Return the source of a module with the imports of ``PLACES`` renamed.

    Args:
        source: The module.
        file: Its name, for messages.

    Raises:
        SetupError: for ``import tb.x``, which would bind another name.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(alias.name.partition(".")[0] in PLACES for alias in node.names):
            raise SetupError(f"{file}:{node.lineno}: must be an import with from")
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            top, dot, rest = node.module.partition(".")
            if top in PLACES:
                line, start = lines[node.lineno - 1], node.col_offset
                new = line[start:].replace(f"from {node.module} ", f"from {PLACES[top]}{dot}{rest} ", 1)
                lines[node.lineno - 1] = line[:start] + new
    return "".join(lines)


class Placed(build_py):
    """Copies modules and renames their imports."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Return the modules of a package, of the tests those that are installed."""
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        if package not in GATE_TESTS:
            return found
        return [entry for entry in found if entry[1] in GATE_TESTS[package][1]]

    def build_module(self, module: str, module_file: str, package: str) -> tuple[str, bool]:
        """Copy a module; return where to and whether it was copied."""
        outfile, copied = super().build_module(module, module_file, package)
        path = Path(outfile)
        path.write_text(renamed(path.read_text(encoding="utf-8"), module_file), encoding="utf-8")
        return outfile, copied


class NotEditable(editable_wheel):
    """Refuses ``pip install -e``, which renames nothing."""

    def run(self) -> None:
        """Say what to do instead."""
        raise SetupError("pip install -e is not needed: in a checkout it runs as python -m tb")


def packages() -> list[str]:
    """Return all packages, folders of data among them."""
    below = [f"{name}.{found}" for name, folder in FOLDERS.items() for found in find_namespace_packages(folder)]
    return [*FOLDERS, *(name for name in below if "__pycache__" not in name), *GATE_TESTS]


setup(
    packages=packages(),
    package_dir=FOLDERS | {name: folder for name, (folder, _) in GATE_TESTS.items()},
    package_data={"": DATA},
    exclude_package_data={name: ["*"] for name in GATE_TESTS},
    cmdclass={"build_py": Placed, "editable_wheel": NotEditable},
)
