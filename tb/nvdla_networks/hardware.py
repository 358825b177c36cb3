"""Hardware tasks of loadables: operations with their registers, and what each waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from nvdla_models.errors import InputError
from nvdla_models.layout import BDMA_UNIT_BYTES
from nvdla_networks import conv_registers, other_registers, sdp_registers
from nvdla_networks import descriptors as d
from nvdla_networks.descriptors import CubeType, EngineId, Event
from nvdla_networks.errors import NetworkError
from nvdla_networks.loadable import Address, Task
from nvdla_networks.network import Edge, HardwareTask, LutLoad, Operation, Words
from nvdla_networks.places import Descriptors, Placer
from nvdla_networks.tables import FP16
from nvdla_tb.nvdla.engines import engines_of
from nvdla_tb.nvdla.memory import Range
from nvdla_tb.nvdla.program import bdma, rubik
from nvdla_tb.nvdla.program.table import Flat, Table, written_words
from nvdla_tb.nvdla.registers import RegisterMap


@dataclass(frozen=True)
class _Way:
    """How an engine's descriptors become registers: tables by unit in the order of enabling, and what they derive."""

    tables: tuple[tuple[str, Table], ...]
    derive: Callable[[Flat], Flat]
    cubes: tuple[str, ...] = ("src", "dst")


_WAYS = {
    EngineId.CONV: _Way(
        tuple((unit, conv_registers.TABLE) for unit in conv_registers.UNITS),
        conv_registers.derive,
        ("weight", "wmb", "wgs", "src", "dst"),
    ),
    EngineId.SDP: _Way(
        (("SDP_RDMA", sdp_registers.RDMA_TABLE), ("SDP", sdp_registers.TABLE)),
        sdp_registers.derive,
        ("src", "x1", "x2", "y", "dst"),
    ),
    EngineId.PDP: _Way(
        (("PDP_RDMA", other_registers.PDP_RDMA_TABLE), ("PDP", other_registers.PDP_TABLE)),
        other_registers.derive_pdp,
    ),
    EngineId.CDP: _Way(
        (("CDP_RDMA", other_registers.CDP_TABLE), ("CDP", other_registers.CDP_TABLE)),
        other_registers.derive_cdp,
    ),
    EngineId.RUBIK: _Way((("RBK", rubik.TABLE),), other_registers.derive_rubik),
}


def read_task(task: Task, placer: Placer) -> HardwareTask:
    """Return the operations of a hardware task.

    Raises:
        NetworkError: naming task, operation, field and rule.
        Refused: for a value that a register cannot hold.
    """
    return _Reader(task, placer).read()


class _Reader:
    def __init__(self, task: Task, placer: Placer) -> None:
        self._at = Descriptors(task, placer.loadable)
        self._config, self._placer = placer.config, placer
        self._registers = RegisterMap.of(placer.config)
        self._network: Flat = d.flat(self._at.records(0, "the network descriptor", d.NETWORK, 1)[0])
        version = self._at.blob_at(0, "the network descriptor")[1]
        try:
            self._surfaces = d.surfaces_of(version)
        except NetworkError as error:
            raise NetworkError(f"{self._at.what}: {error}") from error
        self._luts: dict[tuple[str, int, bool], LutLoad] = {}

    def read(self) -> HardwareTask:
        network, what = self._network, self._at.what
        for name, allowed in (("num_rois", 1), ("dynamic_roi", 0)):
            if network[name] != allowed:
                raise NetworkError(f"{what}: {name} must be {allowed}, not {network[name]}: regions are not known")
        count = network["num_operations"]
        if count < 1:
            raise NetworkError(f"{what}: num_operations must be at least 1, not {count}")
        entries = [d.flat(e) for e in self._at.records(network["dependencies"], "dependencies", d.DEPENDENCY, count)]
        raw = (
            self._at.records(network["operations"], "operations", np.dtype(f"V{d.OPERATION_BYTES}"), count),
            self._at.records(network["surfaces"], "surfaces", np.dtype(f"V{d.SURFACE_BYTES}"), count),
        )
        engines = [self._engine(number, entry) for number, entry in enumerate(entries)]
        edges, parents = self._edges(entries)
        chains = self._chains(entries, engines)
        names = {
            number: f"{engine.name.lower()}{at}" for engine, chain in chains.items() for at, number in enumerate(chain)
        }
        operations = []
        for number, engine in enumerate(engines):
            op = d.flat(raw[0][number : number + 1].view(d.OPERATIONS[engine])[0])
            surface = d.flat(raw[1][number : number + 1].view(self._surfaces[engine])[0], "at.")
            try:
                read = self._copies if engine is EngineId.BDMA else self._operation
                operation = read(names[number], engine, op | surface)
            except InputError as error:
                raise NetworkError(f"{what}: operation {number} ({names[number]}): {error}") from error
            operations.append(replace(operation, edges=tuple(edges[number]), parent=parents.get(number)))
        return HardwareTask(tuple(operations), chains, counts=network["statistics"] != -1)

    def _engine(self, number: int, entry: Flat) -> EngineId:
        what = f"{self._at.what}: dependency entry {number}"
        if entry["roi"] != 0:
            raise NetworkError(f"{what}: roi must be 0, not {entry['roi']}")
        if entry["engine"] not in tuple(EngineId):
            raise NetworkError(f"{what}: engine must be 0 to {max(EngineId)}, not {entry['engine']}")
        engine = EngineId(entry["engine"])
        if engine.name not in {each.name for each in engines_of(self._config)}:
            raise NetworkError(f"{what}: engine must not be {engine.name}, which {self._config.name} lacks")
        return engine

    def _edges(self, entries: list[Flat]) -> tuple[list[list[Edge]], dict[int, int]]:
        """Return the edges that each operation waits for, and the parent of each fused operation."""
        edges: list[list[Edge]] = [[] for _ in entries]
        parents: dict[int, int] = {}
        for number, entry in enumerate(entries):
            what = f"{self._at.what}: dependency entry {number}"
            fused = {name: entry[f"fused_parent.{name}"] for name in ("index", "event")}
            for target in (*entry["consumers"], fused):
                index, event = target["index"], target["event"]
                if index == -1:
                    continue
                if not 0 <= index < len(entries) or index == number:
                    raise NetworkError(f"{what}: consumers must be other operations of the task, not {index}")
                if event not in tuple(Event):
                    raise NetworkError(f"{what}: events must be 1 to {max(Event)}, not {event}")
                if event in (Event.WEIGHTS_DONE, Event.DATA_DONE) and entry["engine"] != EngineId.CONV:
                    raise NetworkError(f"{what}: event {event} must be that of a convolution")
                edges[index].append(Edge(number, Event(event)))
            if fused["index"] != -1:
                parents[number] = fused["index"]
        for number, (entry, incoming) in enumerate(zip(entries, edges, strict=True)):
            if entry["dependency_count"] != len(incoming):
                raise NetworkError(
                    f"{self._at.what}: dependency entry {number}: dependency_count must be the {len(incoming)} "
                    f"operations that name it, not {entry['dependency_count']}"
                )
        return edges, parents

    def _chains(self, entries: list[Flat], engines: list[EngineId]) -> dict[EngineId, tuple[int, ...]]:
        """Return the order in which each engine takes its operations."""
        chains: dict[EngineId, tuple[int, ...]] = {}
        for engine, head in zip(EngineId, self._network["op_head"], strict=True):
            chain: list[int] = []
            number = head
            while number != -1:
                what = f"{self._at.what}: {engine.name}'s chain"
                if not 0 <= number < len(entries) or engines[number] is not engine or number in chain:
                    raise NetworkError(f"{what} must name operations of the engine, each once, not {number}")
                chain.append(number)
                number = entries[number]["consumers"][engine]["index"]
            missing = [n for n, other in enumerate(engines) if other is engine and n not in chain]
            if missing:
                raise NetworkError(f"{self._at.what}: {engine.name}'s chain must reach operation {missing[0]}")
            if chain:
                chains[engine] = tuple(chain)
        return chains

    def _operation(self, name: str, engine: EngineId, flat: Flat) -> Operation:
        way = _WAYS[engine]
        reads: list[Range] = []
        writes: list[Range] = []
        for cube in way.cubes:
            span = self._resolve(flat, cube)
            if span is not None:
                (writes if cube == "dst" else reads).append(span)
        flat["atom_bytes"] = self._config.memory_atomic_bytes
        flat |= way.derive(flat)
        tables = [(unit, table) for unit, table in way.tables if flat.get("rdma", True) or not unit.endswith("_RDMA")]
        words: dict[str, Words] = {}
        for table in dict.fromkeys(table for _, table in tables):
            words |= written_words(table, flat, self._registers)
        shape = (flat["at.dst.channel"], flat["at.dst.height"], flat["at.dst.width"])
        return Operation(
            name,
            engine,
            tuple(unit for unit, _ in tables),
            words,
            shape,
            lut=self._lut(engine, flat),
            reads=tuple(reads),
            writes=tuple(writes),
        )

    def _resolve(self, flat: Flat, cube: str) -> Range | None:
        """Put the absolute address of a cube in the place of its position; return its bytes, if it lies in memory."""
        kind, position = flat[f"at.{cube}.type"], flat[f"at.{cube}.address"]
        if kind not in tuple(CubeType):
            raise NetworkError(f"type of {cube} must be 0 to {max(CubeType)}, not {kind}")
        if kind == CubeType.HARDWARE or position == -1 or not _is_used(flat, cube):
            flat[f"at.{cube}.address"] = 0
            return None
        address = self._at.address(position, f"address of {cube}", flat.get(f"at.{cube}.offset", 0))
        self._check_ram(address, kind, cube)
        span = self._placer.span(address, flat[f"at.{cube}.size"], cube)
        flat[f"at.{cube}.address"] = span.address
        if cube == "dst":
            self._placer.write(address.memory)
        return span

    def _check_ram(self, address: Address, kind: int, what: str) -> None:
        ram = self._placer.loadable.memories[address.memory].ram
        if (kind == CubeType.CV) != (ram.name == "CVSRAM"):
            raise NetworkError(f"type of {what} must be that of its memory, {ram.value}, not {CubeType(kind).name}")

    def _lut(self, engine: EngineId, flat: Flat) -> LutLoad | None:
        index = flat.get("lut_index", -1)
        if engine not in (EngineId.SDP, EngineId.CDP) or index == -1:
            return None
        count = self._network["num_luts"]
        data, _ = self._at.blob_at(self._network["luts"], "luts")
        # Some files count no tables though their operations name one.
        most = max(count, len(data) // d.LUT.itemsize)
        if not 0 <= index < most:
            raise NetworkError(f"lut_index must be -1 or below {most}, not {index}")
        is_float = flat["src_precision" if engine is EngineId.SDP else "in_precision"] == FP16
        key = engine.name, index, is_float
        if key not in self._luts:
            record = self._at.records(self._network["luts"], "luts", d.LUT, index + 1)[index]
            writes = other_registers.lut_loads(
                engine.name, d.flat(record), is_float=is_float, registers=self._registers
            )
            self._luts[key] = LutLoad(engine.name, writes)
        return self._luts[key]

    def _copies(self, name: str, engine: EngineId, flat: Flat) -> Operation:
        count = flat["at.number"]
        if not 1 <= count <= d.MAX_TRANSFERS:
            raise NetworkError(f"number of transfers must be 1 to {d.MAX_TRANSFERS}, not {count}")
        copies: list[Words] = []
        spans: dict[str, list[Range]] = {"source": [], "destination": []}
        for number, transfer in enumerate(flat["at.transfers"][:count]):
            values: Flat = {"lines": transfer["line_repeat"], "surfaces": transfer["surface_repeat"]}
            for end, own in (("source", "src"), ("destination", "dst")):
                address = self._at.address(transfer[end], f"{end} of transfer {number}")
                self._check_ram(address, flat[f"at.{end}_type"], end)
                span = self._placer.span(address, _reach(transfer, end), f"{end} of transfer {number}")
                spans[end].append(span)
                values |= {f"{own}.ram": span.ram, f"{own}.address": span.address}
                values |= {f"{own}.{far}_stride_bytes": transfer[f"{end}_{far}"] for far in ("line", "surface")}
                if end == "destination":
                    self._placer.write(address.memory)
            values["line_units"], rest = divmod(transfer["line_size"], BDMA_UNIT_BYTES)
            if rest:
                raise NetworkError(
                    f"line_size must be a multiple of {BDMA_UNIT_BYTES} bytes, not {transfer['line_size']}"
                )
            copies.append(written_words(bdma.TABLE, values, self._registers)["BDMA"])
        first = flat["at.transfers"][0]
        shape = (first["surface_repeat"], first["line_repeat"], first["line_size"])
        return Operation(
            name,
            engine,
            ("BDMA",),
            {},
            shape,
            copies=tuple(copies),
            reads=tuple(spans["source"]),
            writes=tuple(spans["destination"]),
        )


def _is_used(flat: Flat, cube: str) -> bool:
    """Return whether an operation takes a cube: descriptors leave something in the places of all others."""
    if cube in ("wmb", "wgs"):
        return bool(flat["weight_format"])
    if cube in ("x1", "x2", "y"):
        return bool(flat[f"{cube}.enable"] and flat[f"{cube}.mode"])
    return True


def _reach(transfer: Mapping[str, int], end: str) -> int:
    """Return the bytes from the first line of a transfer to the end of its last."""
    lines = max(transfer["line_repeat"] - 1, 0) * transfer[f"{end}_line"]
    return max(transfer["surface_repeat"] - 1, 0) * transfer[f"{end}_surface"] + lines + transfer["line_size"]
