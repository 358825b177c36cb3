"""Worked examples of the external-memory document, from a user's arrays to the bytes that the core leaves in memory.

The layers leave values as they are, so that input and output must be the same vectors. The vectors are written here as
the document builds them, step by step, without the project's layouts.
"""

from __future__ import annotations

from pathlib import Path

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.program import ACTIVATION_BASE
from dlhdl_tb.scenario import read
from dlhdl_tb.sim.bench import DlhdlBench
from nvdla_tb.judge.text import complaints
from nvdla_tb.stimulus.exchange import Request


def blocks(image: np.ndarray, together: int, transferred: int) -> list[float]:
    """Return an image (Z, Y, X) as the document stores it: N values of a pixel, the row, the rows, the next block."""
    features, rows, pixels = image.shape
    vector = []
    for first in range(0, features, together):
        for y in range(rows):
            for x in range(pixels):
                real = [float(image[z, y, x]) for z in range(first, min(first + together, features))]
                vector += real + [0.0] * (transferred - len(real))
    return vector


@cocotb.test()
async def the_example_lies_in_memory_as_the_document_says(dut: SimHandleBase) -> None:
    request = Request.from_env()
    assert request.scenario is not None
    folder = Path(request.scenario)
    scenario = read(folder, DlhdlConfig.load(request.config))
    vector = np.load(folder / "vector.npy")
    bench = await DlhdlBench.start(dut, scenario)
    assert complaints(await bench.run()) == []
    program = scenario.program
    for slots in (program.inputs, program.outputs):
        assert slots.stride == vector.nbytes
        there = bench.image.read(ACTIVATION_BASE + slots.offset(0), slots.stride)
        assert bytes(there) == vector.tobytes(), slots.region.name
