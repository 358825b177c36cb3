"""cocotb test, started by test_backends.py: plays scenarios and saves of each the verdict and every write."""

from __future__ import annotations

import os
from pathlib import Path

import cocotb
import msgspec
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_tb.sim.bench import Bench
from nvdla_tb.stimulus.trace import read
from tests.sim.conftest import SCENARIOS_FOLDER

FOLDER = Path(os.environ[SCENARIOS_FOLDER])


@cocotb.test()
@cocotb.parametrize(name=sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
async def record(dut: SimHandleBase, name: str) -> None:
    config = HwConfig.load("nv_small")
    scenario = read(FOLDER / name, config)
    bench = await Bench.start(dut, config, scenario.settings, scenario.seed)
    await bench.play(scenario.ops)
    verdict = bench.finish()
    Path(f"{name}.json").write_bytes(msgspec.json.encode(verdict))
    # Whoever compares the back ends looks at what was found.
    bench.expect_findings(*{finding.check for finding in verdict.failures}, refusal=verdict.refused is not None)
    history = bench.scoreboard.history
    np.savez(
        f"{name}.npz",
        **{
            column: np.concatenate([getattr(beats, column) for beats in history]) if history else np.zeros(0)
            for column in ("address", "data", "strobe", "cycle", "axi_id")
        },
    )
