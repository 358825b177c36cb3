"""Convolutions: of a cube, with the steps of SDP behind it, and of an image."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Conv


@cocotb.test()
async def a_padded_convolution(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (33, 14, 14), dtype=np.int8))
    weights = bench.place_weights(bench.rng.integers(-128, 128, (16, 33, 3, 3), dtype=np.int8))
    dst = bench.reserve((16, 14, 14))
    await bench.run(Conv(src, weights, dst, padding=1, truncate=8, relu=True))


@cocotb.test()
async def a_residual_block(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (16, 8, 8), dtype=np.int8))
    weights = bench.place_weights(bench.rng.integers(-128, 128, (16, 16, 3, 3), dtype=np.int8))
    bias = bench.place_operands(bench.rng.integers(-999, 1000, 16, dtype=np.int16))
    dst = bench.reserve((16, 8, 8))
    await bench.run(Conv(src, weights, dst, padding=1, bias=bias, scale=3, shift=10, residual=src, relu=True))


@cocotb.test()
async def kernels_with_stride_and_dilation(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (8, 15, 15), dtype=np.int8))
    weights = bench.place_weights(bench.rng.integers(-128, 128, (20, 8, 3, 3), dtype=np.int8))
    dst = bench.reserve((20, 6, 6))
    await bench.run(Conv(src, weights, dst, stride=2, dilation=2, truncate=7))


@cocotb.test()
async def an_image(dut):
    bench = await Bench.start(dut)
    src = bench.place_image(bench.rng.integers(0, 256, (4, 20, 20), dtype=np.uint8), "T_A8B8G8R8")
    weights = bench.place_weights(bench.rng.integers(-128, 128, (16, 4, 3, 3), dtype=np.int8), image=True)
    dst = bench.reserve((16, 9, 9))
    await bench.run(Conv(src, weights, dst, stride=2, convert_input=(0, 1, 1), mean=(99, 88, 77, 0), truncate=6))
