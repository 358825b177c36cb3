"""A fault: what the DUT reads is not what was placed, and the judge finds the wrong bytes."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Check, Ram, Sdp


@cocotb.test()
async def a_byte_that_is_read_wrong_is_found(dut):
    bench = await Bench.start(dut)
    src = bench.place(np.zeros((16, 4, 5), dtype=np.int8))
    bench.alter(Ram.MC, src.address + 3, np.array([99], dtype=np.uint8))
    bench.expect_findings(Check.VALUE)
    await bench.run(Sdp(src, bench.reserve(src.shape)))
    (finding,) = bench.verdict.findings
    assert finding.check is Check.VALUE
