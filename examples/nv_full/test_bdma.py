"""BDMA: a cube is copied to the second memory and back."""

import cocotb
import numpy as np

from nvdla_tb import Bdma, Bench, Ram


@cocotb.test()
async def a_cube_goes_to_the_second_memory_and_back(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (40, 4, 5), dtype=np.int8))
    there, dst = bench.reserve(src.shape, ram=Ram.CVSRAM), bench.reserve(src.shape)
    await bench.run(Bdma(src, there), Bdma(there, dst))
    assert (bench.read_back(dst) == bench.read_back(src)).all()
