"""A seeded bug that the embedded device does not have ends the simulation at once."""

from __future__ import annotations

from pathlib import Path

from models.config import HwConfig
from tb.judge.verdict import Ending
from tb.run.compile.spec import Built
from tb.stimulus.generate.plan import PlanEntry
from tests.sim.conftest import played

CONFIG = HwConfig.load("nv_small")
ENTRY = PlanEntry("it", "", "nv_small", {"layer": [{"engine": "SDP", "shape": [8, 2, 2]}]})


def test_an_unknown_bug_ends_the_simulation_with_the_list_of_all(model: Built, tmp_path: Path) -> None:
    result = played(model, tmp_path / "run", ENTRY.build(CONFIG, 1), "+bug=none_of_them")
    # Icarus ends its test as failed, Verilator itself.
    assert result.ending in (Ending.BENCH_ERROR, Ending.CRASH)
    log = (tmp_path / "run" / "sim.log").read_text(encoding="utf-8")
    assert "bug must be one of those below, not none_of_them" in log
    assert "  axi_wlast\n" in log
