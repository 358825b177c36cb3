"""Builds of the embedded DUT, once per simulator and back end, for all tests that simulate."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.places import ROOT
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec, Built
from tb.run.folders import RESULTS


def coroutines_of(module: str) -> list[str]:
    """Return the cocotb tests of a module beside this one, without importing cocotb."""
    return [
        node.name
        for node in ast.parse((Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list
    ]


def builds() -> list[object]:
    """(simulator, back end); Icarus is skipped, saying so, where it is not installed."""
    missing = shutil.which("iverilog") is None
    skip = pytest.mark.skipif(missing, reason="Icarus is not installed (apt-get install iverilog)")
    return [
        pytest.param(("verilator", "coroutine"), id="verilator"),
        pytest.param(("verilator", "native"), id="native"),
        pytest.param(("icarus", "coroutine"), id="icarus", marks=skip),
    ]


@pytest.fixture(scope="session", params=builds())
def built(request: pytest.FixtureRequest) -> Built:
    simulator, backend = request.param
    return build(BuildSpec(HwConfig.load("nv_small"), simulator, backend=backend), ROOT / RESULTS)
