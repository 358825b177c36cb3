"""The memory ports, as far as the judge asks about them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tb.nvdla.memory import Ram


class Ports:
    """Ports that nothing moves on, as those of the model alone; a bench overrides what its own do.

    Attributes:
        wrapped: those of a wrapper, which may change ids and answer writes early.
        latency_cycles: from a read to its first answer at least, by port; 0 where ids are not known.
    """

    wrapped: Collection[Ram] = ()
    latency_cycles: Mapping[Ram, int] = dict.fromkeys(Ram, 0)

    @property
    def handshakes(self) -> int:
        """A count that grows whenever a port moves."""
        return 0

    def take_most_outstanding(self) -> Mapping[Ram, tuple[int, int]]:
        """Return the most beats of reads and bursts of writes that waited at a time since the last call, by port."""
        return {}

    def watch_reads(self) -> None:
        """Take note that reads are needed from now on."""
