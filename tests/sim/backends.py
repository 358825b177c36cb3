"""cocotb test, started by test_backends.py: plays a scenario and saves verdict and every write."""

from __future__ import annotations

from pathlib import Path

import cocotb
import msgspec
import numpy as np
from cocotb.handle import SimHandleBase

from models.config import HwConfig
from tb.sim.bench import Bench
from tb.stimulus.exchange import Request
from tb.stimulus.trace import read


@cocotb.test()
async def record(dut: SimHandleBase) -> None:
    request = Request.from_env()
    assert request.scenario is not None
    assert request.result is not None
    config = HwConfig.load(request.config)
    scenario = read(Path(request.scenario), config)
    bench = await Bench.start(dut, config, scenario.settings, scenario.seed)
    await bench.play(scenario.ops)
    verdict = bench.finish()
    result = Path(request.result)
    result.write_bytes(msgspec.json.encode(verdict))
    history = bench.scoreboard.history
    np.savez(
        result.with_suffix(".npz"),
        **{
            name: np.concatenate([getattr(beats, name) for beats in history]) if history else np.zeros(0)
            for name in ("address", "data", "strobe", "cycle", "axi_id")
        },
    )
