"""cocotb tests, started by test_checkers.py: CSB, register groups, interrupts, resets and ports of the DUT."""

from __future__ import annotations

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_tb.gate_tests.checkers import pass_through
from nvdla_tb.gate_tests.config import CONFIG, SETTLED_CYCLES
from nvdla_tb.nvdla import configrom
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import InterruptNotify
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import cycle, wait_cycles
from nvdla_tb.sim.csb import CsbTimeout
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings

REGISTERS = RegisterMap.of(CONFIG)
FLUSHED = "CDMA.S_CBUF_FLUSH_STATUS"


@cocotb.test()
async def a_read_answers_after_18_or_19_cycles(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    register = REGISTERS.parse("GLB.S_NVDLA_HW_VERSION")
    for where in (register, register.full_name, REGISTERS.address(register)):
        first = cycle()
        assert await bench.csb.read(where) == 0x00303031
        assert 17 <= cycle() - first <= 21, cycle() - first


@cocotb.test()
async def a_non_posted_write_completes_and_a_posted_one_says_nothing(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    register = REGISTERS.parse("SDP.D_CVT_OFFSET")
    await bench.csb.write(register, 5, posted=False)
    await bench.csb.write("SDP.D_CVT_OFFSET", 4)
    await bench.csb.write(REGISTERS.address(register), 6)
    # An answer that nobody has asked for breaks a rule.
    await wait_cycles(bench.clock, 60)
    assert await bench.csb.read(register) == 6


@cocotb.test()
async def an_unmapped_address_reads_zero(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(unmapped_accesses="count"))
    assert await bench.csb.read(0x9F00) == 0
    assert await bench.csb.read(0x1_5000) == 0


@cocotb.test()
async def a_request_right_behind_reset_is_lost(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    dut.dla_reset_rstn.value = 0
    await wait_cycles(bench.clock, 10)
    dut.dla_reset_rstn.value = 1
    lost = None
    try:
        await bench.csb.read("GLB.S_NVDLA_HW_VERSION")
    except CsbTimeout as error:
        lost = error.detail
    assert lost is not None
    assert lost.accepted
    assert await bench.csb.read("GLB.S_NVDLA_HW_VERSION") == 0x00303031


@cocotb.test()
async def every_register_has_its_reset_value(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    for register in REGISTERS:
        # A table that was never written holds anything.
        if register.unit == "CFGROM" or register.name == "S_LUT_ACCESS_DATA" or register.full_name == FLUSHED:
            continue
        value = await bench.csb.read(register)
        expected = register.reset & register.readable
        assert value == expected, f"{register.full_name} reads {value:#x}, not {expected:#x}"


@cocotb.test()
async def the_configrom_is_that_of_the_configuration_and_ends_in_zeros(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    expected = configrom.encode(CONFIG)
    words = [await bench.csb.read(configrom.WORD_BYTES * word) for word in range(len(expected) + 4)]
    assert words == [*expected, 0, 0, 0, 0]


@cocotb.test()
async def the_cbuf_flush_ends_after_some_8000_cycles(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    assert await bench.csb.read(FLUSHED) == 0
    await wait_cycles(bench.clock, 7000)
    assert await bench.csb.read(FLUSHED) == 0
    await wait_cycles(bench.clock, 2000)
    assert await bench.csb.read(FLUSHED) == 1


@cocotb.test()
async def the_producer_pointer_selects_the_group_that_is_written_and_read(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    pointer, register = "SDP.S_POINTER", "SDP.D_CVT_OFFSET"
    for group, value in ((0, 0x1111), (1, 0x2222)):
        await bench.csb.write(pointer, group)
        await bench.csb.write(register, value)
    for group, value in ((0, 0x1111), (1, 0x2222)):
        await bench.csb.write(pointer, group)
        assert await bench.csb.read(register) == value


@cocotb.test()
async def a_group_out_of_turn_stays_pending(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    first, second = pass_through(bench), pass_through(bench)
    await bench.play(encode(first, CONFIG, group=1))
    await wait_cycles(bench.clock, SETTLED_CYCLES)
    assert await bench.csb.read("SDP.S_STATUS") == 2 << 16
    done = (InterruptNotify("SDP", 1, "b"),)
    await bench.play((*encode(second, CONFIG, group=0, sync_id="a"), *done))
    assert await bench.csb.read("SDP.S_STATUS") == 0
    bench.check()
    assert bench.verdict.layers == 2


@cocotb.test()
async def writes_to_an_enabled_group_are_ignored(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(port=PortSettings(latency_cycles=1000)))
    await bench.play(encode(pass_through(bench), CONFIG))
    await bench.csb.write("SDP.D_CVT_OFFSET", 99)
    await bench.csb.write("SDP.D_OP_ENABLE", 0)
    assert await bench.csb.read("SDP.D_CVT_OFFSET") == 0
    await bench.play((InterruptNotify("SDP", 0, "done"),))
    assert await bench.csb.read("SDP.D_OP_ENABLE") == 0
    bench.check()


@cocotb.test()
async def a_masked_event_sets_its_status_and_fires_once_unmasked(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.csb.write("GLB.S_INTR_MASK", 0x3F_03FF)
    assert await bench.csb.read("GLB.S_INTR_MASK") == 0x3F_03FF
    await bench.play(encode(pass_through(bench), CONFIG))
    await wait_cycles(bench.clock, SETTLED_CYCLES)
    assert dut.dla_intr.value == 0
    assert await bench.csb.read("GLB.S_INTR_STATUS") == 1
    await bench.csb.write("GLB.S_INTR_MASK", 0)
    await bench.interrupts.wait("SDP", 0)
    assert await bench.csb.read("GLB.S_INTR_STATUS") == 0
    bench.check()


@cocotb.test()
async def software_can_raise_every_event(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.csb.write("GLB.S_INTR_SET", 0xFFFF_FFFF)
    await bench.interrupts.wait("CACC", 1)
    units = {"SDP", "CDP", "PDP", "CDMA_DAT", "CDMA_WT", "CACC"}
    assert {event for event, count in bench.interrupts.fired.items() if count} == {
        (unit, group) for unit in units for group in (0, 1)
    }


@cocotb.test()
async def a_layer_runs_after_a_reset_in_the_middle_of_another(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play(encode(pass_through(bench, (32, 8, 8)), CONFIG))
    await wait_cycles(bench.clock, 60)
    await bench.reset()
    layer = pass_through(bench)
    await bench.run(layer)
    assert bench.memory.read(layer.dst.address, 96) == bench.memory.read(layer.src.address, 96)
    assert bench.slaves[Ram.MC].outstanding() == []
    bench.check()


@cocotb.test()
async def two_runs_with_the_same_seed_take_the_same_cycles(dut: SimHandleBase) -> None:
    settings = BenchSettings(
        port=PortSettings(latency_cycles=9, jitter_cycles=30, ready_stall=0.3, valid_stall=0.3, reorder=True)
    )
    bench = await Bench.start(dut, CONFIG, settings, seed=11)
    assert np.array_equal(bench.rng.integers(0, 99, 4), np.random.default_rng(11).integers(0, 99, 4))
    await bench.run(pass_through(bench, (24, 4, 4)), pass_through(bench, (8, 2, 3)))
    bench.check()
