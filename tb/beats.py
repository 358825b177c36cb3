"""Write beats of a memory port, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.memory import Ram


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

    def __len__(self) -> int:
        return len(self.address)

    def take(self, selection: NDArray[np.bool_]) -> Beats:
        """Return some of the beats."""
        return Beats(
            self.ram,
            self.address[selection],
            self.data[selection],
            self.strobe[selection],
            self.cycle[selection],
            self.axi_id[selection],
        )
