"""cocotb tests, started by test_waves.py: the scope of wave files says what the bench knows, in the right cycle."""

from __future__ import annotations

from dataclasses import dataclass

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import ReadOnly, RisingEdge

from nvdla_tb.gate_tests.checkers import pass_through
from nvdla_tb.gate_tests.config import CONFIG
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import cycle
from tests.unit.nvdla.samples import mismatch

SHAPE = (12, 3, 4)


@dataclass(frozen=True)
class Beat:
    """What the scope showed of one write beat."""

    cycle: int
    address: int
    element: tuple[int, int, int]
    expected: int
    got: int
    mismatch: bool
    layer: int


async def recorded(bench: Bench, beats: list[Beat]) -> None:
    """Record every write beat that the scope shows."""
    scope = bench.dut.bench_mc
    while True:
        await RisingEdge(bench.clock)
        at = cycle()
        await ReadOnly()
        if scope.write.value == 1:
            numbers = [
                int(getattr(scope, name).value) for name in ("address", "c", "h", "w", "expected", "got", "layer")
            ]
            address, c, h, w, expected, got, layer = numbers
            beats.append(Beat(at, address, (c, h, w), expected, got, bool(scope.mismatch.value == 1), layer))


@cocotb.test()
async def waves_begin_in_the_cycle_that_was_asked_for(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    assert cycle() < 150
    await RisingEdge(dut.wave_start)
    assert cycle() == 150
    await bench.csb.read(0)


@cocotb.test()
async def the_scope_shows_each_write_as_the_scoreboard_judges_it(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, seed=3)
    layers = [pass_through(bench, SHAPE) for _ in range(2)]
    wrong = layers[1].src.address + 8 * 5
    bench.alter(Ram.MC, wrong, bench.memory.read_array(wrong, 16) ^ np.uint8(1))
    beats: list[Beat] = []
    cocotb.start_soon(recorded(bench, beats))
    await bench.run(*layers)
    verdict = bench.finish()
    bench.expect_findings(Check.VALUE)
    atoms = layers[0].dst.layout.nbytes // 8
    assert len(beats) == 2 * atoms
    for number, beat in enumerate(beats):
        layer = layers[number // atoms]
        place = layer.dst.layout.element_at(beat.address - layer.dst.address)
        assert beat.layer == number // atoms
        assert beat.element == tuple(place)
        assert beat.got.to_bytes(8, "little") == bench.memory.read_array(beat.address, 8).tobytes()
        assert beat.mismatch == (beat.expected != beat.got)
    bad = [beat for beat in beats if beat.mismatch]
    assert [beat.address for beat in bad] == [layers[1].dst.address + 40, layers[1].dst.address + 48]
    (finding,) = verdict.findings
    assert (finding.cycle, mismatch(finding).address) == (bad[0].cycle, bad[0].address)
    scope, layer_scope = dut.bench_mc, dut.bench_layer
    assert int(scope.writes.value) == len(beats)
    assert int(scope.mismatches.value) == 2
    assert int(scope.outstanding.value) == 0
    assert int(scope.reads.value) > 0
    assert int(scope.read_cycles.value) >= CONFIG.primary_memif_latency_cycles
    assert int(layer_scope.started.value) == int(layer_scope.ended.value) == 2
    assert int(layer_scope.index.value) == 1
    assert int(layer_scope.group.value) == 1
    assert int(layer_scope.name.value).to_bytes(16, "big").lstrip(b"\0") == b"SDP"
