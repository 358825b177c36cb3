"""cocotb tests, started by test_agents.py: agents on the pins of a top of somebody else."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import cocotb
import numpy as np
import pytest
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.placing import Placing
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.short import Sdp
from nvdla_tb.sim.buses import CsbBus, DbbBus
from nvdla_tb.sim.csb import CsbMaster, CsbReset
from nvdla_tb.sim.csb_monitor import CsbMonitor, InterruptMonitor
from nvdla_tb.sim.dbb_memory import DbbMemory
from nvdla_tb.sim.dbb_monitor import DbbMonitor
from nvdla_tb.sim.interrupts import InterruptAgent
from nvdla_tb.sim.judging import PortJudge
from nvdla_tb.stimulus.settings import PortSettings

CONFIG = HwConfig.load("nv_small")
VERSION = "GLB.S_NVDLA_HW_VERSION"
SHAPE = (16, 4, 5)


class Placed(Placing):
    """Arrays in the memory of a test."""

    def __init__(self, image: MemoryImage) -> None:
        self.config, self.memories = CONFIG, {Ram.MC: image}


@dataclass
class Soc:
    """The agents of one test."""

    dut: SimHandleBase
    csb: CsbMaster
    memory: DbbMemory
    interrupts: InterruptAgent
    judge: PortJudge
    clock: Clock

    @classmethod
    async def start(cls, dut: SimHandleBase, settings: PortSettings | None = None) -> Soc:
        dut.rst.value = 1
        clock = Clock(dut.clk, 3, "ns")
        clock.start()
        bus, port = CsbBus.from_prefix(dut, "cfg", "cfg_rsp"), DbbBus.from_prefix(dut, "mem")
        csb = CsbMaster(bus, dut.clk, dut.rst, CONFIG, reset_active_level=True)
        memory = DbbMemory(port, dut.clk, dut.rst, MemoryImage(), settings=settings, seed=5, reset_active_level=True)
        interrupts = InterruptAgent(dut.irq, csb)
        interrupts.start()
        judge = await PortJudge.start(
            CONFIG,
            CsbMonitor(bus, dut.clk, dut.rst, CONFIG, reset_active_level=True),
            InterruptMonitor(dut.irq, dut.clk, dut.rst, reset_active_level=True),
            memory.monitor,
        )
        soc = cls(dut, csb, memory, interrupts, judge, clock)
        await soc.reset()
        return soc

    async def reset(self) -> None:
        for level in (1, 0):
            self.dut.rst.value = level
            await ClockCycles(self.dut.clk, 20)

    def layer(self) -> Sdp:
        placed, rng = Placed(self.memory.image), np.random.default_rng(2)
        return Sdp(placed.place(rng.integers(-128, 128, SHAPE, dtype=np.int8)), placed.reserve(SHAPE), relu=True)

    async def begin(self, group: int = 0, **words: int) -> None:
        """Write the registers of a layer, some of SDP with other words."""
        for op in encode(self.layer(), CONFIG, {"SDP": group, "SDP_RDMA": group}):
            if isinstance(op, RegWrite):
                await self.csb.write(op.register, words.get(op.register.removeprefix("SDP."), op.value))

    async def run(self, group: int = 0) -> int:
        """Run a layer, and return how many cycles it took."""
        began = self.memory.monitor.cycles.now()
        await self.begin(group)
        await with_timeout(self.interrupts.wait("SDP", group), 100, "us")
        await self.memory.rests()
        return self.memory.monitor.cycles.now() - began


@cocotb.test()
async def registers_are_written_and_read_by_name_and_by_address(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    assert await soc.csb.read(0x1000) == await soc.csb.read(VERSION) == 0x00303031
    for value, posted in ((5, True), (6, False)):
        await soc.csb.write("SDP.D_CVT_OFFSET", value, posted=posted)
        assert await soc.csb.read(0x90C0) == value
    await soc.run()


@cocotb.test()
async def every_byte_of_two_layers_is_judged(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    await soc.run(0)
    await soc.run(1)
    soc.judge.check()
    verdict = soc.judge.verdict
    assert (verdict.layers, verdict.judged_bytes, verdict.findings) == (2, 2 * 320, [])


@cocotb.test()
async def a_second_test_counts_cycles_anew(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    assert soc.memory.monitor.cycles.now() == 40
    await soc.run()


@cocotb.test()
async def cycles_are_edges_of_a_clock_that_stops_and_changes_its_period(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    fast = await soc.run(0)
    soc.clock.stop()
    await Timer(1, "us")
    Clock(dut.clk, 7, "ns").start()
    assert abs(await soc.run(1) - fast) < 20
    soc.judge.check()


@cocotb.test()
async def a_reset_in_the_middle_of_a_layer_leaves_nothing_behind(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut, PortSettings(latency_cycles=100))
    await soc.begin()
    await ClockCycles(dut.clk, 60)
    assert soc.memory.outstanding()
    reading = cocotb.start_soon(soc.csb.read(VERSION))
    await ClockCycles(dut.clk, 4)
    resetting = cocotb.start_soon(soc.reset())
    with pytest.raises(CsbReset):
        await reading
    await resetting
    assert soc.memory.outstanding() == []
    await soc.run()
    soc.judge.check()
    assert soc.judge.verdict.layers == 1


@cocotb.test()
async def a_request_waits_for_the_end_of_a_reset(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    dut.rst.value = 1
    await ClockCycles(dut.clk, 2)
    reading = cocotb.start_soon(soc.csb.read(VERSION))
    for _ in range(20):
        await RisingEdge(dut.clk)
        assert dut.cfg_valid.value == 0
    dut.rst.value = 0
    reading.cancel()
    await ClockCycles(dut.clk, 20)
    await soc.run()


@cocotb.test()
@cocotb.parametrize(channel=["ar", "aw", "w", "r", "b"])
async def a_channel_moves_only_in_the_cycles_that_its_generator_leaves(dut: SimHandleBase, channel: str) -> None:
    soc = await Soc.start(dut)
    free = await soc.run(0)
    valid, ready = (getattr(dut, f"mem_{channel}_{channel}{pin}") for pin in ("valid", "ready"))
    getattr(soc.memory, channel).set_pause_generator(itertools.cycle([1, 1, 1, 0]))
    at: list[int] = []

    async def sample() -> None:
        for number in itertools.count():
            await RisingEdge(dut.clk)
            if valid.value == ready.value == 1:
                at.append(number)

    sampling = cocotb.start_soon(sample())
    slow = await soc.run(1)
    sampling.cancel()
    assert len(at) >= 20
    assert len({number % 4 for number in at}) == 1, at
    assert slow > free
    getattr(soc.memory, channel).clear_pause_generator()
    assert abs(await soc.run(0) - free) < 20
    soc.judge.check()


@cocotb.test()
async def requests_of_csb_wait_for_their_generator_and_for_nothing_after_its_end(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    cycles = soc.memory.monitor.cycles

    async def taken() -> int:
        began = cycles.now()
        await soc.csb.read(VERSION)
        return cycles.now() - began

    free = await taken()
    soc.csb.request.set_pause_generator([1] * 50)
    assert await taken() == free + 50
    assert await taken() == free
    await soc.run()


@cocotb.test()
async def a_layer_that_cannot_be_judged_is_refused(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    await soc.begin(D_DATA_FORMAT=1)
    await ClockCycles(dut.clk, 1000)
    verdict = soc.judge.finish()
    assert (verdict.ending, verdict.findings) == (Ending.REFUSED, [])
    assert "proc_precision" in str(verdict.refused)
    soc.judge.expect_findings(refusal=True)


@cocotb.test()
async def pins_of_another_prefix_are_refused(dut: SimHandleBase) -> None:
    with pytest.raises(InputError, match=r"^soc must have the pins of the prefix, and lacks csb2cfg_valid, .*$"):
        CsbBus.from_prefix(dut, "csb2cfg")
    with pytest.raises(InputError, match=r"^answer_prefix must be given for the prefix cfg, .*$"):
        CsbBus.from_prefix(dut, "cfg")
    csb = CsbMaster(CsbBus.from_prefix(dut, "cfg", "cfg_rsp"), dut.clk, dut.rst)
    message = r"^config must be given to CsbMaster, so that GLB\.S_INTR_STATUS is found by name$"
    with pytest.raises(InputError, match=message):
        InterruptAgent(dut.irq, csb)


@cocotb.test()
async def monitors_of_other_ports_are_refused(dut: SimHandleBase) -> None:
    bus, port = CsbBus.from_prefix(dut, "cfg", "cfg_rsp"), DbbBus.from_prefix(dut, "mem")
    csb, line = CsbMonitor(bus, dut.clk, dut.rst, CONFIG), InterruptMonitor(dut.irq, dut.clk, dut.rst)
    with pytest.raises(InputError, match=r"^ports must be one monitor of MC for nv_small, not of none$"):
        await PortJudge.start(CONFIG, csb, line)
    message = r"^memory must be given to the DbbMonitor of MC, so that operands are known$"
    with pytest.raises(InputError, match=message):
        await PortJudge.start(CONFIG, csb, line, DbbMonitor(port, dut.clk, dut.rst))


@cocotb.test()
async def fails_as_nothing_was_compared(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    await soc.csb.write("SDP.D_CVT_OFFSET", 1)
    await ClockCycles(dut.clk, 20)


@cocotb.test()
async def fails_as_its_last_act_enables_a_layer(dut: SimHandleBase) -> None:
    soc = await Soc.start(dut)
    await soc.run(0)
    await soc.begin(1, D_OP_ENABLE=0)
    # The monitor sleeps.
    await ClockCycles(dut.clk, 40)
    await soc.csb.write("SDP.D_OP_ENABLE", 1)


@cocotb.test()
async def fails_at_a_read_of_bytes_that_nobody_has_written(dut: SimHandleBase) -> None:
    dut.rst.value = 1
    Clock(dut.clk, 3, "ns").start()
    csb = CsbMaster(CsbBus.from_prefix(dut, "cfg", "cfg_rsp"), dut.clk, dut.rst, CONFIG, reset_active_level=True)
    memory = DbbMemory(DbbBus.from_prefix(dut, "mem"), dut.clk, dut.rst, MemoryImage(), reset_active_level=True)
    placed = Placed(memory.image)
    await ClockCycles(dut.clk, 20)
    dut.rst.value = 0
    await ClockCycles(dut.clk, 20)
    for op in encode(Sdp(placed.reserve(SHAPE), placed.reserve(SHAPE)), CONFIG):
        if isinstance(op, RegWrite):
            await csb.write(op.register, op.value)
    await ClockCycles(dut.clk, 1000)
