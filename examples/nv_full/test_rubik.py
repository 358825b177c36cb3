"""RUBIK: a cube is split into planes, merged again, and contracted."""

import cocotb
import numpy as np

from nvdla_tb import Bench, Rubik


@cocotb.test()
async def a_cube_is_split_and_merged(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (40, 4, 5), dtype=np.int8))
    planes, dst = bench.reserve_planes(src.shape), bench.reserve(src.shape)
    await bench.run(Rubik(src, planes), Rubik(planes, dst))
    assert (bench.read_back(dst) == bench.read_back(src)).all()


@cocotb.test()
async def channels_become_rows_and_columns(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (128, 4, 5), dtype=np.int8))
    await bench.run(Rubik(src, bench.reserve((32, 8, 10)), stride=2))
