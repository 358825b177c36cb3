"""Starts the cocotb tests of four_state.py, on Icarus alone: Verilator has no X."""

from __future__ import annotations

from pathlib import Path

from models.config import HwConfig
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec
from tb.run.simulate import simulate
from tb.stimulus.exchange import REQUEST, Request
from tests.sim.conftest import needs_icarus


@needs_icarus
def test_an_unknown_payload_is_reported(tmp_path: Path) -> None:
    result = simulate(
        build(BuildSpec(HwConfig.load("nv_small"), "icarus")),
        test_module="tests.sim.four_state",
        testcase="an_unknown_payload_is_reported",
        env={REQUEST: Request("nv_small").encode()},
        work_dir=tmp_path,
        timeout_seconds=120,
    )
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
