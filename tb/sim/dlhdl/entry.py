"""The cocotb test that the launcher starts for a Deep Learning HDL processor."""

from __future__ import annotations

import time
from pathlib import Path

import cocotb
from cocotb.handle import SimHandleBase

from tb.dlhdl.config import DlhdlConfig
from tb.dlhdl.scenario import read
from tb.judge.text import complaints
from tb.sim.clocking import cycle
from tb.sim.dlhdl.bench import DlhdlBench
from tb.sim.failure import performance
from tb.stimulus.exchange import Answer, Request


@cocotb.test()
async def play(dut: SimHandleBase) -> None:
    """Play and judge one saved scenario."""
    request = Request.from_env()
    assert request.scenario is not None
    assert request.result is not None
    scenario = read(Path(request.scenario), DlhdlConfig.load(request.config))
    bench = await DlhdlBench.start(dut, scenario)
    began = time.process_time(), cycle()
    verdict = await bench.run()
    answer = Answer(verdict, performance(began), request.rerun, request.rerun_waves)
    answer.save(Path(request.result))
    assert not verdict.ending.is_failure, "\n".join(complaints(verdict))
