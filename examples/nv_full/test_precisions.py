"""FP16 and INT16, Winograd, and lookups in tables."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Cdp, Conv, Precision


@cocotb.test()
async def a_convolution_in_fp16(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.normal(size=(33, 6, 6)).astype(np.float16))
    weights = bench.place_weights(bench.rng.normal(size=(16, 33, 3, 3)).astype(np.float16))
    bias = bench.place_operands(bench.rng.normal(size=16).astype(np.float16))
    dst = bench.reserve((16, 6, 6), Precision.FP16)
    await bench.run(Conv(src, weights, dst, padding=1, bias=bias, scale=0.5, relu=True))


@cocotb.test()
async def a_convolution_in_int16(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-3000, 3000, (33, 6, 6), dtype=np.int16))
    weights = bench.place_weights(bench.rng.integers(-3000, 3000, (16, 33, 3, 3), dtype=np.int16))
    bias = bench.place_operands(bench.rng.integers(-999, 1000, 16, dtype=np.int16), precision=Precision.INT16)
    dst = bench.reserve((16, 4, 4), Precision.INT16)
    await bench.run(Conv(src, weights, dst, truncate=12, bias=bias, prelu=-3))


@cocotb.test()
async def a_convolution_by_winograd(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.normal(size=(32, 10, 10)).astype(np.float16))
    kernels = bench.rng.normal(size=(16, 32, 3, 3)).astype(np.float16)
    weights = bench.place_weights(kernels, winograd=True)
    await bench.run(Conv(src, weights, bench.reserve((16, 8, 8), Precision.FP16), padding=1))


@cocotb.test()
async def normalisation_in_fp16(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.normal(size=(20, 4, 5)).astype(np.float16))
    await bench.run(Cdp(src, bench.reserve(src.shape, Precision.FP16), size=9, alpha=0.5))
