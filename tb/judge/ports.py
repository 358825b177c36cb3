"""The memory ports, as far as the judge asks about them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tb.nvdla.memory import Ram


class PortMonitor(Protocol):
    """What watches a port."""

    @property
    def handshakes(self) -> int:
        """A count that grows whenever the port moves."""

    def take_most_outstanding(self) -> tuple[int, int]:
        """Return the most beats of reads and bursts of writes that waited at a time since the last call."""


@dataclass(frozen=True)
class Ports:
    """The memory ports; without monitors nothing moves on them, as on those of the model alone.

    Attributes:
        monitors: what watches each of them.
        wrapped: those of a wrapper, which may change ids and answer writes early.
        latency_cycles: from a read to its first answer at least, by port; 0 where ids are not known.
        watch_reads: is called when reads are needed from now on.
    """

    monitors: Mapping[Ram, PortMonitor] = field(default_factory=dict)
    wrapped: Collection[Ram] = ()
    latency_cycles: Mapping[Ram, int] = field(default_factory=lambda: dict.fromkeys(Ram, 0))
    watch_reads: Callable[[], None] = lambda: None

    @property
    def handshakes(self) -> int:
        """Accepted addresses and write beats of all ports."""
        return sum(monitor.handshakes for monitor in self.monitors.values())

    def take_most_outstanding(self) -> dict[Ram, tuple[int, int]]:
        """Return the most beats of reads and bursts of writes that waited at a time since the last call, by port."""
        return {ram: monitor.take_most_outstanding() for ram, monitor in self.monitors.items()}
