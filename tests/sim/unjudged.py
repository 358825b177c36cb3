"""cocotb tests, started by test_unjudged.py: none of them passes on broken RTL, whatever it does about the verdict."""

from __future__ import annotations

from contextlib import suppress

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_tb import Sdp
from nvdla_tb.gate_tests.checkers import pass_through
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import InterruptNotify, RegWrite
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import wait_cycles
from nvdla_tb.stimulus.settings import BenchSettings

CONFIG = HwConfig.load("nv_small")


async def played(dut: SimHandleBase) -> Bench:
    """Run a layer of two surfaces and return the bench."""
    bench = await Bench.start(dut, CONFIG)
    src = bench.place(bench.rng.integers(-128, 128, (16, 3, 4), dtype=np.int8))
    await bench.run(Sdp(src, bench.reserve(src.shape), relu=True))
    return bench


@cocotb.test()
async def asks_for_no_verdict(dut: SimHandleBase) -> None:
    await played(dut)


@cocotb.test()
async def looks_at_nothing_that_was_found(dut: SimHandleBase) -> None:
    bench = await played(dut)
    assert bench.finish().layers == 1


@cocotb.test()
async def catches_what_check_raises(dut: SimHandleBase) -> None:
    bench = await played(dut)
    with suppress(AssertionError):
        bench.check()


@cocotb.test()
async def goes_on_with_another_bench(dut: SimHandleBase) -> None:
    with suppress(AssertionError):
        (await played(dut)).check()
    bench = await Bench.start(dut, CONFIG)
    await bench.run(pass_through(bench, (8, 1, 1)))
    bench.check()


@cocotb.test()
async def runs_on_after_its_verdict(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.run(pass_through(bench, (8, 1, 1)))
    bench.check()
    await bench.run(pass_through(bench, (16, 3, 4)))


@cocotb.test()
async def ends_itself(dut: SimHandleBase) -> None:
    await played(dut)
    cocotb.end_test()


@cocotb.test()
async def expects_a_wrong_value(dut: SimHandleBase) -> None:
    bench = await played(dut)
    bench.expect_findings(Check.VALUE, Check.STRAY, Check.MISSING, Check.MEMORY)


@cocotb.test()
async def enables_half_a_layer(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.csb.write("PDP.D_OP_ENABLE", 1)
    await bench.csb.read("PDP.S_STATUS")


@cocotb.test()
async def drives_a_layer_that_is_refused(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    src = bench.place(bench.rng.integers(-128, 128, (8, 2, 2), dtype=np.int8))
    layer = Sdp(src, bench.reserve(src.shape))
    for op in encode(layer, CONFIG, {"SDP": 0, "SDP_RDMA": 0}):
        if isinstance(op, RegWrite):
            is_input = op.register == "SDP_RDMA.D_FEATURE_MODE_CFG"
            await bench.csb.write(op.register, op.value | (0b100 if is_input else 0))
    await wait_cycles(bench.clock, 400)


@cocotb.test()
async def runs_a_layer_whose_input_nobody_has_written(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.run(Sdp(bench.reserve((8, 2, 2)), bench.reserve((8, 2, 2))))


@cocotb.test()
async def breaks_its_own_verdict(dut: SimHandleBase) -> None:
    bench = await played(dut)
    bench.judge.finish = None  # type: ignore[assignment, method-assign]


@cocotb.test()
async def writes_where_no_register_is(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.csb.write(0x2_F008, 1)


@cocotb.test()
async def leaves_a_layer_running(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    program = encode(pass_through(bench, (16, 3, 4)), CONFIG)
    await bench.play(tuple(op for op in program if not isinstance(op, InterruptNotify)))


@cocotb.test()
async def enables_a_layer_as_its_last_act(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    program = encode(pass_through(bench, (16, 3, 4)), CONFIG)
    for op in program:
        if isinstance(op, RegWrite):
            await bench.csb.write(op.register, op.value)


@cocotb.test()
async def waits_for_an_interrupt_that_never_comes(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(hang_cycles=1000))
    await bench.interrupts.wait("PDP", 1)


@cocotb.test()
async def awaits_nothing(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    bench.run(pass_through(bench, (8, 1, 1)))  # type: ignore[unused-coroutine]


@cocotb.test()
async def awaits_one_layer_of_two(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.run(pass_through(bench, (8, 1, 1)))
    bench.run(pass_through(bench, (16, 3, 4)))  # type: ignore[unused-coroutine]


@cocotb.test()
async def ends_while_a_layer_is_programmed(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    cocotb.start_soon(bench.run(pass_through(bench, (8, 1, 1))))
    await wait_cycles(bench.clock, 5)


@cocotb.test()
async def only_starts_a_bench(dut: SimHandleBase) -> None:
    await Bench.start(dut, CONFIG)


@cocotb.test()
async def only_waits(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await wait_cycles(bench.clock, 5)


@cocotb.test()
async def runs_no_layers(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.run(*[])


@cocotb.test()
async def plays_an_empty_program(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play(())


@cocotb.test()
async def fails_in_the_cycle_in_which_the_bench_starts(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    assert bench.config.name == "nv_large", "of another size"


@cocotb.test()
async def misspells_a_method(dut: SimHandleBase) -> None:
    bench = await played(dut)
    bench.plase()  # type: ignore[attr-defined]


@cocotb.test()
async def does_nothing(dut: SimHandleBase) -> None:
    pass


@cocotb.test(expect_fail=True)
async def fails_as_it_says_before_it_plays(dut: SimHandleBase) -> None:
    raise AssertionError("nothing was played")


@cocotb.test()
async def only_looks_at_registers(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    await bench.play((RegWrite("SDP.D_CVT_OFFSET", 7),))
    assert await bench.csb.read("SDP.D_CVT_OFFSET") == 7
