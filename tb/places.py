"""Where the project's own files lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the project."""

PLANS = ROOT / "tb" / "plans"
HDL = ROOT / "hdl_stubs"
