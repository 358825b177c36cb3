"""When layers end that run after each other and beside each other, as predicted."""

from __future__ import annotations

from dataclasses import dataclass

from nvdla_models.cbuf import bank_entries
from nvdla_models.layout import FeatureLayout
from nvdla_tb.nvdla.layers import CdpLayer, ConvLayer, Layer, PdpLayer, SdpLayer, first_of
from nvdla_tb.nvdla.program.conv_buffer import FETCHES_ALL, Fetch
from nvdla_tb.nvdla.timing.convolution import Array
from nvdla_tb.nvdla.timing.machine import (
    CONV_END_CYCLES,
    CONV_START_CYCLES,
    FLUSH_CYCLES,
    PAD_CYCLES,
    READS_IN_FLIGHT,
    ROUND_TRIP_CYCLES,
    STREAM_END_CYCLES,
    STREAM_START_CYCLES,
    Machine,
)


@dataclass(frozen=True)
class Span:
    """From the write that enables a layer, or the end of the unit's layer before, to the read of its done bit."""

    begun: float
    ended: float

    @property
    def cycles(self) -> int:
        """Cycles of the layer."""
        return max(round(self.ended - self.begun), 1)


class Timeline:
    """Predicts layers in the order in which their units take them.

    ::

        timeline = Timeline(machine)
        first = timeline.add(conv, enabled=0)
        second = timeline.add(pooling, enabled=first.ended)
        print(first.cycles, second.cycles)

    A layer that is enabled while its units run another fetches meanwhile, and begins when they are free.
    """

    def __init__(self, machine: Machine) -> None:
        """Start with idle units."""
        self._machine = machine
        self._array = Array()
        self._banks: tuple[int, int] | None = None
        self._entries = 0
        self._fetched = 0.0
        self._ended: dict[str, float] = {}

    def add(self, layer: Layer, enabled: float, fetch: Fetch = FETCHES_ALL) -> Span | None:
        """Predict a layer, None for one whose kind was not measured: Winograd, batches, RUBIK and BDMA."""
        first = first_of(layer)
        begun = max(enabled, self._ended.get(layer.unit, 0.0))
        if isinstance(first, ConvLayer):
            if first.params.winograd or first.batch is not None:
                return None
            ended = self._convolution(first, enabled, fetch)
        elif isinstance(first, SdpLayer | PdpLayer | CdpLayer):
            ended = self._stream(first, enabled)
        else:
            return None
        # One pipeline hands over to the other an element a cycle, as it takes them.
        for unit in dict.fromkeys((first.unit, layer.unit)):
            self._ended[unit] = ended
        return Span(begun, ended)

    def _convolution(self, layer: ConvLayer, enabled: float, fetch: Fetch) -> float:
        """Return when a convolution ends."""
        array, latency = self._array, self._machine.latency_cycles
        banks = layer.cbuf.data_banks, layer.cbuf.weight_banks
        entries = layer.entries * layer.slices
        room = bank_entries(self._machine.config, layer.cbuf.data_banks)
        # CDMA fetches one layer after the other, while CSC runs the layer before where the buffer is divided as for it.
        fetched = max(enabled, self._fetched if banks == self._banks else array.free)
        waiting = min(max(entries + self._entries - room, 0) / entries, 1.0) if banks == self._banks else 0.0
        self._banks, self._entries = banks, entries
        array.delivered = max(array.delivered, self._ended.get(layer.unit, 0.0) - CONV_END_CYCLES - latency)
        begun = fetched + CONV_START_CYCLES + latency
        self._fetched = array.run(layer, fetch, self._machine, begun, waiting)
        array.free += FLUSH_CYCLES
        return array.delivered + CONV_END_CYCLES + latency

    def _stream(self, layer: SdpLayer | PdpLayer | CdpLayer, enabled: float) -> float:
        """Return when a layer ends that takes a cube from memory, an element a cycle.

        Memory may hold that up: a unit has only so many reads in flight.
        """
        machine, latency = self._machine, self._machine.latency_cycles
        config = machine.config
        layout = layer.src.layout
        assert isinstance(layout, FeatureLayout)
        _, height, width = layout.shape
        surfaces = layout.padded_channels // config.atom_elements(layout.precision)
        elements = config.atom_elements(layout.precision)
        trip = (latency + ROUND_TRIP_CYCLES[layer.unit]) / READS_IN_FLIGHT
        cycles = surfaces * height * width * max(elements, trip, machine.beat_cycles)
        if isinstance(layer, PdpLayer):
            cycles += surfaces * height * PAD_CYCLES * (layer.params.pad_left + layer.params.pad_right)
        ready = max(enabled + STREAM_START_CYCLES + latency, self._ended.get(layer.unit, 0.0))
        return ready + cycles + STREAM_END_CYCLES[layer.unit] + latency
