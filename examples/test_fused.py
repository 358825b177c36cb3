"""Fused layers: units hand their results on without memory; and chains through memory."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Conv, Pdp, Sdp


@cocotb.test()
async def convolution_bias_relu_and_pooling_in_one_pass(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (16, 8, 8), dtype=np.int8))
    weights = bench.place_weights(bench.rng.integers(-128, 128, (24, 16, 3, 3), dtype=np.int8))
    bias = bench.place_operands(bench.rng.integers(-999, 1000, 24, dtype=np.int16))
    conv = Conv(src, weights, padding=1, truncate=6, bias=bias, relu=True)
    await bench.run(Pdp(conv, bench.reserve((24, 4, 4)), window=2))


@cocotb.test()
async def layers_that_read_what_the_one_before_wrote(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (16, 8, 8), dtype=np.int8))
    scaled, pooled, result = (bench.reserve((16, side, side)) for side in (8, 4, 4))
    await bench.run(
        Sdp(src, scaled, scale=77, shift=6),
        Pdp(scaled, pooled, window=2, method="average"),
        Sdp(pooled, result, bias=-20, relu=True),
    )
