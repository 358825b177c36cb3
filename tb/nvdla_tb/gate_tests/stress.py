"""cocotb tests, started by test_checkers.py: what the device and the bench must stand."""

from __future__ import annotations

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_tb.gate_tests.checkers import found, pass_through
from nvdla_tb.gate_tests.config import CONFIG, SETTLED_CYCLES
from nvdla_tb.judge.detail import EarlyAccess, UnexpectedInterrupt
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.judge import Access
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import InterruptNotify, RegWrite
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import cycle, wait_cycles
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings

REGISTERS = RegisterMap.of(CONFIG)
SLOW = BenchSettings(port=PortSettings(latency_cycles=400))
ALL_EVENTS = 0x3F_03FF


class Inattentive(Bench):
    """A bench that sees no writes of registers for a while."""

    inattentive = False

    def see_access(self, access: Access) -> None:
        """Pass on reads, and writes unless the bench is inattentive."""
        if not (self.inattentive and access.is_write):
            super().see_access(access)

    async def play_unseen(self) -> None:
        """Start a layer unseen, and wait until the device has run it."""
        self.inattentive = True
        await self.play(encode(pass_through(self), CONFIG))
        self.backend.look()
        self.inattentive = False
        await wait_cycles(self.clock, SETTLED_CYCLES)


@cocotb.test()
async def an_interrupt_of_no_layer_is_reported(dut: SimHandleBase) -> None:
    bench = await Inattentive.start(dut, CONFIG)
    await bench.play_unseen()
    finding = found(bench, Check.INTERRUPT, Check.STRAY)
    assert finding.detail == UnexpectedInterrupt("SDP_0")
    assert finding.cycle is not None


@cocotb.test()
async def memory_that_is_accessed_before_the_first_layer_is_reported(dut: SimHandleBase) -> None:
    bench = await Inattentive.start(dut, CONFIG)
    await bench.play_unseen()
    bench.judge.tracker.state.finish("SDP", 0)
    await bench.play(encode(pass_through(bench), CONFIG, group=1))
    await bench.play(encode(pass_through(bench), CONFIG, group=0))
    early = [finding for finding in bench.finish().findings if finding.detail == EarlyAccess()]
    assert [finding.check for finding in early] == [Check.PROTOCOL]
    assert early[0].cycle is not None
    bench.expect_findings(*{finding.check for finding in bench.verdict.findings})


@cocotb.test()
async def events_that_software_raises_are_no_interrupts_of_layers(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.csb.write("GLB.S_INTR_SET", ALL_EVENTS)
    await bench.interrupts.wait("CACC", 1)
    verdict = bench.finish()
    assert (verdict.ending, verdict.findings) == (Ending.EMPTY, [])


@cocotb.test()
async def registers_are_read_and_written_while_a_layer_runs(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, SLOW)
    layer = pass_through(bench, (16, 4, 4))
    program = encode(layer, CONFIG)
    await bench.play(tuple(op for op in program if not isinstance(op, InterruptNotify)))
    started = cycle()
    words = {op.register: op.value for op in program if isinstance(op, RegWrite) and op.register.startswith("SDP.D_")}
    for name in ("SDP.D_DATA_CUBE_CHANNEL", "SDP.D_DST_BASE_ADDR_LOW", "SDP.D_CVT_SCALE"):
        assert await bench.csb.read(name) == words[name]
    await bench.csb.write("SDP.S_POINTER", 1)
    for value in (3, 0x1555, 0):
        for register in ("PDP.D_DATA_CUBE_IN_WIDTH", "SDP.D_CVT_OFFSET"):
            await bench.csb.write(register, value)
            assert await bench.csb.read(register) == value
    assert await bench.csb.read("SDP.S_STATUS") & 3 == 1, "the layer must still run"
    assert cycle() - started < 1000
    await bench.play((InterruptNotify("SDP", 0, "done"),))
    bench.check()


@cocotb.test()
async def masks_that_change_while_layers_end_lose_no_interrupt(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(port=PortSettings(latency_cycles=20)), seed=5)
    rng = np.random.default_rng(5)
    over = [False]

    async def change() -> int:
        changes = 0
        while not over[0]:
            await bench.csb.write("GLB.S_INTR_MASK", int(rng.integers(0, 1 << 22)) & ALL_EVENTS)
            await wait_cycles(bench.clock, int(rng.integers(1, 60)))
            await bench.csb.write("GLB.S_INTR_MASK", 0)
            await wait_cycles(bench.clock, int(rng.integers(1, 60)))
            changes += 2
        return changes

    changing = cocotb.start_soon(change())
    await bench.run(*(pass_through(bench, (8 + n, 2, 3)) for n in range(8)))
    over[0] = True
    assert await changing > 20
    bench.check()
    assert bench.verdict.layers == 8
    assert bench.interrupts.fired["SDP", 0] == bench.interrupts.fired["SDP", 1] == 4


@cocotb.test()
async def a_reset_at_any_time_of_a_layer_leaves_nothing_behind(dut: SimHandleBase) -> None:
    bench = await Bench.start(
        dut, CONFIG, BenchSettings(port=PortSettings(latency_cycles=30, jitter_cycles=20, ready_stall=0.5))
    )
    rng = np.random.default_rng(8)
    layers = 0
    for delay in (1, 2, 8, *(int(n) for n in rng.integers(10, 500, 9))):
        await bench.play(encode(pass_through(bench, (32, 4, 8)), CONFIG))
        await wait_cycles(bench.clock, delay)
        await bench.reset()
        layer = pass_through(bench, (9, 2, 2))
        await bench.run(layer)
        assert bench.memory.read(layer.dst.address, 32) == bench.memory.read(layer.src.address, 32)
        layers += 1
    bench.check()
    assert layers == 12


@cocotb.test()
async def garbage_in_all_registers_never_passes_and_hangs_nothing(dut: SimHandleBase) -> None:
    rng = np.random.default_rng(3)
    bench = await Bench.start(dut, CONFIG, BenchSettings(hang_cycles=2000))
    refusals = []
    for unit in ("SDP", "PDP", "CDP") * 3:
        started = cycle()
        units = [f"{unit}_RDMA", unit]
        names = [register.full_name for register in REGISTERS if register.unit in units and register.is_grouped]
        garbage = [RegWrite(name, int(rng.integers(0, 1 << 32))) for name in names if not name.endswith("_ENABLE")]
        enables = [RegWrite(f"{part}.D_OP_ENABLE", 1) for part in units]
        await bench.play((*garbage, *enables, InterruptNotify(unit, 0, "never")))
        assert cycle() - started < 20_000
        refused, findings = bench.verdict.refused, bench.verdict.findings
        assert refused is not None or any(finding.check is Check.HANG for finding in findings), findings
        refusals += [] if refused is None else [refused]
        await bench.reset()
        # A refusal ends a scenario for good; here the next program follows.
        bench.verdict.refused = None
        bench._refused.clear()
        findings.clear()
    assert len(refusals) >= 3
    bench.expect_findings(Check.MEMORY)
    layer = pass_through(bench)
    # Notifications of programs that hung still wait for their interrupts, so nothing waits for this one.
    await bench.play(encode(layer, CONFIG))
    await wait_cycles(bench.clock, SETTLED_CYCLES)
    assert bench.memory.read(layer.dst.address, 96) == bench.memory.read(layer.src.address, 96)


@cocotb.test()
async def a_throttled_csb_only_takes_longer(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(csb_stall=0.95), seed=4)
    started = cycle()
    await bench.run(pass_through(bench), pass_through(bench))
    bench.check()
    assert cycle() - started > 3000
