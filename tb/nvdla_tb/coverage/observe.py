"""The layers of a program, and those that run beside and before each of them, without playing it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from nvdla_models.config import HwConfig
from nvdla_tb.coverage.attributes import Attributes, layer_attributes
from nvdla_tb.coverage.attributes.conv import taken_attributes
from nvdla_tb.coverage.attributes.rings import Rings
from nvdla_tb.coverage.attributes.values import yes
from nvdla_tb.coverage.written import Written
from nvdla_tb.judge.tracker import LayerTracker, StartedLayer
from nvdla_tb.nvdla.layers import Layer, convolution_of
from nvdla_tb.nvdla.program.codec import uses_lut
from nvdla_tb.nvdla.program.ops import InterruptNotify, Poll, RegWrite, SyncWait
from nvdla_tb.nvdla.registers import Register, done_bits
from nvdla_tb.nvdla.surfaces import ImageSurface
from nvdla_tb.stimulus.scenario import Scenario

FIRST, MEMORY, ALONE = "first", "memory", "alone"


@dataclass(frozen=True)
class Observation:
    """One layer as one unit's model sees it, and its number in the scenario."""

    unit: str
    attributes: Attributes
    index: int = 0


def observe(scenario: Scenario, config: HwConfig) -> Iterator[Observation]:
    """Yield the observations of each layer of a scenario: one for each of its units, and one for ``SYSTEM``.

    There is one for ``INTERRUPTS``, too, for each event that may come while a bit of another one is cleared.

    A layer counts as running until the program waits for its end, so that layers which may run at the same
    time do so here. One that nothing waits for ends when its registers are needed again. Memory does not matter.

    Raises:
        Refused: when a layer is illegal or not modelled.
        RegisterError: for a register that the configuration lacks.
    """
    walk = _Walk(config, _settings(scenario, config))
    for op in scenario.ops:
        match op:
            case RegWrite(register="GLB.S_INTR_STATUS"):
                yield from walk.clear(op.value)
            case RegWrite():
                for started in walk.write(op):
                    yield from walk.see(started)
            case Poll():
                walk.wait()
            case InterruptNotify():
                walk.ends[op.sync_id] = op
            case SyncWait():
                walk.end(op.sync_id)


class _Walk:
    """Follows a program and lets its layers end as late as it allows."""

    def __init__(self, config: HwConfig, settings: Attributes) -> None:
        self.tracker = LayerTracker(config)
        self.ends: dict[str, InterruptNotify] = {}
        self._settings = settings
        self._seen: list[tuple[str, StartedLayer]] = []
        self._rings = Rings()
        self._written = Written()
        self._group: dict[str, int] = {}
        self._awaited: set[int] = set()
        self._crossed: set[tuple[int, int]] = set()

    def clear(self, bits: int) -> Iterator[Observation]:
        """Yield the events of running layers that may come in the clock of a write that clears bits of others."""
        for started in self.tracker.running:
            seen = started.index, bits
            if started.index not in self._awaited and seen not in self._crossed:
                self._crossed.add(seen)
                events = self.tracker.interrupts_of(started)
                for event, cleared in product(events, done_bits().items()):
                    if cleared[0] != event and bits >> cleared[1] & 1:
                        yield Observation("INTERRUPTS", {"event": event[0], "cleared": cleared[0][0]}, started.index)

    def wait(self) -> None:
        """Take it that what runs has raised its interrupts when the program goes on after a poll."""
        self._awaited.update(started.index for started in self.tracker.running)

    def write(self, op: RegWrite) -> Iterator[StartedLayer]:
        """Follow one register write, and yield the layers that it starts."""
        register = self.tracker.state.registers.parse(op.register)
        if register.name == "S_POINTER":
            self._group[register.unit] = op.value & 1
        while self.ends and self._is_in_use(register):
            self.end(next(iter(self.ends)))
        for started in self._users(register):
            for unit, group in self.tracker.interrupts_of(started):
                self.tracker.finish(unit, group)
        self._written.write(register, self._group.get(register.unit, 0), op.value)
        yield from self.tracker.write(register, op.value)

    def see(self, started: StartedLayer) -> Iterator[Observation]:
        """Yield the observations of a layer that has just started."""
        found = layer_attributes(started.layer)
        if not found or started.cube:
            return
        unit, _ = found[-1]
        beside = [(name, other) for name, other in self._seen if other in self.tracker.running]
        context: Attributes = {
            "group": started.group,
            "cubes": started.cubes,
            "reads_from": _writer_of(started.layer, self._seen),
            "behind": self._seen[-1][0] if self._seen else FIRST,
            "beside": beside[-1][0] if beside else ALONE,
            "both_groups": yes(any(name == unit for name, _ in beside)),
            "writes": self._written.begin(started.groups),
            **self._settings,
        }
        convolution = convolution_of(started.layer)
        kept: Attributes = {}
        if convolution is not None:
            kept = taken_attributes(started.fetch) | self._rings.begin(convolution, started.fetch, started.cubes)
        for name, attributes in found:
            taken = kept if name == "CONV" else {}
            yield Observation(name, attributes | taken | context, started.index)
        yield Observation("SYSTEM", {"unit": unit, "layer": len(self._seen), **context}, started.index)
        self._seen.append((unit, started))

    def end(self, sync_id: str) -> None:
        """Let the layer end whose interrupt raises a sync id, if there is one."""
        op = self.ends.pop(sync_id, None)
        if op is not None:
            self.tracker.finish(op.unit, op.group)

    def _is_in_use(self, register: Register) -> bool:
        """Return whether a layer still needs what would be written."""
        group = self._group.get(register.unit, 0)
        enabled = register.is_grouped and self.tracker.state.enabled(register.unit, group)
        return enabled or bool(self._users(register))

    def _users(self, register: Register) -> list[StartedLayer]:
        """Return the running layers that still need what would be written."""
        running = self.tracker.running
        if register.name.startswith("S_LUT_"):
            return [started for started in running if started.layer.unit == register.unit and uses_lut(started.layer)]
        group = self._group.get(register.unit, 0)
        return [started for started in running if register.is_grouped and started.groups.get(register.unit) == group]


def _writer_of(layer: Layer, seen: list[tuple[str, StartedLayer]]) -> str:
    """Return the unit that wrote what a layer reads, or memory."""
    if isinstance(layer.src, ImageSurface):
        return MEMORY
    for unit, earlier in reversed(seen):
        if (earlier.layer.dst.ram, earlier.layer.dst.address) == (layer.src.ram, layer.src.address):
            return unit
    return MEMORY


def _settings(scenario: Scenario, config: HwConfig) -> Attributes:
    """Return how the bench treats the DUT; probabilities are in percent."""
    port = scenario.settings.port
    latency = config.primary_memif_latency_cycles if port.latency_cycles is None else port.latency_cycles
    writes = port.write_latency_cycles
    return {
        "latency": latency,
        "write_latency": latency if writes is None else writes,
        "jitter": port.jitter_cycles,
        "ready_stall": round(100 * port.ready_stall),
        "valid_stall": round(100 * port.valid_stall),
        "reorder": yes(port.reorder),
        "csb_stall": round(100 * scenario.settings.csb_stall),
    }
