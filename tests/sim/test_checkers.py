"""Starts the cocotb tests of checkers.py, interfaces.py and stress.py, one simulator process each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.run.compile.spec import Built
from tb.run.simulate import simulate
from tb.stimulus.exchange import REQUEST, Request
from tests.sim.conftest import coroutines_of

MODULES = ("checkers", "interfaces", "stress")

NEEDS_AGENTS = {
    "a_lost_write_response_ends_in_a_hang_report": "it withholds an answer, which only the coroutine slave can",
    "a_request_right_behind_reset_is_lost": "it drives CSB itself",
    "a_non_posted_write_completes_and_a_posted_one_says_nothing": "it samples CSB itself",
}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in MODULES for name in coroutines_of(module)])
def test_in_simulation(built: Built, tmp_path: Path, module: str, name: str) -> None:
    if built.spec.native and name in NEEDS_AGENTS:
        pytest.skip(f"coroutine back end only: {NEEDS_AGENTS[name]}")
    result = simulate(
        built,
        test_module=f"tests.sim.{module}",
        testcase=name,
        env={REQUEST: Request("nv_small").encode()},
        work_dir=tmp_path,
        timeout_seconds=120,
    )
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
