"""The cocotb tests that the launcher starts: what to do stands in the environment, results go to a file.

``NVDLA_CONFIG`` names the configuration, ``NVDLA_RESULT`` the JSON file for the result; ``serve`` is asked
over a socket instead. Speeds are by processor time, so that what else runs on the machine counts less.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from tb.memory import Ram
from tb.memory_dump import DUMP_FILE, save_ranges
from tb.predictor import load
from tb.program.ops import MemInit, MemLoad, Program
from tb.sim.bench import Bench
from tb.sim.clocking import cycle, wait_cycles
from tb.sim.layer_facts import layer_facts
from tb.trace import read
from tb.verdict import Outcome

_RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


@cocotb.test()
async def play(dut: SimHandleBase) -> None:
    """Play and judge the scenario saved in the folder ``NVDLA_SCENARIO``.

    ``NVDLA_ALTERED`` may name a file of bytes that only the DUT finds in its memory, ``NVDLA_DUMP`` ranges of
    memory that are saved at the end.
    """
    bench = await _play(dut, Path(os.environ["NVDLA_SCENARIO"]), _result_path())
    verdict = bench.verdict
    assert verdict.outcome is not Outcome.FAILED, "\n".join(verdict.complaints())


@cocotb.test()
async def serve(dut: SimHandleBase) -> None:
    """Play and judge one scenario per request, each behind a reset, until nobody asks any more."""
    # Only this test pays for loading sockets.
    from tb.sim.requests import output_to, requests, variables

    with requests() as asked:
        for request in asked:
            with output_to(Path(request["log"])), variables(request["variables"]):
                bench = await _play(dut, Path(request["scenario"]), Path(request["result"]))
                bench.close()


@cocotb.test()
async def idle(dut: SimHandleBase) -> None:
    """Clock the DUT for ``NVDLA_CYCLES`` cycles with idle inputs and no Python awake: the reference speed."""
    bench = await Bench.start(dut, Bench.config_from_env())
    started, first = time.process_time(), cycle()
    await wait_cycles(bench.clock, int(os.environ["NVDLA_CYCLES"]))
    _save({"cycles_per_second": (cycle() - first) / (time.process_time() - started)}, _result_path())


@cocotb.test()
async def configrom(dut: SimHandleBase) -> None:
    """Read the ConfigROM over CSB."""
    # Only this test pays for loading it.
    from tb.configrom import is_complete

    bench = await Bench.start(dut, Bench.config_from_env())
    words: list[int] = []
    while not is_complete(words):
        words.append(await bench.csb.read_address(4 * len(words)))
    _save({"words": words}, _result_path())


async def _play(dut: SimHandleBase, path: Path, result_path: Path) -> Bench:
    """Play a saved scenario, save its result, and return the bench that judged it."""
    config = Bench.config_from_env()
    scenario = read(path, config)
    load(scenario.ops)
    bench = await Bench.start(dut, config, scenario.settings, scenario.seed)
    started, first = time.process_time(), cycle()
    ops = await _loaded(bench, scenario.ops) if "NVDLA_ALTERED" in os.environ else scenario.ops
    await bench.play(ops)
    await bench.settle()
    verdict = bench.finish()
    speed = (cycle() - first) / (time.process_time() - started)
    result = {
        **verdict.to_dict(),
        "layer_facts": layer_facts(bench),
        "cycles_per_second": speed,
        "start_seconds": started,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT_BYTES,
    }
    if "NVDLA_DUMP" in os.environ:
        save_ranges(os.environ["NVDLA_DUMP"], bench.memories, result_path.with_name(DUMP_FILE))
    _save(result, result_path)
    if verdict.findings:
        # Only failures pay for loading it.
        from tb.sim.failure import explained

        _save({**result, **explained(result_path.parent, bench, scenario)}, result_path)
    return bench


async def _loaded(bench: Bench, ops: Program) -> Program:
    """Play what loads memory, alter it for the DUT alone, and return the rest."""
    first = next(n for n, op in enumerate(ops) if not isinstance(op, MemInit | MemLoad))
    await bench.play(ops[:first])
    with np.load(os.environ["NVDLA_ALTERED"]) as file:
        for name in file.files:
            ram, address = name.split("_")
            bench.alter(Ram(ram), int(address, 16), file[name])
    return ops[first:]


def _save(result: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(result, indent=1), encoding="utf-8")


def _result_path() -> Path:
    return Path(os.environ["NVDLA_RESULT"])
