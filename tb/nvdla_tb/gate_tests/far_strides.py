"""A cocotb test, started by test_checkers.py: strides of gigabytes, whose cubes no model holds as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase

from nvdla_tb.gate_tests.config import ATOM, CONFIG
from nvdla_tb.gate_tests.stress import Inattentive
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import Op, RegWrite
from nvdla_tb.nvdla.program.state import GROUPS
from nvdla_tb.stimulus.generate.engines import build_layer
from nvdla_tb.stimulus.generate.layers.entries import layer_entry
from nvdla_tb.stimulus.generate.layers.workshop import Workshop
from nvdla_tb.stimulus.scenario import memory_ops

BASE = 0x10_0000
FAR = (0xAA80_0000, 0x5540_0000)
"""What is added to strides: each of the address bits above those that the strides of plans have."""

LUT = {"entries": [-200, 200], "le": {"start": 0, "exponent": 2}, "lo": {"start": 0, "select": 8}}
OPERANDS = {
    "x1": {"alu": "sum", "alu_operand": "element"},
    "x2": {"mul": True, "mul_operand": "element", "mul_shift": 6},
}
CUBES: tuple[dict[str, Any], ...] = (
    {"engine": "SDP", **OPERANDS},
    {"engine": "PDP", "method": "max", "kernel": [2, 1], "stride": [2, 1]},
    {"engine": "CDP", "local_size": 5, "output_converter": [0, 1, 9], "lut": LUT},
    {"engine": "CONV", "kernel": [1, 1], "truncate": 6, "tight_weights": True},
)
IMAGE = {
    "engine": "CONV",
    "image": {"format": "T_Y8___U8V8_N444", "gaps": [8, 8]},
    "kernel": [1, 1],
    "truncate": 6,
    "tight_weights": True,
}


@dataclass(frozen=True)
class Halves:
    """Two surfaces or two lines, a stride apart."""

    address: int
    nbytes: int
    stride_bytes: int

    def move(self, memory: MemoryImage, far: int) -> None:
        """Put the second half so much further away, and leave other bytes at all places where it may be looked for."""
        data = memory.read_array(self.address, self.nbytes)
        near = np.arange(self.nbytes) < self.stride_bytes
        memory.write(self.address, np.where(near, data, ~data))
        memory.write(self.address + far, np.where(near, ~data, data))

    def read(self, memory: MemoryImage, far: int) -> bytes:
        """Return both halves."""
        second = memory.read(self.address + far + self.stride_bytes, self.nbytes - self.stride_bytes)
        return memory.read(self.address, self.stride_bytes) + second


@dataclass(frozen=True)
class Run:
    """A layer of two surfaces, or of two lines."""

    layer: Any
    surfaces: bool

    @property
    def sources(self) -> Iterator[Halves]:
        """Everything with strides that it reads."""
        if hasattr(self.layer.src, "addresses"):
            image = self.layer.src
            yield from map(Halves, image.addresses, image.layout.plane_nbytes, image.layout.line_stride_bytes)
        else:
            yield self._halves(self.layer.src)
        for stage in ("x1", "x2"):
            source = getattr(self.layer, stage, None)
            if source is not None:
                yield self._halves(source.memory)

    @property
    def destination(self) -> Halves:
        """What it writes."""
        return self._halves(self.layer.dst)

    def program(self, groups: dict[str, int], far: int) -> tuple[Op, ...]:
        """Return its program with so much added to its strides."""
        strides = re.compile(rf"(?!CACC)\w+\.D_\w*{'SURF(ACE)?' if self.surfaces else 'LINE(_UV)?'}_STRIDE")
        return tuple(_longer(encode(self.layer, CONFIG, groups, sync_id="done"), strides, far))

    def _halves(self, part: Any) -> Halves:
        layout = part.layout
        stride = layout.surface_stride_bytes if self.surfaces else layout.line_stride_bytes
        return Halves(part.address, layout.nbytes, stride)


def _longer(program: Iterable[Op], strides: re.Pattern[str], far: int) -> Iterator[Op]:
    for op in program:
        used = isinstance(op, RegWrite) and op.value and strides.fullmatch(op.register)
        yield replace(op, value=op.value + far) if isinstance(op, RegWrite) and used else op


def described() -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield layers, and whether they have two surfaces."""
    for surfaces in (True, False):
        shape = [2 * ATOM, 3, 4] if surfaces else [ATOM, 2, 4]
        for cube in CUBES:
            kernels = {"kernels": shape[0]} if cube["engine"] == "CONV" else {}
            yield {**cube, **kernels, "shape": shape, "src_gaps": [1, 1], "dst_gaps": [1, 1]}, surfaces
    yield {**IMAGE, "shape": [3, 2, 4], "kernels": 8, "dst_gaps": [1, 1]}, False


@cocotb.test()
async def strides_reach_all_of_memory(dut: SimHandleBase) -> None:
    bench = await Inattentive.start(dut, CONFIG)
    shop = Workshop(CONFIG, MemoryImage(BASE, 1 << 32), bench.rng)
    runs = [
        Run(build_layer(shop, f"far{n}", layer_entry(keys, f"far{n}"), []), surfaces)
        for n, (keys, surfaces) in enumerate(described())
    ]
    await bench.play(memory_ops(shop.memory, Ram.MC))
    layers: list[Layer] = [run.layer for run in runs]
    await bench.run(*layers)
    bench.check()
    memory, turns = bench.memory, Counter[str]()
    wanted = [memory.read(run.destination.address, run.destination.nbytes) for run in runs]
    bench.inattentive = True
    for far in FAR:
        for run, right in zip(runs, wanted, strict=True):
            before = {part: memory.read_array(part.address, part.nbytes) for part in run.sources}
            for part in (*before, run.destination):
                memory.allocate_merged("far", part.address + far, part.nbytes)
            for part in before:
                part.move(memory, far)
            poison = ~np.frombuffer(right, np.uint8)
            memory.write(run.destination.address, poison)
            memory.write(run.destination.address + far, poison)
            units, state = chain_of(run.layer).units, bench.judge.tracker.state
            groups = {unit: (state.consumer(unit) + turns[unit]) % GROUPS for unit in units}
            turns.update(units)
            await bench.play(run.program(groups, far))
            got = np.frombuffer(run.destination.read(memory, far), np.uint8)
            mask = run.layer.dst.layout.written_mask()
            wrong = np.flatnonzero(mask & (got != np.frombuffer(right, np.uint8)))
            assert not len(wrong), f"{run} with {far:#x}: {len(wrong)} wrong bytes, first at {wrong[0]:#x}"
            for part, data in before.items():
                memory.write(part.address, data)
    # The judge knows nothing of the programs that it did not see.
    bench.expect_findings(Check.STRAY, Check.INTERRUPT)
