"""The cocotb test that the launcher starts for a Deep Learning HDL processor."""

from __future__ import annotations

import time
from pathlib import Path

import cocotb
import msgspec
from cocotb.handle import SimHandleBase

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.explain.runs import explain_dlhdl
from dlhdl_tb.scenario import read
from dlhdl_tb.sim.bench import DlhdlBench
from nvdla_tb.explain import MOST_LAYERS, record
from nvdla_tb.explain.seen import Seen
from nvdla_tb.judge.text import complaints
from nvdla_tb.sim.answer import performance
from nvdla_tb.sim.clocking import cycle
from nvdla_tb.sim.failure import tell
from nvdla_tb.stimulus.exchange import Request


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
    result = msgspec.structs.replace(request.so_far, verdict=verdict, performance=performance(began))
    path = Path(request.result)
    result.save(path)
    if verdict.findings:
        seen = Seen.of(bench.judge.scoreboard)
        record.save(path.with_name(record.FILE_NAME), seen, None, request.config)
        explanations = explain_dlhdl(seen, scenario, MOST_LAYERS)
        tell(path.parent, explanations, result, request).save(path)
    assert not verdict.ending.is_failure, "\n".join(complaints(verdict))
