"""The harness scope of wave files: what the bench knows of layers and memory ports, driven as signals.

It exists in models that were built with waves, which have the coroutine back end. A start condition, ``cycle:N`` or
``layer:N``, holds waves back until then.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge

from nvdla_models.layout import FeatureLayout
from nvdla_tb.judge.expected import Expected
from nvdla_tb.judge.port_rules import PORT_SCOPES
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.sim.clocking import HIGH, cycle, wait_cycles
from nvdla_tb.sim.dbb_monitor import DbbMonitor

LAYER_SCOPE = "bench_layer"
_NAME_BYTES = 16


class WaveScope:
    """Drives the harness scope of a model that has one."""

    def __init__(
        self, dut: SimHandleBase, monitors: Mapping[Ram, DbbMonitor], scoreboard: Scoreboard, waves_from: str
    ) -> None:
        """Bind the scope to the monitors of a bench and to what they expect."""
        self._dut = dut
        self._layer = getattr(dut, LAYER_SCOPE)
        self._begun = self._over = 0
        kind, _, value = waves_from.partition(":")
        self._from_layer = int(value) if kind == "layer" else None
        self._from_cycle = int(value) if kind == "cycle" else None
        self._ports = [
            _PortScope(monitor, scoreboard, getattr(dut, PORT_SCOPES[ram])) for ram, monitor in monitors.items()
        ]

    def start(self) -> None:
        """Start to follow the ports, and to wait for the first cycle of the waves."""
        for port in self._ports:
            cocotb.start_soon(port.follow())
        if self._from_cycle is not None:
            cocotb.start_soon(self._wait_for_cycle(self._from_cycle))

    async def _wait_for_cycle(self, at: int) -> None:
        # The reset has taken some.
        left = at - cycle()
        if left > 0:
            await wait_cycles(self._dut.dla_core_clk, left)
        self._write_waves()

    def _write_waves(self) -> None:
        self._dut.wave_start.value = 1

    def started(self, layer: StartedLayer, expectation: Expectation, cycle: int | None) -> None:
        """Show a layer that begins."""
        assert cycle is not None
        if self._from_layer is not None and layer.index >= self._from_layer:
            self._write_waves()
        self._begun += 1
        scope = self._layer
        scope.name.value = _ascii(layer.engine)
        scope.unit.value = _ascii(layer.layer.unit)
        scope.index.value = layer.index & 0xFFFF
        scope.group.value = layer.group
        scope.started.value = self._begun & 0xFFFF
        scope.start_cycle.value = cycle

    def ended(self, layer: StartedLayer, cycle: int | None) -> None:
        """Count a layer that ended."""
        self._over += 1
        self._layer.ended.value = self._over & 0xFFFF


class _PortScope:
    """The scope of one memory port."""

    def __init__(self, monitor: DbbMonitor, scoreboard: Scoreboard, scope: SimHandleBase) -> None:
        self._clock, self._scoreboard, self._ram, self._scope = monitor.clock, scoreboard, monitor.ram, scope
        self._bus = monitor.bus
        self._width = monitor.bus_bytes
        self._addresses: deque[tuple[int, int]] = deque()
        self._reads: defaultdict[int, deque[int]] = defaultdict(deque)
        self._writes: defaultdict[int, deque[int]] = defaultdict(deque)
        self._counts = dict.fromkeys(("writes", "mismatches", "reads", "outstanding"), 0)

    async def follow(self) -> None:
        """Follow the handshakes of all channels, cycle by cycle."""
        bus, scope = self._bus, self._scope
        while True:
            await RisingEdge(self._clock)
            if self._taken("aw"):
                first = int(bus.awaddr.value) // self._width * self._width
                self._addresses.append((first, int(bus.awlen.value) + 1))
                self._writes[int(bus.awid.value)].append(cycle())
            write = self._taken("w")
            scope.write.value = int(write)
            scope.mismatch.value = int(write and self._show(int(bus.wdata.value), int(bus.wstrb.value)))
            if self._taken("ar"):
                self._reads[int(bus.arid.value)].append(cycle())
                self._count("reads", 1)
                self._count("outstanding", 1)
            if self._taken("r") and bus.rlast.value == HIGH and self._reads[int(bus.rid.value)]:
                scope.read_cycles.value = cycle() - self._reads[int(bus.rid.value)].popleft()
                self._count("outstanding", -1)
            if self._taken("b") and self._writes[int(bus.bid.value)]:
                scope.write_cycles.value = cycle() - self._writes[int(bus.bid.value)].popleft()

    def _taken(self, channel: str) -> bool:
        valid, ready = getattr(self._bus, f"{channel}valid"), getattr(self._bus, f"{channel}ready")
        return bool(valid.value == HIGH and ready.value == HIGH)

    def _count(self, name: str, step: int) -> None:
        self._counts[name] += step
        getattr(self._scope, name).value = self._counts[name]

    def _show(self, data: int, strobe: int) -> bool:
        """Show a write beat, and return whether it is wrong; data before their address are only counted."""
        self._count("writes", 1)
        scope = self._scope
        scope.got.value = data
        if not self._addresses:
            scope.element.value = 0
            return False
        address, left = self._addresses.popleft()
        if left > 1:
            self._addresses.appendleft((address + self._width, left - 1))
        scope.address.value = address
        expectation = self._expectation(address)
        scope.element.value = int(expectation is not None)
        expected = data
        if expectation is not None:
            expected = self._place(expectation, address, data)
        scope.expected.value = expected
        lanes = sum(0xFF << (8 * lane) for lane in range(self._width) if strobe >> lane & 1)
        wrong = expectation is None or bool((expected ^ data) & lanes)
        if wrong:
            self._count("mismatches", 1)
        return wrong

    def _expectation(self, address: int) -> Expected | None:
        """Return the newest expectation that a beat falls into."""
        for expectation, _ in reversed(self._scoreboard.expected):
            start = address - expectation.address
            if expectation.ram is self._ram and -self._width < start < len(expectation.data):
                return expectation
        return None

    def _place(self, expectation: Expected, address: int, data: int) -> int:
        """Show which element a beat begins with, and return what it should hold; gaps count as they come."""
        scope = self._scope
        scope.layer.value = expectation.started.index & 0xFFFF
        expected = bytearray(data.to_bytes(self._width, "little"))
        start = address - expectation.address
        for lane in range(self._width):
            offset = start + lane
            if 0 <= offset < len(expectation.data) and expectation.must_write[offset]:
                expected[lane] = int(expectation.data[offset])
        element = expectation.layout.element_at(start) if start >= 0 else None
        if isinstance(expectation.layout, FeatureLayout) and element is not None:
            for axis, value in zip("chw", element, strict=True):
                getattr(scope, axis).value = int(value)
        return int.from_bytes(expected, "little")


def _ascii(text: str) -> int:
    return int.from_bytes(text.encode("ascii")[:_NAME_BYTES], "big")
