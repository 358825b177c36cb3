"""Interrupts as programs that serve themselves: raised by software and by layers, masked, unmasked and cleared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.program import ops
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.state import GROUPS
from nvdla_tb.nvdla.registers import RegisterMap

_MASK, _SET, _STATUS = "GLB.S_INTR_MASK", "GLB.S_INTR_SET", "GLB.S_INTR_STATUS"
_LOOKS = 3
"""Reads of the status after each change: longer than the interrupt line may lag."""

_ROUNDS = 64

_RUNS_OF_CLEARS = 12
"""Runs of layers of one kind for each source whose bits are cleared, half of them in each group."""

_CLEARS = 200
"""Writes that clear a bit without a break until its layer is done; in some round one comes in its event's clock."""


_RUNS_OF_OTHERS = 3
_STORM = 160
"""Writes to the bits of other sources without a break, which last longer than a short layer."""

_ALTERNATING = 0.3
_ONE_OTHER = 0.6


class Sources:
    """The interrupts of a configuration, with the state of GLB's registers."""

    def __init__(self, config: HwConfig) -> None:
        units = RegisterMap.of(config).units
        self.bits = [
            1 << ops.done_bit(source, group)
            for source in ops.INTERRUPT_UNITS
            if ops.unit_of_interrupt(source) in units
            for group in range(GROUPS)
        ]
        self.all = sum(self.bits)
        self.ops: list[ops.Op] = []
        self._writable = RegisterMap.of(config).parse(_MASK).writable
        self._status = self._mask = 0

    def set(self, bits: int) -> None:
        """Raise interrupts by software."""
        self._status |= bits & self.all
        self._write(_SET, bits)

    def clear(self, bits: int) -> None:
        """Clear interrupts."""
        self._status &= ~bits
        self._write(_STATUS, bits)

    def storm(self, bits: int, writes: int, *, alternating: bool) -> None:
        """Clear interrupts without a break, again and again, and raise them in between if that is ``alternating``."""
        clear = ops.RegWrite(_STATUS, bits)
        words = (ops.RegWrite(_SET, bits), clear) if alternating else (clear,)
        self.ops += words * (writes // len(words))
        self._status &= ~bits

    def mask(self, bits: int) -> None:
        """Mask these interrupts and no others."""
        self._mask = bits & self._writable
        self._write(_MASK, bits)

    def raised(self, bits: int) -> None:
        """Take note of what the hardware has set, and look at it."""
        self._status |= bits
        self._look()

    def _write(self, register: str, value: int) -> None:
        self.ops.append(ops.RegWrite(register, value, posted=len(self.ops) % 3 > 0))
        self._look()

    def _look(self) -> None:
        self.ops += [*(ops.RegRead(_STATUS, self._status) for _ in range(_LOOKS)), ops.RegRead(_MASK, self._mask)]


def software_interrupts(config: HwConfig, rng: np.random.Generator) -> tuple[ops.Op, ...]:
    """Return a program that raises, masks and clears every interrupt, alone and together, in random orders."""
    sources = Sources(config)
    for bit in sources.bits:
        sources.mask(bit)
        sources.set(bit)
        sources.mask(0)
        sources.mask(~bit & 0xFFFF_FFFF)
        sources.clear(~bit & 0xFFFF_FFFF)
        sources.mask(bit)
        sources.clear(bit)
    sources.mask(0)
    sources.set(0xFFFF_FFFF)
    for number in rng.permutation(len(sources.bits)):
        sources.clear(sources.bits[int(number)])
    for _ in range(_ROUNDS):
        chosen = sum(bit for bit in sources.bits if rng.random() < 0.3)
        step = (sources.set, sources.clear, sources.mask)[int(rng.integers(3))]
        step(chosen)
    return tuple(sources.ops)


def layer_interrupts(layers: Sequence[Layer], config: HwConfig) -> tuple[ops.Op, ...]:
    """Return a program that runs layers one after the other, in both groups in turn, and serves their interrupts.

    Each is masked while the layer runs, unmasked when its status is set, and cleared when that of another source
    was set by software, which must stay. Then those of each kind run some times more for each of their sources: the
    source's bits, the only ones that are not masked, are cleared all the time, so that a pulse of the line is theirs.
    """
    sources = Sources(config)
    runs: Counter[str] = Counter()
    for layer in layers:
        body, events = _run(layer, config, runs)
        bits = _bits(events)
        sources.mask(sources.all)
        sources.ops += body
        sources.ops += [ops.Poll(_STATUS, 1, field=_field(config, 1 << ops.done_bit(*event))) for event in events]
        sources.raised(bits)
        sources.mask(sources.all & ~bits)
        other = next(bit for bit in sources.bits if not bit & bits)
        sources.set(other)
        sources.clear(bits)
        sources.mask(0)
        sources.clear(other)
    for units in dict.fromkeys(chain_of(layer).units for layer in layers):
        alike = [layer for layer in layers if chain_of(layer).units == units]
        sources.ops += _cleared_all_the_time(alike, config, runs, sources.all)
    return tuple(sources.ops)


def crossed_interrupts(layers: Sequence[Layer], config: HwConfig, rng: np.random.Generator) -> tuple[ops.Op, ...]:
    """Return a program that clears the bits of other sources, which it raised, while short layers end.

    In some run a clear comes in the clock of an event, which must not get lost. Layers run one after the other, each
    some times, in both groups in turn; any of the sources are masked.
    """
    sources = Sources(config)
    runs: Counter[str] = Counter()
    for layer in layers:
        for _ in range(_RUNS_OF_OTHERS):
            body, events = _run(layer, config, runs)
            bits = _bits(events)
            free = [bit for bit in sources.bits if not bit & bits]
            many = [bit for bit in free if rng.random() < 0.5]
            others = sum(many) if many and rng.random() >= _ONE_OTHER else free[int(rng.integers(len(free)))]
            sources.mask(int(rng.integers(0, 1 << 32)) & sources.all)
            sources.set(others)
            sources.ops += body
            sources.storm(others, _STORM, alternating=bool(rng.random() < _ALTERNATING))
            sources.ops += [ops.Poll(_STATUS, 1, field=_field(config, 1 << ops.done_bit(*event))) for event in events]
            sources.raised(bits)
            sources.clear(bits)
    return tuple(sources.ops)


def _cleared_all_the_time(
    layers: Sequence[Layer], config: HwConfig, runs: Counter[str], every: int
) -> Iterator[ops.Op]:
    """Yield runs of layers of one kind while the bits of one source, which alone are not masked, are always cleared."""
    last = chain_of(layers[0]).done_unit
    _, events = _run(layers[0], config, runs.copy())
    for source in dict.fromkeys(source for source, _ in events):
        chosen = _bits([(source, group) for group in range(GROUPS)])
        yield ops.RegWrite(_MASK, every & ~chosen)
        for number in range(_RUNS_OF_CLEARS):
            group = runs[last] % GROUPS
            layer = layers[number % len(layers)]
            body, events = _run(layer, config, runs)
            bits = _bits(events)
            clear = ops.RegWrite(_STATUS, bits & chosen)
            idle = ops.Poll(f"{last}.S_STATUS", 0, field=f"status_{group}")
            yield from (*body, *[clear] * _CLEARS, idle, clear, ops.RegWrite(_STATUS, bits & ~chosen))


def _run(layer: Layer, config: HwConfig, runs: Counter[str]) -> tuple[list[ops.Op], list[tuple[str, int]]]:
    """Return the program of a layer in the groups that are next, without waits, and the interrupts that it raises."""
    units = chain_of(layer).units
    groups = {unit: runs[unit] % GROUPS for unit in units}
    runs.update(units)
    program = encode(layer, config, groups, sync_id="done")
    notified = [(op.unit, op.group) for op in program if isinstance(op, ops.InterruptNotify)]
    # The sources in front of the last unit of a convolution.
    parts = ("CDMA_DAT", "CDMA_WT", "CACC") if "CDMA" in units else ()
    events = list(dict.fromkeys([*notified, *((part, groups[ops.unit_of_interrupt(part)]) for part in parts)]))
    return [op for op in program if not isinstance(op, ops.InterruptNotify)], events


def _bits(events: Iterable[tuple[str, int]]) -> int:
    return sum(1 << ops.done_bit(*event) for event in events)


def _field(config: HwConfig, bit: int) -> str:
    register = RegisterMap.of(config).parse(_STATUS)
    return next(field.name for field in register.fields if field.mask == bit)
