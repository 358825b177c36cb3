"""Write beats of a memory port, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.nvdla.memory import Ram

BEAT_FIELDS = ("address", "data", "strobe", "cycle", "axi_id")
"""Arrays of beats, in the order of the attributes."""

_SPACE = 1 << 64


def offsets_from(addresses: NDArray[np.uint64], origin: int) -> NDArray[np.int64]:
    """Return how far addresses lie after an origin, negative before it. Distances wrap as addresses of 64 bits do."""
    return (addresses - np.uint64(origin % _SPACE)).astype(np.int64)


def addresses_at(origin: int, offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the addresses at offsets from an origin, modulo 2^64."""
    return offsets.astype(np.uint64) + np.uint64(origin % _SPACE)


@dataclass(frozen=True, eq=False)
class Beats:
    """Write beats of one port, in the order of the port.

    Attributes:
        ram: the port.
        address: uint64 (n,), of the first byte lane.
        data: uint8 (n, width), lane 0 first.
        strobe: bool (n, width), which lanes are written.
        cycle: int64 (n,), of the handshake.
        axi_id: int64 (n,), of the burst.
    """

    ram: Ram
    address: NDArray[np.uint64]
    data: NDArray[np.uint8]
    strobe: NDArray[np.bool_]
    cycle: NDArray[np.int64]
    axi_id: NDArray[np.int64]

    @classmethod
    def of(cls, ram: Ram, address: int, data: bytes, strobe: int, cycle: int, axi_id: int) -> Beats:
        """Return one beat.

        Args:
            ram: the port.
            address: address of the first byte lane.
            data: the whole beat, lane 0 first.
            strobe: a bit for each lane.
            cycle: cycle of the handshake.
            axi_id: AXI id of the burst.
        """
        lanes = [bool(strobe >> lane & 1) for lane in range(len(data))]
        return cls(
            ram,
            np.array([address], dtype=np.uint64),
            np.frombuffer(data, dtype=np.uint8).reshape(1, -1),
            np.array([lanes], dtype=np.bool_),
            np.array([cycle], dtype=np.int64),
            np.array([axi_id], dtype=np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[Beats]) -> Beats:
        """Return the beats of one port one after the other; there must be some."""
        if len(parts) == 1:
            return parts[0]
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in BEAT_FIELDS)
        return cls(parts[0].ram, *columns)

    def __len__(self) -> int:
        return len(self.address)

    def take(self, selection: NDArray[np.bool_]) -> Beats:
        """Return some of the beats."""
        return Beats(self.ram, *(getattr(self, name)[selection] for name in BEAT_FIELDS))
