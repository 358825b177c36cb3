"""cocotb tests, started by test_checkers.py: every checker is shown a fault that it must report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import cocotb
import msgspec
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_models.layout import Element, FeatureLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, output_converter
from nvdla_tb.gate_tests.config import ATOM, CONFIG
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import (
    BadAccess,
    CrcMismatch,
    Hang,
    Mismatch,
    MissingInterrupt,
    Note,
    PollExpired,
    WrongCounter,
    WrongRegister,
)
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.judge import Access
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.layers import SdpLayer, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckCrc, InterruptNotify, Op, Poll, RegRead, RegWrite, SyncWait
from nvdla_tb.paths import PLANS
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import cycle
from nvdla_tb.stimulus.generate.engines import build_layer
from nvdla_tb.stimulus.generate.layers.entries import layer_entry
from nvdla_tb.stimulus.generate.layers.workshop import Workshop
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings

PASS_THROUGH = SdpParams(None, None, output_converter(0, 1, 0), Precision.INT8, Precision.INT8)
ENTRIES = {entry.name: entry for entry in load_plan(PLANS / "nv_small.toml")}
QUICK_HANG = BenchSettings(hang_cycles=3000)
LAYER = LayerId(0, "SDP", 0)


def pass_through(
    bench: Bench, shape: tuple[int, int, int] = (ATOM + ATOM // 2, 3, 4), *, written: bool = True
) -> SdpLayer:
    """Place a cube and return the layer that copies it; ``written`` False leaves the source poisoned."""
    layout = FeatureLayout.packed(CONFIG, Precision.INT8, shape)
    number = len(bench.memory.allocations)
    src = Surface(layout, bench.memory.allocate(layout.nbytes, f"src{number}"))
    dst = Surface(layout, bench.memory.allocate(layout.nbytes, f"dst{number}"))
    if written:
        bench.memory.write(src.address, bench.rng.integers(0, 256, layout.nbytes, dtype=np.uint8))
    return SdpLayer(src, dst, PASS_THROUGH)


def mismatch(finding: Finding) -> Mismatch:
    """Return the wrong bytes that a finding is about."""
    assert isinstance(finding.detail, Mismatch)
    return finding.detail


def found(bench: Bench, check: Check, *others: Check) -> Finding:
    """Require that the scenario fails, say that it shall, and return the only finding of a check."""
    verdict = bench.finish()
    assert verdict.ending.is_failure
    bench.expect_findings(check, *others)
    (finding,) = (finding for finding in verdict.findings if finding.check is check)
    return finding


class Tampered(Bench):
    """A bench that sees the first write beat with a certain byte as ``change`` makes it: other beats, or none.

    Attributes:
        lost: How many bytes that beat writes.
    """

    change: Callable[[Beats], Sequence[Beats]]
    lost = 0
    _byte: int | None = None

    def tamper(self, byte: int, change: Callable[[Beats], Sequence[Beats]]) -> None:
        """Change the write beat that holds the byte at that address."""
        self._byte, self.change = byte, change

    def see_writes(self, beats: Beats) -> None:
        """Pass on all beats but the changed one as they are."""
        for number in range(len(beats)):
            one = beats.take(np.arange(len(beats)) == number)
            seen: Sequence[Beats] = [one]
            if self._byte is not None and 0 <= self._byte - int(one.address[0]) < one.data.shape[1]:
                self._byte, self.lost = None, int(one.strobe.sum())
                seen = self.change(one)
            for beat in seen:
                super().see_writes(beat)


class Uninterrupted(Bench):
    """A bench that sees no interrupt."""

    def see_access(self, access: Access) -> None:
        """Pass on all accesses, but no bit of the interrupts' status."""
        if access.register is not None and access.register.full_name == "GLB.S_INTR_STATUS":
            access = replace(access, value=0)
        super().see_access(access)


@cocotb.test()
async def an_untouched_layer_passes(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.run(pass_through(bench))
    bench.check()


@cocotb.test()
async def a_wrong_byte_is_reported_with_its_element(dut: SimHandleBase) -> None:
    bench = await Tampered.start(dut, CONFIG)
    layer = pass_through(bench)
    address = layer.dst.address + layer.dst.layout.offset(2, 1, 3)
    width = bench.monitors[Ram.MC].bus_bytes
    flip = np.zeros(width, dtype=np.uint8)
    flip[address % width] = 0x10
    bench.tamper(address, lambda beats: [replace(beats, data=beats.data ^ flip)])
    await bench.run(layer)
    finding = found(bench, Check.VALUE)
    wrong = mismatch(finding)
    assert (finding.layer, wrong.elements, wrong.element, wrong.address) == (LAYER, 1, Element(2, 1, 3), address)
    right = bench.memory.read(layer.src.address + layer.src.layout.offset(2, 1, 3), 1)[0]
    assert (wrong.expected, wrong.got) == (right, right ^ 0x10)
    assert finding.cycle is not None
    assert wrong.axi_id is not None


@cocotb.test()
async def a_wrong_input_of_the_dut_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    bench.alter(Ram.MC, layer.src.address, bench.memory.read_array(layer.src.address, 1) ^ np.uint8(1))
    await bench.run(layer)
    wrong = mismatch(found(bench, Check.VALUE))
    assert (wrong.elements, wrong.element) == (1, Element(0, 0, 0))


@cocotb.test()
async def a_missing_write_is_reported(dut: SimHandleBase) -> None:
    bench = await Tampered.start(dut, CONFIG)
    layer = pass_through(bench)
    bench.tamper(layer.dst.address + layer.dst.layout.offset(0, 1, 0), lambda beats: [])
    await bench.run(layer)
    missing = mismatch(found(bench, Check.MISSING))
    assert (missing.elements, missing.element) == (bench.lost, Element(0, 1, 0))


@cocotb.test()
async def a_stray_write_is_reported(dut: SimHandleBase) -> None:
    bench = await Tampered.start(dut, CONFIG)
    layer = pass_through(bench)
    far = np.uint64(0x10_0000)
    bench.tamper(layer.dst.address, lambda beats: [replace(beats, address=beats.address + far)])
    await bench.run(layer)
    assert mismatch(found(bench, Check.STRAY, Check.MISSING)).nbytes == bench.lost > 0


@cocotb.test()
async def a_double_write_with_another_value_is_reported(dut: SimHandleBase) -> None:
    bench = await Tampered.start(dut, CONFIG)
    layer = pass_through(bench)
    bench.tamper(layer.dst.address, lambda beats: [beats, replace(beats, data=~beats.data)])
    await bench.run(layer)
    assert mismatch(found(bench, Check.DOUBLE)).elements == bench.lost > 0


@cocotb.test()
async def a_lost_write_response_ends_in_a_hang_report(dut: SimHandleBase) -> None:
    settings = msgspec.structs.replace(QUICK_HANG, port=PortSettings(write_latency_cycles=65535))
    bench = await Bench.start(dut, CONFIG, settings)
    await bench.run(pass_through(bench))
    hang = found(bench, Check.HANG).detail
    assert isinstance(hang, Hang)
    assert (hang.waiting_for, hang.running) == (("SDP_0",), (LAYER,))
    assert {(request.ram, request.reading) for request in hang.requests} == {(Ram.MC, False)}
    assert hang.unanswered is None, "the states of all units must have been read"


@cocotb.test()
async def a_missing_interrupt_ends_in_a_hang_report(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, QUICK_HANG)
    await bench.csb.write("GLB.S_INTR_MASK", 0x3F_03FF)
    await bench.run(pass_through(bench))
    hang = found(bench, Check.HANG).detail
    assert isinstance(hang, Hang)
    assert hang.waiting_for == ("SDP_0",)
    assert hang.quiet_cycles >= QUICK_HANG.hang_cycles


@cocotb.test()
async def a_read_of_poisoned_memory_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench, written=False)
    await bench.run(layer)
    first = next(finding.detail for finding in bench.finish().findings if finding.check is Check.MEMORY)
    assert isinstance(first, BadAccess)
    assert (first.reading, first.nbytes, first.address) == (True, bench.monitors[Ram.MC].bus_bytes, layer.src.address)
    assert (first.outside, first.byte, first.place) == (False, layer.src.address, "src0+0x0")
    assert bench.verdict.ending.is_failure
    bench.expect_findings(Check.MEMORY)


@cocotb.test()
async def poisoned_reads_can_be_counted_instead(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(poison_reads="count"))
    layer = pass_through(bench, written=False)
    await bench.run(layer)
    bench.check()
    assert bench.verdict.memory_faults == layer.src.layout.nbytes // bench.monitors[Ram.MC].bus_bytes


@cocotb.test()
async def accesses_outside_allocations_are_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    await bench.run(replace(layer, dst=replace(layer.dst, address=0x9000_0000)))
    accesses = [finding.detail for finding in bench.finish().findings if finding.check is Check.MEMORY]
    first = accesses[0]
    assert isinstance(first, BadAccess)
    assert (first.reading, first.nbytes) == (False, bench.monitors[Ram.MC].bus_bytes)
    assert (first.address, first.outside, first.named) == (0x9000_0000, True, True)
    assert bench.verdict.ending.is_failure
    bench.expect_findings(Check.MEMORY)


@cocotb.test()
async def comparing_nothing_fails(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    assert bench.finish().ending is Ending.EMPTY
    # A test that does nothing at all fails in any case.
    await bench.csb.read("SDP.S_STATUS")


@cocotb.test()
async def a_wrong_crc_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    check = CheckCrc("done", Ram.MC, layer.dst.address, layer.dst.layout.nbytes, 0x12345678)
    await bench.play((*encode(layer, CONFIG, sync_id="done"), check))
    got = bench.memory.checksum(layer.dst.address, layer.dst.layout.nbytes)[0]
    assert found(bench, Check.GOLDEN).detail == CrcMismatch(layer.dst.address, check.nbytes, check.crc, got)


@cocotb.test()
async def a_register_that_reads_another_value_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play((RegRead("GLB.S_NVDLA_HW_VERSION", expected=0x12),))
    assert found(bench, Check.REGISTER).detail == WrongRegister("GLB.S_NVDLA_HW_VERSION", 0x12, 0x303031, "major")


@cocotb.test()
async def a_counter_that_reads_another_value_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    layer = pass_through(bench)
    layer = replace(layer, params=replace(PASS_THROUGH, converter=output_converter(0, 30000, 0)))
    bench.memory.write(layer.src.address, bytes(layer.src.layout.nbytes))
    bench.alter(Ram.MC, layer.src.address, np.array([100], dtype=np.uint8))
    program = (RegWrite("SDP.D_PERF_ENABLE", 0b100), *encode(layer, CONFIG, sync_id="done"))
    await bench.play((*program, SyncWait("SDP", "done"), RegRead("SDP.D_PERF_OUT_SATURATION")))
    assert bench.verdict.counters == 1
    finding = found(bench, Check.COUNTER, Check.VALUE)
    assert finding.detail == WrongCounter("SDP.D_PERF_OUT_SATURATION", expected=0, at_least=False, got=1)
    assert finding.layer == LAYER
    assert finding.cycle is not None


@cocotb.test()
async def a_poll_that_never_ends_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(poll_deadline_cycles=500))
    await bench.play((Poll("GLB.S_INTR_STATUS", 1),))
    poll = PollExpired("GLB.S_INTR_STATUS", "equal", expected=1, got=0, deadline_cycles=500)
    assert found(bench, Check.REGISTER).detail == poll


@cocotb.test()
async def waiting_for_what_nothing_raises_is_reported(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play((SyncWait("SDP", "never"),))
    assert found(bench, Check.PROGRAM).detail == Note("SDP waits for sync id never, which nothing raises")


@cocotb.test()
async def what_is_raised_while_other_accesses_go_on_is_not_missed(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, QUICK_HANG)
    waiting = (SyncWait("PDP", "done"), Poll("CDMA.S_CBUF_FLUSH_STATUS", 1), RegWrite("PDP.S_POINTER", 0))
    await bench.play((*encode(pass_through(bench), CONFIG, sync_id="done"), *waiting))
    bench.check()


def of_no_format(program: Sequence[Op]) -> tuple[Op, ...]:
    """Return a program of SDP in a format of data that there is not."""
    return tuple(
        replace(op, value=0b1111) if isinstance(op, RegWrite) and op.register == "SDP.D_DATA_FORMAT" else op
        for op in program
    )


@cocotb.test()
async def an_unsupported_program_is_refused(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play(of_no_format(encode(pass_through(bench), CONFIG, sync_id="done")))
    verdict = bench.finish()
    assert verdict.ending is Ending.REFUSED
    bench.expect_findings(refusal=True)
    assert str(verdict.refused).startswith("SDP.D_DATA_FORMAT"), verdict.refused


@cocotb.test()
async def a_wrong_byte_before_a_refusal_still_fails(dut: SimHandleBase) -> None:
    bench = await Tampered.start(dut, CONFIG)
    layer = pass_through(bench)
    bench.tamper(layer.dst.address, lambda beats: [])
    await bench.run(layer)
    await bench.play(of_no_format(encode(pass_through(bench), CONFIG, group=1, sync_id="done")))
    assert mismatch(found(bench, Check.MISSING)).elements == bench.lost > 0
    assert str(bench.verdict.refused).startswith("SDP.D_DATA_FORMAT"), bench.verdict.refused
    bench.expect_findings(refusal=True)


@cocotb.test()
async def layers_of_all_engines_run_one_after_the_other(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    shop = Workshop(CONFIG, bench.memory, bench.rng)
    names = ("conv_1x1_full_atoms", "sdp_pass_through_full_atom", "sdp_pooled_on_the_fly", "cdp_lookup_of_the_element")
    described = [ENTRIES[name].data["layer"][0] for name in (*names, names[0])]
    layers = [build_layer(shop, f"l{n}", layer_entry(layer, f"l{n}"), []) for n, layer in enumerate(described)]
    await bench.run(*layers)
    await bench.settle()
    bench.check()
    assert bench.verdict.layers == len(layers)


@cocotb.test()
async def pooling_from_memory_takes_any_flying_mode_of_rdma(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    shop = Workshop(CONFIG, bench.memory, bench.rng)
    layer = build_layer(shop, "l", layer_entry(ENTRIES["pdp_max_2x2"].data["layer"][0], "l"), [])
    for group, value in enumerate((0, 1)):
        program = encode(layer, CONFIG, group, sync_id=f"done{group}")
        await bench.play(
            tuple(
                RegWrite(op.register, value) if isinstance(op, RegWrite) and "FLYING" in str(op) else op
                for op in program
            )
        )
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
async def reads_that_are_open_when_a_program_ends_with_a_finding_come_all_the_same(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(port=PortSettings(latency_cycles=3000)))
    started = tuple(op for op in encode(pass_through(bench), CONFIG) if isinstance(op, RegWrite))
    await bench.play((*started, RegRead("GLB.S_NVDLA_HW_VERSION", expected=0x12)))
    assert any(slave.outstanding() for slave in bench.backend.slaves.values())
    ended = cycle()
    await bench.settle()
    assert cycle() > ended + 1000
    assert not any(slave.outstanding() for slave in bench.backend.slaves.values())
    assert not bench.cut
    found(bench, Check.REGISTER)


@cocotb.test()
async def a_layer_that_computes_in_silence_is_no_hang(dut: SimHandleBase) -> None:
    settings = BenchSettings(hang_cycles=1000, port=PortSettings(latency_cycles=0))
    bench = await Bench.start(dut, CONFIG, settings)
    shop = Workshop(CONFIG, bench.memory, bench.rng)
    keys = {"engine": "CONV", "shape": [2048, 1, 1], "kernels": 1, "kernel": [4, 4], "pad": [3, 0, 3, 0]}
    layer = build_layer(shop, "l", layer_entry(keys, "l"), [])
    await bench.run(layer)
    bench.check()


@cocotb.test()
async def an_interrupt_that_never_comes_is_reported(dut: SimHandleBase) -> None:
    bench = await Uninterrupted.start(dut, CONFIG)
    await bench.run(pass_through(bench))
    await bench.settle()
    assert found(bench, Check.INTERRUPT).detail == MissingInterrupt("SDP_0")


@cocotb.test()
async def a_layer_is_judged_although_nobody_waits_for_it(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    program = encode(pass_through(bench), CONFIG)
    await bench.play((*program, InterruptNotify("SDP", 0, "done")))
    bench.check()
    assert bench.verdict.layers == 1
