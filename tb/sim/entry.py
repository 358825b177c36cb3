"""The cocotb tests that the launcher starts: what to do stands in the environment, results go to a file.

``NVDLA_CONFIG`` names the configuration, ``NVDLA_RESULT`` the JSON file for the result.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import cocotb
from cocotb.handle import SimHandleBase

from tb.configrom import is_complete
from tb.sim.bench import Bench
from tb.sim.clocking import cycle, wait_cycles
from tb.trace import read
from tb.verdict import Outcome


@cocotb.test()
async def play(dut: SimHandleBase) -> None:
    """Play and judge the scenario saved in the folder ``NVDLA_SCENARIO``."""
    config = Bench.config_from_env()
    scenario = read(Path(os.environ["NVDLA_SCENARIO"]), config)
    bench = await Bench.start(dut, config, scenario.settings, scenario.seed)
    started, first = time.perf_counter(), cycle()
    await bench.play(scenario.ops)
    verdict = bench.finish()
    speed = (cycle() - first) / (time.perf_counter() - started)
    _save({**verdict.to_dict(), "cycles_per_second": speed})
    assert verdict.outcome is not Outcome.FAILED, "\n".join(verdict.complaints())


@cocotb.test()
async def idle(dut: SimHandleBase) -> None:
    """Clock the DUT for ``NVDLA_CYCLES`` cycles with idle inputs and no Python awake: the reference speed."""
    bench = await Bench.start(dut, Bench.config_from_env())
    started, first = time.perf_counter(), cycle()
    await wait_cycles(bench.clock, int(os.environ["NVDLA_CYCLES"]))
    _save({"cycles_per_second": (cycle() - first) / (time.perf_counter() - started)})


@cocotb.test()
async def configrom(dut: SimHandleBase) -> None:
    """Read the ConfigROM over CSB."""
    bench = await Bench.start(dut, Bench.config_from_env())
    words: list[int] = []
    while not is_complete(words):
        words.append(await bench.csb.read_address(4 * len(words)))
    _save({"words": words})


def _save(result: dict[str, Any]) -> None:
    Path(os.environ["NVDLA_RESULT"]).write_text(json.dumps(result, indent=1), encoding="utf-8")
