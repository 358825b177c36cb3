"""cocotb tests, which level L1 plays: memory that changes between two layers that read the same atom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_tb.gate_tests.config import ATOM, CONFIG
from nvdla_tb.nvdla.layers import Layer, Surface
from nvdla_tb.nvdla.short import Cdp, Conv, Pdp, Sdp
from nvdla_tb.sim.bench import Bench

Reader = Callable[[Surface, Surface], Layer]
"""Returns a layer that reads one atom, and nothing else by the same client of the memory interface."""

SHAPE = (ATOM, 1, 1)


def cube(bench: Bench) -> Surface:
    """Return an atom of random elements, none of which is 0."""
    return bench.place(bench.rng.integers(1, 128, SHAPE, dtype=np.int8))


async def read_again(bench: Bench, read: Reader, copy: Reader, src: Surface, channels: int = ATOM) -> None:
    """Read an atom, let another engine write other elements over it, and read it again: the results differ."""
    first, second = bench.reserve((channels, 1, 1)), bench.reserve((channels, 1, 1))
    await bench.run(read(src, first))
    await bench.run(copy(cube(bench), src))
    await bench.run(read(src, second))
    bench.check()
    assert not np.array_equal(bench.read_back(first), bench.read_back(second)), "the results must differ"


def by_sdp(src: Surface, dst: Surface) -> Layer:
    """Return a copy by SDP."""
    return Sdp(src, dst)


def by_pdp(src: Surface, dst: Surface) -> Layer:
    """Return a copy by PDP."""
    return Pdp(src, dst, window=1)


@cocotb.test()
async def a_cube_that_has_changed_is_read_again(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    weights = bench.place_weights(bench.rng.integers(1, 128, (ATOM, ATOM, 1, 1), dtype=np.int8))
    readers: list[tuple[Reader, Reader]] = [
        (by_sdp, by_pdp),
        (by_pdp, by_sdp),
        (lambda src, dst: Cdp(src, dst, size=3), by_sdp),
        (lambda src, dst: Conv(src, weights, dst, truncate=10), by_sdp),
    ]
    for read, copy in readers:
        await read_again(bench, read, copy, cube(bench))


@cocotb.test()
async def operands_that_have_changed_are_read_again(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    other = cube(bench)
    await read_again(bench, lambda src, dst: Sdp(other, dst, residual=src), by_pdp, cube(bench))
    operands = bench.place_operands(bench.rng.integers(1, 128, ATOM, dtype=np.int8))
    place = replace(cube(bench), address=operands.address)
    await read_again(bench, lambda src, dst: Sdp(other, dst, bias=operands), by_pdp, place)


@cocotb.test()
async def weights_that_have_changed_are_read_again(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    other = cube(bench)
    weights = bench.place_weights(bench.rng.integers(1, 128, (1, ATOM, 1, 1), dtype=np.int8))
    place = replace(cube(bench), address=weights.address)
    await read_again(bench, lambda src, dst: Conv(other, weights, dst, truncate=10), by_sdp, place, channels=1)
