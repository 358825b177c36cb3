"""SDP: bias, scale and activation, and the sum of two cubes."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Sdp


@cocotb.test()
async def relu_with_a_half_filled_last_surface(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (33, 4, 5), dtype=np.int8))
    dst = bench.reserve(src.shape)
    await bench.run(Sdp(src, dst, relu=True))
    assert bench.read_back(dst).min() == 0


@cocotb.test()
async def prelu_after_a_batch_normalisation(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (20, 4, 5), dtype=np.int8))
    pair = bench.place_operands(*bench.rng.integers(-99, 100, (2, 20), dtype=np.int16))
    dst = bench.reserve(src.shape)
    await bench.run(Sdp(src, dst, bias=pair, scale=pair, shift=6, prelu=13, prelu_shift=7))


@cocotb.test()
async def the_sum_of_two_cubes(dut):
    bench = await Bench.start(dut)
    one, other = (bench.place(bench.rng.integers(-64, 64, (20, 4, 5), dtype=np.int8)) for _ in range(2))
    dst = bench.reserve(one.shape)
    await bench.run(Sdp(one, dst, residual=other))
    assert (bench.read_back(dst) == bench.read_back(one) + bench.read_back(other)).all()
