"""Plays the cocotb tests of checkers.py, interfaces.py, stress.py and far_strides.py on each back end."""

from __future__ import annotations

import pytest

from nvdla_tb.run.compile.spec import Built
from tests.sim.conftest import InSimulation, coroutines_of

MODULES = ("checkers", "interfaces", "stress", "far_strides")

NEEDS_AGENTS = {
    "a_request_right_behind_reset_is_lost": "it drives CSB itself",
    "a_non_posted_write_completes_and_a_posted_one_says_nothing": "it samples CSB itself",
}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module in MODULES for name in coroutines_of(module)])
def test_in_simulation(model: Built, in_simulation: InSimulation, module: str, name: str) -> None:
    if model.spec.native and name in NEEDS_AGENTS:
        pytest.skip(f"coroutine back end only: {NEEDS_AGENTS[name]}")
    in_simulation(model, module, name)
