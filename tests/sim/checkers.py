"""cocotb tests, started by test_checkers.py: every checker is shown a fault that it must report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from models.config import HwConfig
from models.layout import FeatureLayout
from models.precision import Precision
from models.sdp import SdpParams, output_converter
from tb.beats import Beats
from tb.generate.describe import Table
from tb.generate.layers import Workshop, build_layer
from tb.generate.plan import load_plan
from tb.layers import SdpLayer, Surface
from tb.memory import Ram
from tb.program.codec import encode
from tb.program.ops import CheckCrc, InterruptNotify, Poll, RegRead, RegWrite, SyncWait
from tb.settings import BenchSettings
from tb.sim.bench import Bench
from tb.sim.clocking import cycle
from tb.verdict import Outcome

CONFIG = HwConfig.load("nv_small")
PASS_THROUGH = SdpParams(None, None, output_converter(0, 1, 0), Precision.INT8, Precision.INT8)
ENTRIES = {entry.name: entry for entry in load_plan(Path(__file__).parents[1] / "plan" / "nv_small.toml")}
QUICK_HANG = BenchSettings(hang_cycles=3000)


def pass_through(bench: Bench, shape: tuple[int, int, int] = (12, 3, 4), *, written: bool = True) -> SdpLayer:
    """Place a cube and return the layer that copies it; ``written`` False leaves the source poisoned."""
    layout = FeatureLayout.packed(CONFIG, Precision.INT8, shape)
    number = len(bench.memory.allocations)
    src = Surface(layout, bench.memory.allocate(layout.nbytes, f"src{number}"))
    dst = Surface(layout, bench.memory.allocate(layout.nbytes, f"dst{number}"))
    if written:
        bench.memory.write(src.address, bench.rng.integers(0, 256, layout.nbytes, dtype=np.uint8))
    return SdpLayer(src, dst, PASS_THROUGH)


def expect_complaint(bench: Bench, pattern: str) -> None:
    """Require that the scenario fails, and that one complaint matches."""
    verdict = bench.finish()
    complaints = verdict.complaints()
    assert verdict.outcome is Outcome.FAILED
    assert any(re.search(pattern, complaint) for complaint in complaints), complaints


def tamper(bench: Bench, beat: int, change) -> None:
    """Let ``change(write, arguments)`` handle one write beat on its way to the scoreboard."""
    write, seen = bench.scoreboard.write, [0]

    def tampered(ram: Ram, address: int, data: bytes, strobe: int, cycle: int, axi_id: int) -> None:
        if seen[0] == beat:
            change(write, (ram, address, data, strobe, cycle, axi_id))
        else:
            write(ram, address, data, strobe, cycle, axi_id)
        seen[0] += 1

    def one_by_one(beats: Beats) -> None:
        packed = np.packbits(beats.strobe, axis=1, bitorder="little")
        for n in range(len(beats)):
            strobe = int.from_bytes(packed[n].tobytes(), "little")
            data, address = beats.data[n].tobytes(), int(beats.address[n])
            bench.scoreboard.write(beats.ram, address, data, strobe, int(beats.cycle[n]), int(beats.axi_id[n]))

    bench.scoreboard.write, bench.scoreboard.write_beats = tampered, one_by_one


@cocotb.test()
async def an_untouched_layer_passes(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.run(pass_through(bench))
    bench.check()


@cocotb.test()
async def a_wrong_byte_is_reported_with_its_element(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    address = layer.dst.address + layer.dst.layout.offset(2, 1, 3)

    def flip(write, a) -> None:
        data = bytearray(a[2])
        data[2] ^= 0x10
        write(a[0], a[1], bytes(data), *a[3:])

    tamper(bench, 7, flip)
    await bench.run(layer)
    expect_complaint(
        bench, rf"wrong value: 1 elements; layer 0 .*c=2 h=1 w=3 \(address {address:#x} of MC\).*at cycle \d+ with id"
    )


@cocotb.test()
async def a_wrong_input_of_the_dut_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    expect = bench.scoreboard.expect

    def corrupt_behind_the_predictor(expectation) -> None:
        expect(expectation)
        byte = bench.memory.read(layer.src.address, 1)[0]
        bench.memory.write(layer.src.address, bytes([byte ^ 1]))

    bench.scoreboard.expect = corrupt_behind_the_predictor
    await bench.run(layer)
    expect_complaint(bench, r"wrong value: 1 elements; .*c=0 h=0 w=0")


@cocotb.test()
async def a_missing_write_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    tamper(bench, 5, lambda write, a: None)
    await bench.run(pass_through(bench))
    expect_complaint(bench, r"missing write: 8 elements; .*c=0 h=1 w=1")


@cocotb.test()
async def a_stray_write_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)

    def move(write, a) -> None:
        write(a[0], a[1] + 0x100000, *a[2:])

    tamper(bench, 2, move)
    await bench.run(pass_through(bench))
    expect_complaint(bench, r"stray write: 8 bytes")


@cocotb.test()
async def a_double_write_with_another_value_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)

    def twice(write, a) -> None:
        write(*a)
        write(a[0], a[1], bytes(byte ^ 0xFF for byte in a[2]), *a[3:])

    tamper(bench, 4, twice)
    await bench.run(pass_through(bench))
    expect_complaint(bench, r"double write with another value: 8 elements")


@cocotb.test()
async def a_lost_write_response_ends_in_a_hang_report(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, QUICK_HANG)
    bench.slaves[Ram.MC].hold_write_responses = True
    await bench.run(pass_through(bench))
    complaint = next(c for c in bench.finish().complaints() if c.startswith("hang: nothing moved for"))
    assert "waiting for interrupt SDP_0" in complaint
    assert "running: layer 0 (SDP, group 0)" in complaint
    assert "MC: write response of 0x" in complaint
    assert "S_STATUS" in complaint


@cocotb.test()
async def a_missing_interrupt_ends_in_a_hang_report(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, QUICK_HANG)
    await bench.interrupts.set_mask(0x3F_03FF)
    await bench.run(pass_through(bench))
    expect_complaint(bench, r"hang: nothing moved for \d+ cycles.*\n  waiting for interrupt SDP_0")


@cocotb.test()
async def a_read_of_poisoned_memory_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench, written=False)
    await bench.run(layer)
    expect_complaint(bench, rf"read of 8 bytes at {layer.src.address:#x} .* was never written \(src0\+0x0\)")


@cocotb.test()
async def poisoned_reads_can_be_counted_instead(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(poison_reads="count"))
    await bench.run(pass_through(bench, written=False))
    bench.check()
    assert bench.verdict.memory_faults == 24


@cocotb.test()
async def accesses_outside_allocations_are_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    await bench.run(replace(layer, dst=replace(layer.dst, address=0x9000_0000)))
    expect_complaint(bench, r"write of 8 bytes at 0x90000000 .* outside every allocation")


@cocotb.test()
async def comparing_nothing_fails(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play(())
    expect_complaint(bench, r"^nothing was compared: no layer wrote a byte that was expected$")


@cocotb.test()
async def a_wrong_crc_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    check = CheckCrc("done", Ram.MC, layer.dst.address, layer.dst.layout.nbytes, 0x12345678)
    await bench.play((*encode(layer, CONFIG, sync_id="done"), check))
    expect_complaint(bench, r"CRC-32 of 0x[0-9a-f]+ \+ 0xc0 must be 0x12345678, not 0x[0-9a-f]{8}$")


@cocotb.test()
async def a_register_that_reads_another_value_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play((RegRead("GLB.S_NVDLA_HW_VERSION", expected=0x12),))
    expect_complaint(bench, r"GLB.S_NVDLA_HW_VERSION must read 0x12, not 0x303031")


@cocotb.test()
async def a_counter_that_reads_another_value_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    layer = replace(layer, params=replace(PASS_THROUGH, converter=output_converter(0, 30000, 0)))
    bench.memory.write(layer.src.address, bytes(layer.src.layout.nbytes))
    expect = bench.scoreboard.expect

    def corrupt_behind_the_predictor(expectation) -> None:
        expect(expectation)
        bench.memory.write(layer.src.address, bytes([100]))

    bench.scoreboard.expect = corrupt_behind_the_predictor
    program = (RegWrite("SDP.D_PERF_ENABLE", 0b100), *encode(layer, CONFIG, sync_id="done"))
    await bench.play((*program, SyncWait("SDP", "done"), RegRead("SDP.D_PERF_OUT_SATURATION")))
    assert bench.verdict.counters == 1
    expect_complaint(
        bench, r"^SDP.D_PERF_OUT_SATURATION must read 0 after layer 0 \(SDP, group 0\), not 1 \(cycle \d+\)$"
    )


@cocotb.test()
async def a_poll_that_never_ends_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(poll_deadline_cycles=500))
    await bench.play((Poll("GLB.S_INTR_STATUS", 1),))
    expect_complaint(bench, r"poll of GLB.S_INTR_STATUS for equal 0x1 still reads 0x0 after 500 cycles")


@cocotb.test()
async def waiting_for_what_nothing_raises_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play((SyncWait("SDP", "never"),))
    expect_complaint(bench, r"^SDP waits for sync id never, which nothing raises$")


@cocotb.test()
async def what_is_raised_while_other_accesses_go_on_is_not_missed(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, QUICK_HANG)
    waiting = (SyncWait("PDP", "done"), Poll("CDMA.S_CBUF_FLUSH_STATUS", 1), RegWrite("PDP.S_POINTER", 0))
    await bench.play((*encode(pass_through(bench), CONFIG, sync_id="done"), *waiting))
    bench.check()


@cocotb.test()
async def an_unsupported_program_is_refused(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    writes = list(encode(pass_through(bench), CONFIG, sync_id="done"))
    at = next(n for n, op in enumerate(writes) if isinstance(op, RegWrite) and op.register == "SDP.D_DP_EW_CFG")
    writes[at] = RegWrite("SDP.D_DP_EW_CFG", 0)
    await bench.play(tuple(writes))
    verdict = bench.finish()
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.refused == (
        "SDP.D_DP_EW_CFG.ew_bypass must be YES, not NO: nv_small has no Y (element-wise and LUT)"
    )


@cocotb.test()
async def a_wrong_byte_before_a_refusal_still_fails(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    tamper(bench, 5, lambda write, a: None)
    await bench.run(pass_through(bench))
    program = encode(pass_through(bench), CONFIG, group=1, sync_id="done")
    no_y = [RegWrite(op.register, 0) if "D_DP_EW_CFG" in str(op) else op for op in program]
    await bench.play(tuple(no_y))
    expect_complaint(bench, r"missing write: 8 elements")
    expect_complaint(bench, r"refused behind that: SDP.D_DP_EW_CFG.ew_bypass must be YES")


@cocotb.test()
async def layers_of_all_engines_run_one_after_the_other(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    shop = Workshop(CONFIG, bench.memory, bench.rng)
    names = ("conv_1x1_full_atoms", "sdp_pass_through_full_atom", "sdp_pooled_on_the_fly", "cdp_lookup_of_the_element")
    described = [ENTRIES[name].data["layer"][0] for name in (*names, names[0])]
    layers = [build_layer(shop, f"l{n}", Table(f"l{n}", layer), []) for n, layer in enumerate(described)]
    await bench.run(*layers)
    await bench.settle()
    bench.check()
    assert bench.verdict.layers == len(layers)


@cocotb.test()
async def pooling_from_memory_takes_any_flying_mode_of_rdma(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    shop = Workshop(CONFIG, bench.memory, bench.rng)
    layer = build_layer(shop, "l", Table("l", ENTRIES["pdp_max_2x2"].data["layer"][0]), [])
    for group, value in enumerate((0, 1)):
        program = encode(layer, CONFIG, group, sync_id=f"done{group}")
        await bench.play(tuple(RegWrite(op.register, value) if "FLYING" in str(op) else op for op in program))
    bench.check()
    assert bench.verdict.layers == 2


@cocotb.test()
async def writes_behind_the_end_of_the_program_are_seen(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play(encode(pass_through(bench), CONFIG))
    ended = cycle()
    assert bench.verdict.judged_bytes == 0
    await bench.settle()
    bench.check()
    assert bench.verdict.cycles == ended


@cocotb.test()
async def an_interrupt_that_never_comes_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    start = bench._interrupt_rules.start
    bench._interrupt_rules.start = lambda events: start([*events, ("PDP", 1)])
    await bench.run(pass_through(bench))
    await bench.settle()
    expect_complaint(bench, r"^interrupt PDP_1 of a layer that was started must be raised by its end$")


@cocotb.test()
async def a_layer_is_judged_although_nobody_waits_for_it(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    program = encode(pass_through(bench), CONFIG)
    await bench.play((*program, InterruptNotify("SDP", 0, "done")))
    bench.check()
    assert bench.verdict.layers == 1
