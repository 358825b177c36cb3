"""Paths of the project's own files, and the names by which a user knows it."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

PLANS = PACKAGE / "plans"

COVERAGE = PLANS / "coverage"
"""The coverage model, one file a unit."""

# A checkout links to its folder of Verilog; a wheel holds a copy.
HDL = (PACKAGE / "hdl_stubs").resolve()

COMMAND = "nvdla-tb"

PROJECT_FILE = "nvdla-tb.toml"
"""The project file of a user's own repository."""
