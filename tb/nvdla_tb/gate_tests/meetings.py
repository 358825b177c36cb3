"""cocotb tests, which level L1 plays: enables and other ends in the very clock in which a unit ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import cocotb
import msgspec
from cocotb.handle import SimHandleBase

from nvdla_tb.gate_tests.config import CONFIG
from nvdla_tb.gate_tests.stress import ALL_EVENTS
from nvdla_tb.judge.judge import Access
from nvdla_tb.nvdla.engines import Chain, chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import (
    INTERRUPT_UNITS,
    InterruptNotify,
    Op,
    RegRead,
    RegWrite,
    done_bit,
    target_of,
    unit_of_interrupt,
)
from nvdla_tb.nvdla.program.state import GROUPS
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import cycle, wait_cycles
from nvdla_tb.stimulus.generate.engines import build_layer
from nvdla_tb.stimulus.generate.layers.entries import layer_entry
from nvdla_tb.stimulus.generate.layers.workshop import Workshop
from nvdla_tb.stimulus.scenario import memory_ops
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings

QUICK = BenchSettings(hang_cycles=3000, port=PortSettings(latency_cycles=40))
"""Memory is late, so that no unit ends before software has enabled all units of the layer behind."""

MASK, STATUS = "GLB.S_INTR_MASK", "GLB.S_INTR_STATUS"

STEP = 5
PHASES = range(0, 20, STEP)
"""Cycles by which reads begin later in one run than in another: a read takes up to 19, an end is known to 5."""

MOST_READS = 200
AROUND = 3
"""Cycles before and after an end that are tried."""

MOST_DELAYS = 100

DISTURBED = 16
"""Cycles by which layers that run at once keep each other from memory, about."""

LAYERS: dict[str, dict[str, Any]] = {
    "SDP": {"engine": "SDP", "shape": [16, 4, 6], "x1": {"alu": "sum", "alu_operand": "element"}},
    "PDP": {"engine": "PDP", "shape": [16, 4, 6], "method": "max", "kernel": [2, 2]},
    "CDP": {"engine": "CDP", "shape": [16, 4, 6], "local_size": 3, "output_converter": [0, 1, 4]},
    "POOLED": {"engine": "SDP", "shape": [8, 4, 4], "pool": {"method": "max", "kernel": [2, 2]}},
    "CONV": {
        "engine": "CONV",
        "shape": [16, 4, 6],
        "kernels": 8,
        "kernel": [1, 1],
        "truncate": 6,
        "tight_weights": True,
        "x1": {"alu": "sum", "alu_operand": "channel"},
    },
}


class Watching(Bench):
    """A bench that keeps what was read last, by the names of registers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Start as a bench does; nothing was read."""
        super().__init__(*args, **kwargs)
        self.last_read: dict[str, int] = {}

    def see_access(self, access: Access) -> None:
        """Keep what was read, and pass it on."""
        if access.register is not None and not access.is_write:
            self.last_read[access.register.full_name] = access.value
        super().see_access(access)


class Runs:
    """Layers that are programmed at once and run again and again, and whose last units are enabled in chosen cycles."""

    def __init__(self, bench: Watching, *described: dict[str, Any]) -> None:
        """Build the layers; ``place`` gives their data to the bench."""
        self.bench = bench
        shop = Workshop(CONFIG, MemoryImage(0x10_0000, 1 << 32), bench.rng)
        self.layers: list[Layer] = [
            build_layer(shop, f"layer{n}", layer_entry(keys, f"layer{n}"), []) for n, keys in enumerate(described)
        ]
        self._data = memory_ops(shop.memory, Ram.MC)

    async def place(self, unmasked: int) -> None:
        """Fill the memory of all layers, and mask all interrupts but those with these bits."""
        await self.bench.play((*self._data, RegWrite(MASK, ALL_EVENTS & ~unmasked)))

    def programs(self, number: int, group: int | Mapping[str, int]) -> tuple[list[Op], list[Op]]:
        """Return what programs a layer, and the writes that enable its units, in their order."""
        registers: list[Op] = []
        enables: list[Op] = []
        for op in encode(self.layers[number], CONFIG, group):
            is_enable = isinstance(op, RegWrite) and op.register.endswith(".D_OP_ENABLE")
            (enables if is_enable else registers).append(op)
        return registers, enables

    async def at(self, started: int, after_cycles: int) -> None:
        """Wait until so many cycles have passed."""
        await wait_cycles(self.bench.clock, max(after_cycles - (cycle() - started), 1))

    async def first_read(self, started: int, phase: int, register: str, mask: int, value: int) -> int:
        """Read a register until these bits have this value, and return after how many cycles that was asked for."""
        await self.at(started, phase)
        for _ in range(MOST_READS):
            asked = cycle()
            if await self.bench.csb.read(register) & mask == value:
                return asked - started
        raise AssertionError(f"{register} & {mask:#x} is not {value:#x} after {cycle() - started} cycles")

    def check(self) -> None:
        """Fail with the first findings: groups are out of step after them."""
        if self.bench.verdict.findings:
            self.bench.check()


class Enabled(Runs):
    """Pairs of layers of one engine, the second of which is enabled while the first one runs."""

    def __init__(self, bench: Watching, described: dict[str, Any]) -> None:
        """Build both layers, which are alike."""
        super().__init__(bench, described, described)
        self.chain = chain_of(self.layers[0])
        self._runs = 0

    async def end_of(self, unit: str, phase: int) -> int:
        """Run the first layer, and return after how many cycles a read of the unit's state has first shown its end."""
        group = self._next_group()
        await self.bench.play(encode(self.layers[0], CONFIG, group))
        asked = await self.first_read(cycle(), phase, f"{unit}.S_STATUS", self._state(unit, group), 0)
        await self.bench.play((InterruptNotify(self.chain.done_unit, group, "done"),))
        return asked

    async def enable(self, unit: str, after_cycles: int) -> bool:
        """Run both layers; the unit, and those that come after it, are enabled for the second one so late.

        Returns:
            Whether the unit still runs the first layer for a read that comes right behind that write.
        """
        first, second = self._next_group(), self._next_group()
        registers, enables = self.programs(1, second)
        pointers = [RegWrite(f"{each}.S_POINTER", second) for each in self.chain.units]
        at = self.chain.units.index(unit)
        await self.bench.play((*registers, *encode(self.layers[0], CONFIG, first)))
        started = cycle()
        await self.bench.play((*pointers, *enables[:at]))
        await self.at(started, after_cycles)
        reads = RegRead(f"{unit}.S_STATUS"), RegRead(f"{unit}.D_OP_ENABLE", 1)
        await self.bench.play((enables[at], *reads, *enables[at + 1 :]))
        await self.bench.play(tuple(InterruptNotify(self.chain.done_unit, each, f"{each}") for each in (first, second)))
        return bool(self.bench.last_read[f"{unit}.S_STATUS"] & self._state(unit, first))

    def _state(self, unit: str, group: int) -> int:
        """Return the bits of a unit's status that say what a group does."""
        return self.bench.registers.parse(f"{unit}.S_STATUS").field(f"status_{group}").mask

    def _next_group(self) -> int:
        self._runs += 1
        return self._runs % GROUPS ^ 1


async def enables_meet_ends(dut: SimHandleBase, engine: str) -> None:
    """Enable each unit for a layer around the clock in which it ends the one before."""
    bench = await Watching.start(dut, CONFIG, QUICK)
    runs = Enabled(bench, LAYERS[engine])
    # To serve the interrupts of CDMA would keep CSB busy while CDMA ends.
    await runs.place(sum(1 << done_bit(runs.chain.done_unit, group) for group in range(GROUPS)))
    for unit in runs.chain.units:
        seen = min([await runs.end_of(unit, phase) for phase in PHASES])
        still_running = []
        for after in range(seen - STEP - AROUND, seen + AROUND + 1):
            still_running.append(await runs.enable(unit, after))
            runs.check()
        around = "".join("-+"[running] for running in still_running)
        assert around.startswith("+"), f"{unit} has ended before: {around}"
        assert around.endswith("-" * AROUND), f"{unit} still runs: {around}"
    await bench.csb.write(MASK, 0)
    await bench.settle()
    bench.check()


@cocotb.test()
async def enables_of_sdp_meet_ends(dut: SimHandleBase) -> None:
    await enables_meet_ends(dut, "SDP")


@cocotb.test()
async def enables_of_pdp_meet_ends(dut: SimHandleBase) -> None:
    await enables_meet_ends(dut, "PDP")


@cocotb.test()
async def enables_of_cdp_meet_ends(dut: SimHandleBase) -> None:
    await enables_meet_ends(dut, "CDP")


@cocotb.test()
async def enables_of_convolutions_meet_ends(dut: SimHandleBase) -> None:
    await enables_meet_ends(dut, "CONV")


class Ending(Runs):
    """Two layers that end at chosen distances; the second one is of another engine, or waits for the first one."""

    def __init__(self, bench: Watching, engines: Sequence[str]) -> None:
        """Build a layer of each engine."""
        super().__init__(bench, *(LAYERS[engine] for engine in engines))
        self.sources = [_sources(chain_of(layer)) for layer in self.layers]
        first, second = (set(chain_of(layer).units) for layer in self.layers)
        self.shared = first & second

    async def end_of(self, number: int, source: str, phase: int) -> int:
        """Run one layer alone, and return after how many cycles a read has first shown its interrupt."""
        groups = self._groups([number])
        bit = _bits([source], groups[number])
        started = await self._start({number: 0}, groups)
        asked = await self.first_read(started, phase, STATUS, bit, bit)
        await self._end(groups)
        return asked

    async def meet(self, delay: int, sources: Sequence[str]) -> tuple[bool, ...]:
        """Run both layers, the second one so many cycles after the first one; every interrupt must come.

        Returns:
            Which of two interrupts, one of each layer, have come when a read first shows one of them.
        """
        groups = self._groups(range(2))
        await self._start({0: max(-delay, 0), 1: max(delay, 0)}, groups)
        bits = [_bits([source], groups[number]) for number, source in enumerate(sources)]
        first = next(status for status in await self._end(groups) if status & sum(bits))
        return tuple(bool(first & bit) for bit in bits)

    def may_change_places(self, sources: Sequence[str]) -> bool:
        """Return whether either of two interrupts, one of each layer, may come first.

        A unit of both layers runs them in their order, and what hands data to it waits with it; CDMA runs ahead.
        """
        return not self.shared or (sources[1].startswith("CDMA") and unit_of_interrupt(sources[1]) not in self.shared)

    def _groups(self, numbers: Sequence[int]) -> dict[int, dict[str, int]]:
        """Return the groups that the units of layers run next."""
        state = self.bench.judge.tracker.state
        groups = {
            number: {unit: state.consumer(unit) for unit in chain_of(self.layers[number]).units} for number in numbers
        }
        if len(groups) > 1:
            groups[1] |= {unit: 1 - groups[0][unit] for unit in self.shared}
        return groups

    async def _start(self, delays: dict[int, int], groups: dict[int, dict[str, int]]) -> int:
        """Program layers, enable the units that read memory after these delays, and return the first cycle of all."""
        last: dict[int, tuple[Op, ...]] = {}
        for number in delays:
            registers, enables = self.programs(number, groups[number])
            last[number] = tuple(enables[-2:])
            await self.bench.play((*registers, *enables[:-2]))
        started = cycle()
        for number in sorted(delays, key=delays.__getitem__):
            # Both layers may have units in common, whose pointers are those of the second one now.
            pointers = [
                RegWrite(f"{target_of(op)}.S_POINTER", groups[number][f"{target_of(op)}"]) for op in last[number]
            ]
            await self.bench.play(tuple(pointers))
            await self.at(started, delays[number])
            await self.bench.play(last[number])
        return started

    async def _end(self, groups: dict[int, dict[str, int]]) -> list[int]:
        """Wait for all interrupts of these layers, clear them, and return what reads of the status have shown."""
        bits = sum(_bits(self.sources[number], groups[number]) for number in groups)
        shown = [await self.bench.csb.read(STATUS)]
        while shown[-1] & bits != bits:
            assert len(shown) < MOST_READS, f"{STATUS} is {shown[-1]:#x} and never has all of {bits:#x}"
            shown.append(await self.bench.csb.read(STATUS))
        await self.bench.play((RegWrite(STATUS, bits),))
        self.check()
        return shown


def _sources(chain: Chain) -> tuple[str, ...]:
    """Return the interrupts that a layer raises."""
    return tuple(source for source in INTERRUPT_UNITS if unit_of_interrupt(source) in chain.units)


def _bits(sources: Sequence[str], groups: Mapping[str, int]) -> int:
    return sum(1 << done_bit(source, groups[unit_of_interrupt(source)]) for source in sources)


async def change_places(runs: Ending, pair: Sequence[str], delay: int) -> None:
    """Try every delay from some at which one of two ends is seen first to some at which the other one is.

    Args:
        runs: The layers.
        pair: The interrupts of both ends.
        delay: The first one to try, at which they come in about the same clock.
    """
    for step, wanted in ((1, (True, False)), (-1, (False, True))):
        tried = range(delay, delay + step * MOST_DELAYS, step)
        seen = 0
        for each in tried:
            if each <= 0 and runs.shared:
                break
            seen += await runs.meet(each, pair) == wanted
            if seen == AROUND:
                break
        else:
            raise AssertionError(f"{pair[wanted.index(True)]} of {pair} does not come first with delays of {tried}")


async def ends_meet(
    dut: SimHandleBase,
    *pairs: tuple[str, str],
    port: PortSettings = QUICK.port,
    sources: Sequence[str] = INTERRUPT_UNITS,
    disturbed: int = DISTURBED,
) -> None:
    """Let two layers of each pair of engines run so that each end of one meets each end of the other."""
    bench = await Watching.start(dut, CONFIG, msgspec.structs.replace(QUICK, serve_interrupts=False, port=port))
    for engines in pairs:
        runs = Ending(bench, engines)
        await runs.place(0)
        seen = [
            {
                source: min([await runs.end_of(number, source, phase) for phase in PHASES])
                for source in own
                if source in sources
            }
            for number, own in enumerate(runs.sources)
        ]
        for pair in product(*seen):
            first, second = (ends[source] for ends, source in zip(seen, pair, strict=True))
            if runs.may_change_places(pair):
                await change_places(runs, pair, first - second)
                continue
            for delay in range(first - second - STEP - disturbed, first - second + STEP + disturbed + 1):
                if delay > 0:
                    await runs.meet(delay, pair)
    bench.check()


@cocotb.test()
async def ends_of_layers_of_sdp_pdp_and_cdp_meet(dut: SimHandleBase) -> None:
    await ends_meet(dut, ("SDP", "PDP"), ("SDP", "CDP"), ("PDP", "CDP"))


@cocotb.test()
async def ends_of_convolutions_and_other_layers_meet(dut: SimHandleBase) -> None:
    await ends_meet(dut, ("PDP", "CONV"), ("CDP", "CONV"))


@cocotb.test()
async def ends_of_layers_behind_each_other_meet(dut: SimHandleBase) -> None:
    await ends_meet(dut, ("SDP", "CONV"), ("CONV", "CONV"))


@cocotb.test()
async def answers_to_sdp_meet_ends_of_layers_that_write_nothing(dut: SimHandleBase) -> None:
    late = PortSettings(latency_cycles=20, write_latency_cycles=400)
    await ends_meet(dut, ("SDP", "POOLED"), ("CONV", "POOLED"), port=late, sources=("SDP",), disturbed=4 * DISTURBED)
