"""cocotb test, started by test_backends.py: plays a scenario and saves verdict and every write."""

from __future__ import annotations

import json
import os
from pathlib import Path

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from models.config import HwConfig
from tb.sim.bench import Bench
from tb.trace import read


@cocotb.test()
async def record(dut: SimHandleBase) -> None:
    config = HwConfig.load("nv_small")
    scenario = read(Path(os.environ["NVDLA_SCENARIO"]), config)
    bench = await Bench.start(dut, config, scenario.settings, scenario.seed)
    await bench.play(scenario.ops)
    verdict = bench.finish()
    result = Path(os.environ["NVDLA_RESULT"])
    result.write_text(json.dumps(verdict.to_dict()), encoding="utf-8")
    history = bench.scoreboard.history
    np.savez(
        result.with_suffix(".npz"),
        **{
            name: np.concatenate([getattr(beats, name) for beats in history]) if history else np.zeros(0)
            for name in ("address", "data", "strobe", "cycle", "axi_id")
        },
    )
