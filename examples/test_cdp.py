"""CDP: local response normalisation."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Cdp


@cocotb.test()
async def normalisation_over_five_channels(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (20, 4, 5), dtype=np.int8))
    await bench.run(Cdp(src, bench.reserve(src.shape), size=5, alpha=0.01))
