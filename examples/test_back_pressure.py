"""Back-pressure: memory that is slow, rarely ready, and answers out of order."""

import cocotb
import numpy as np

from nvdla_tb import Bench, BenchSettings, PortSettings, Sdp


@cocotb.test()
async def memory_that_is_rarely_ready(dut):
    port = PortSettings(latency_cycles=200, jitter_cycles=50, ready_stall=0.6, valid_stall=0.4, reorder=True)
    bench = await Bench.start(dut, settings=BenchSettings(port=port, csb_stall=0.2))
    src = bench.place(bench.rng.integers(-128, 128, (33, 4, 5), dtype=np.int8))
    await bench.run(Sdp(src, bench.reserve(src.shape), residual=src, relu=True))
