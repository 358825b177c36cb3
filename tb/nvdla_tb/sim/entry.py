"""The cocotb tests that the launcher starts; each is asked by a ``Request`` and leaves its answer in a file.

Speeds are by processor time, so that what else runs on the machine counts less.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import cocotb
import msgspec
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_tb.judge.text import complaints
from nvdla_tb.nvdla.configrom import is_complete
from nvdla_tb.nvdla.memory import DUMP_FILE, Ram, save_ranges
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad, Program
from nvdla_tb.sim.answer import leave
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import cycle, wait_cycles
from nvdla_tb.sim.native import counts, name_points
from nvdla_tb.sim.read_back import read_back
from nvdla_tb.stimulus.exchange import POINTS_FILE, Request
from nvdla_tb.stimulus.handed_over import taken


@cocotb.test()
async def play(dut: SimHandleBase) -> None:
    """Play and judge one saved scenario."""
    bench = await _play(dut, Request.from_env())
    verdict = bench.verdict
    assert not verdict.ending.is_failure, "\n".join(complaints(verdict))


@cocotb.test()
async def drive(dut: SimHandleBase) -> None:
    """Load memory, run a driver in C, compare golden results, and judge all of it."""
    request = Request.from_env()
    config = HwConfig.load(request.config)
    assert request.scenario is not None
    assert request.driver is not None
    scenario, driver = taken(Path(request.scenario), config), request.driver
    bench = await Bench.start(dut, config, scenario.settings, scenario.seed, request)
    first = next((n for n, op in enumerate(scenario.ops) if not isinstance(op, MemInit | MemLoad)), len(scenario.ops))
    await bench.play(scenario.ops[:first])
    await bench.drive(driver)
    await bench.play(scenario.ops[first:])
    verdict = bench.finish()
    _dump(bench)
    leave(bench, scenario.ops, request)
    assert not verdict.ending.is_failure, "\n".join(complaints(verdict))


@cocotb.test()
async def serve(dut: SimHandleBase) -> None:
    """Play and judge one scenario per request, each after a reset, until nobody asks any more."""
    with closing(_requests()) as asked:
        for request in asked:
            assert request.log is not None
            with _output_to(Path(request.log)):
                bench = await _play(dut, request)
                bench.close()


@cocotb.test()
async def idle(dut: SimHandleBase) -> None:
    """Clock the DUT for some cycles with idle inputs and no Python awake: the reference speed."""
    request = Request.from_env()
    bench = await Bench.start(dut, request=request)
    started, first = time.process_time(), cycle()
    await wait_cycles(bench.clock, request.cycles)
    speed = (cycle() - first) / (time.process_time() - started)
    _result_path(request).write_bytes(msgspec.json.encode(speed))


@cocotb.test()
async def configrom(dut: SimHandleBase) -> None:
    """Read the ConfigROM over CSB."""
    request = Request.from_env()
    bench = await Bench.start(dut, request=request)
    words: list[int] = []
    while not is_complete(words):
        words.append(await bench.csb.read(4 * len(words)))
    _result_path(request).write_bytes(msgspec.json.encode(words))


@cocotb.test()
async def points(dut: SimHandleBase) -> None:
    """Name the points of the RTL's code that the model counts, in a file beside that with their number."""
    request = Request.from_env()
    await Bench.start(dut, request=request)
    path = _result_path(request)
    path.write_bytes(msgspec.json.encode(name_points(path.with_name(POINTS_FILE))))


async def _play(dut: SimHandleBase, request: Request) -> Bench:
    """Play a saved scenario, save the answer, and return the bench that judged it."""
    config = HwConfig.load(request.config)
    assert request.scenario is not None
    scenario = taken(Path(request.scenario), config)
    bench = await Bench.start(dut, config, scenario.settings, scenario.seed, request)
    before = counts().copy() if request.counts else None
    # Golden results judge what nothing predicts.
    bench.judge.plays_on = bool(scenario.checks)
    ops = scenario.ops if request.altered is None else await _loaded(bench, scenario.ops, Path(request.altered))
    if scenario.settings.reset_cycle is not None:
        await bench.interrupted(ops, scenario.settings.reset_cycle)
    await bench.play(ops)
    await bench.settle()
    bench.finish()
    if before is not None and request.counts:
        (counts() - before).tofile(request.counts)
    # What was written behind a refusal is not known.
    if bench.watch is not None and not bench.verdict.refused:
        bench.watch.misheld = await read_back(bench.backend, bench.judge.tracker.state)
    if request.dump:
        save_ranges(request.dump, bench.memories, _result_path(request).with_name(DUMP_FILE))
    _dump(bench)
    leave(bench, scenario.ops, request)
    return bench


async def _loaded(bench: Bench, ops: Program, altered: Path) -> Program:
    """Play what loads memory, alter it for the DUT alone, and return the rest."""
    first = next(n for n, op in enumerate(ops) if not isinstance(op, MemInit | MemLoad))
    await bench.play(ops[:first])
    with np.load(altered) as file:
        for name in file.files:
            ram, address = name.split("_")
            bench.alter(Ram(ram), int(address, 16), file[name])
    return ops[first:]


def _dump(bench: Bench) -> None:
    if bench.dumps is not None:
        bench.dumps.at_end()


def _result_path(request: Request) -> Path:
    assert request.result is not None
    return Path(request.result)


def _requests() -> Generator[Request]:
    """Yield the requests of ``nvdla_tb.run.simulate``; each is answered when the next is taken."""
    with socket.socket(fileno=int(os.environ["NVDLA_REQUESTS"])) as connection, connection.makefile("rw") as lines:
        for line in iter(lines.readline, ""):
            yield Request.decode(line)
            lines.write("{}\n")
            lines.flush()


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """Let everything that this process prints, the model included, go to a file.

    When the block fails, it stays so: what is said about the failure belongs to the file, too.
    """
    before = os.dup(1), os.dup(2)
    _redirect((os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND),) * 2)
    yield
    _redirect(before)


def _redirect(to: tuple[int, int]) -> None:
    """Make the standard streams write to other files, which are closed under their old numbers."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)
    os.dup2(to[0], 1)
    os.dup2(to[1], 2)
    for number in set(to):
        os.close(number)
