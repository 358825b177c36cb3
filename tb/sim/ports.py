"""The memory ports of a DUT, as far as the judge asks about them."""

from __future__ import annotations

from tb.judge.ports import Ports
from tb.nvdla.memory import Ram
from tb.sim.backend import Backend
from tb.sim.pins import Pins, is_wrapped


class DutPorts(Ports):
    """What the agents of one bench know of its ports."""

    def __init__(self, pins: Pins, backend: Backend) -> None:
        """Bind the ports."""
        self._backend = backend
        self.wrapped = [ram for ram in pins.rams if is_wrapped(pins.dut, ram)]
        self.latency_cycles = {ram: 0 if ram in self.wrapped else pins.latency_cycles(ram) for ram in pins.rams}

    @property
    def handshakes(self) -> int:
        """Accepted addresses and write beats of all ports."""
        return sum(monitor.handshakes for monitor in self._backend.monitors.values())

    def take_most_outstanding(self) -> dict[Ram, tuple[int, int]]:
        """Return the most beats of reads and bursts of writes that waited at a time since the last call, by port."""
        return {ram: monitor.take_most_outstanding() for ram, monitor in self._backend.monitors.items()}

    def watch_reads(self) -> None:
        """Let the agents push reads from now on."""
        self._backend.watch_reads()
