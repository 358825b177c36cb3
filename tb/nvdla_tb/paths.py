"""Where the project's own files lie, and what it is called: in a checkout ``tb``, installed ``nvdla_tb``."""

from __future__ import annotations

from pathlib import Path

NAME = __name__.partition(".")[0]
"""The name of this package."""

PACKAGE = Path(__file__).resolve().parent
"""The folder of this package."""

IN_CHECKOUT = NAME == "tb"

ROOT = PACKAGE.parent if IN_CHECKOUT else PACKAGE
"""The folder that holds ``hdl_stubs``, ``models`` and ``tests``."""

IMPORTED_FROM = PACKAGE.parent
"""The entry of ``sys.path`` that the package is found by."""

COMMAND = "nvdla-tb" if IN_CHECKOUT else "nvdla-tb"
"""The command that starts it."""

PROJECT_FILE = "nvdla-tb.toml"
"""The project file of a user's own repository."""

PLANS = PACKAGE / "plans"
HDL = ROOT / "hdl_stubs"


def module_of(name: str) -> str:
    """Return the name of a module of a checkout here, such as ``nvdla_tb.gate_tests.stress``."""
    return name if IN_CHECKOUT else f"{NAME}.{name}"
