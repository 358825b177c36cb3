"""Starts the cocotb tests of checkers.py and interfaces.py, one simulator process each."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tb.launch.build import Built
from tb.launch.simulate import simulate

HERE = Path(__file__).parent


def cocotb_tests() -> list[tuple[str, str]]:
    """Return (module, test) of every coroutine in the two modules, without importing cocotb."""
    return [
        (name, node.name)
        for name in ("checkers", "interfaces")
        for node in ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.AsyncFunctionDef) and node.decorator_list
    ]


@pytest.mark.parametrize(("module", "name"), cocotb_tests())
def test_in_simulation(built: Built, tmp_path: Path, module: str, name: str) -> None:
    result = simulate(
        built,
        test_module=f"tests.sim.{module}",
        testcase=name,
        env={"NVDLA_CONFIG": "nv_small"},
        work_dir=tmp_path,
        timeout_seconds=120,
    )
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
