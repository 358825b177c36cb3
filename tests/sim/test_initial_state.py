"""Registers and memories begin with random numbers where a run asks for it, and no verdict depends on them.

So is every X that the device assigns: if it were 0, it could hide a bug.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli.main import main
from nvdla_tb.judge.finding import Check
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec
from tests.sim.conftest import played, simulated
from tests.sim.dead_device import SCENARIO, built_device
from tests.sim.initial_state import FOUND


def table_data(folder: Path, *plusargs: str) -> int:
    """Return the data of a table that nobody has written."""
    folder.mkdir()
    built = build(BuildSpec(HwConfig.load("nv_small"), backend="native"))
    found = {FOUND: str(folder / "found")}
    simulated(built, "tests.sim.initial_state", "table_data_are_read", folder, *plusargs, **found)
    return int((folder / "found").read_text(encoding="utf-8"))


def test_what_was_never_written_is_random_by_the_seed(tmp_path: Path) -> None:
    plain = table_data(tmp_path / "plain")
    found = [
        table_data(tmp_path / str(number), "+verilator+rand+reset+2", f"+verilator+seed+{seed}")
        for number, seed in enumerate((3, 3, 4))
    ]
    assert plain == 0
    assert found[0] == found[1]
    assert len({plain, *found}) == 3


@pytest.mark.parametrize("seed", [5, 6])
def test_no_verdict_depends_on_the_initial_state(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    random = ["--plusarg", "+verilator+rand+reset+2", "--plusarg", f"+verilator+seed+{seed}"]
    assert main(["run", "--only", "*_in_both_groups,cdp_*", *random]) == 0
    assert "0 failed, 0 refused" in capsys.readouterr().out


def test_an_x_that_the_device_assigns_is_random_by_the_seed(tmp_path: Path) -> None:
    (tmp_path / "device").mkdir()
    device = built_device(tmp_path / "device", "verilator", "native")
    random = ("+copies", "+looks", "+verilator+rand+reset+2", "+verilator+seed+3")
    sound, unknown = (
        {finding.check for finding in played(device, tmp_path / name, SCENARIO, *random, *more).verdict.findings}
        for name, more in (("sound", ()), ("unknown", ("+unknown",)))
    )
    assert Check.VALUE not in sound
    assert Check.VALUE in unknown
