"""From layers to the operations of a hardware task: registers by unit, and what each waits for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from nvdla_models.config import HwConfig
from nvdla_networks import conv_registers
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.network import Edge, HardwareTask, LutLoad, Operation, Words, overlap
from nvdla_tb.nvdla.engines import CDP, PDP, SDP, chain_of
from nvdla_tb.nvdla.layers import ConvLayer, Layer, OperandSurface, PooledLayer, SdpLayer, StageSource, Surface
from nvdla_tb.nvdla.memory import Range
from nvdla_tb.nvdla.program.lut import ENTRIES, lut_writes
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.nvdla.program.table import encode_rows
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.nvdla.surfaces import ImageSurface

_UNITS = {
    EngineId.CONV: conv_registers.UNITS,
    EngineId.SDP: SDP.units,
    EngineId.PDP: PDP.units,
    EngineId.CDP: CDP.units,
}
"""In the order in which they are enabled."""

_NAME_LENGTH = 40


@dataclass
class _Done:
    """A layer that has its operations: the step that it belongs to, and bytes that it reads and writes."""

    step: int
    last: int
    engine: EngineId
    reads: tuple[Range, ...]
    writes: tuple[Range, ...]
    before: set[int] = field(default_factory=set)


class TaskWriter:
    """Collects operations, layer after layer."""

    def __init__(self, config: HwConfig, names: Counter[str] | None = None) -> None:
        """Start without operations; ``names`` are those of earlier tasks of the network."""
        self._config, self._registers = config, RegisterMap.of(config)
        self._operations: list[Operation] = []
        self._names: Counter[str] = Counter() if names is None else names
        self._done: list[_Done] = []

    def task(self) -> HardwareTask:
        """Return the task of all operations."""
        chains: dict[EngineId, tuple[int, ...]] = {}
        for number, operation in enumerate(self._operations):
            chains[operation.engine] = (*chains.get(operation.engine, ()), number)
        return HardwareTask(tuple(self._operations), chains)

    def add(self, step: int, names: tuple[str, ...], layer: Layer) -> str:
        """Add a layer, and return the name of its first operation.

        Layers of one step write different parts of a value, so that none waits for another.

        Args:
            step: Number of the step that it belongs to.
            names: Of the nodes that it computes, the first and, pooled on the fly, the last.
            layer: The layer.

        Raises:
            Refused: for a value that a register cannot hold.
        """
        chain = chain_of(layer)
        flat = chain.coding.flatten(layer)
        words = encode_rows(chain.coding.table, flat, self._registers)
        engines = [of for of, units in _UNITS.items() if any(unit in chain.units for unit in units)]
        first = len(self._operations)
        end = len(engines) - 1
        reads, writes = _reads(layer), (_span(layer.dst),)
        done = _Done(step, first + end, engines[-1], reads, writes)
        waits = tuple(self._waits(done))
        self._done.append(done)
        lut = None
        tables = _taken_tables(words.get(chain.lut_unit, {}))
        if ENTRIES in flat:
            parameters = (RegWrite(f"{chain.lut_unit}.{name}", word) for name, word in tables.items())
            loads = (*lut_writes(chain.lut_unit, flat[ENTRIES]), *parameters)
            lut = LutLoad(chain.lut_unit, loads)
        for at, of in enumerate(engines):
            name = names[-1] if of is EngineId.PDP else names[0] if at == 0 else of.name.lower()
            units = tuple(unit for unit in _UNITS[of] if unit in chain.units)
            mine: dict[str, Words] = {unit: words[unit] for unit in units}
            edges = [Edge(first + at - 1, Event.PROGRAMMED)] if at else []
            edges += [Edge(first + at + 1, Event.ENABLED)] if at < end else waits
            operation = Operation(
                self._unused(name, numbered=at > 0 and of is EngineId.SDP),
                of,
                units,
                mine,
                layer.dst.layout.shape,
                edges=tuple(edges),
                parent=first + at - 1 if at else None,
                lut=lut if chain.lut_unit in units else None,
                reads=reads if at == 0 else (),
                writes=writes if at == end else (),
            )
            self._operations.append(operation)
        return self._operations[first].name

    def _unused(self, name: str, *, numbered: bool) -> str:
        """Return a name that no operation has."""
        found = clean = layer_name(name)
        if numbered:
            found = f"{clean}{self._names[clean]}"
            self._names[clean] += 1
        while not numbered and found in self._names:
            self._names[clean] += 1
            found = f"{clean}_{self._names[clean] - 1}"
        self._names[found] += 1
        return found

    def _waits(self, layer: _Done) -> Iterable[Edge]:
        """Yield the ends that a layer waits for: of the last layer of each engine that touches what it touches.

        An engine ends its layers in order, so that the last one stands for all before it.
        """
        number = len(self._done)
        for at in range(number - 1, -1, -1):
            earlier = self._done[at]
            met = ((earlier.writes, layer.reads), (earlier.reads, layer.writes), (earlier.writes, layer.writes))
            meets = any(overlap(a, b) for ones, others in met for a in ones for b in others)
            if at in layer.before or earlier.step == layer.step or not meets:
                continue
            layer.before |= {at} | earlier.before
            layer.before |= {n for n in range(at) if self._done[n].engine is earlier.engine}
            yield Edge(earlier.last, Event.COMPLETED)


def layer_name(node: str) -> str:
    """Return the name of a node as tables of layers have it."""
    clean = re.sub(r"\W+", "_", node).strip("_") or "layer"
    if len(clean) <= _NAME_LENGTH:
        return clean
    # Names of one network begin alike, and end with operator and number; a word that is cut goes.
    end = clean[-_NAME_LENGTH:]
    return end.partition("_")[2] or end


def _taken_tables(words: dict[str, int]) -> dict[str, int]:
    """Take the registers that both groups share: they are written with the entries, when no layer looks up."""
    return {name: words.pop(name) for name in list(words) if name.startswith("S_LUT_")}


def _reads(layer: Layer) -> tuple[Range, ...]:
    """Return the bytes that a layer reads."""
    match layer:
        case PooledLayer(producer=producer):
            return _reads(producer)
        case ConvLayer() | SdpLayer():
            stages: tuple[StageSource | None, ...] = (layer.x1, layer.x2, layer.y)
            operands = [stage.memory for stage in stages if stage is not None and stage.memory is not None]
            weights = [layer.weights] if isinstance(layer, ConvLayer) else []
            found = [Range(w.ram, w.address, w.fetched_bytes) for w in weights]
            return (_span(layer.src), *found, *(_span(operand) for operand in operands))
        case _:
            return (_span(layer.src),)


def _span(surface: object) -> Range:
    if isinstance(surface, ImageSurface):
        (address,), (nbytes,) = surface.addresses, surface.layout.plane_nbytes
        return Range(surface.ram, address, nbytes)
    assert isinstance(surface, Surface | OperandSurface)
    return Range(surface.ram, surface.address, surface.layout.nbytes)
