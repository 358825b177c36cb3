"""PDP: the largest and the average of windows."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Pdp


@cocotb.test()
async def the_largest_of_2x2(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (20, 8, 8), dtype=np.int8))
    await bench.run(Pdp(src, bench.reserve((20, 4, 4)), window=2))


@cocotb.test()
async def the_average_of_overlapping_windows_with_padding(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (20, 8, 9), dtype=np.int8))
    await bench.run(Pdp(src, bench.reserve((20, 8, 5)), window=3, stride=(1, 2), padding=1, method="average"))
