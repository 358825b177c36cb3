"""The arbiters of the memory interface: turns as long as the weights say, where clients always have requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.detail import UnfairTurns
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.rule import Rule
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import Register, RegisterMap

_READS = {
    1: "CFG_RD_WEIGHT_0.rd_weight_sdp",
    2: "CFG_RD_WEIGHT_0.rd_weight_pdp",
    3: "CFG_RD_WEIGHT_0.rd_weight_cdp",
    5: "CFG_RD_WEIGHT_1.rd_weight_sdp_b",
    6: "CFG_RD_WEIGHT_1.rd_weight_sdp_n",
    8: "CFG_RD_WEIGHT_1.rd_weight_cdma_dat",
    9: "CFG_RD_WEIGHT_2.rd_weight_cdma_wt",
}
_WRITES = {1: "CFG_WR_WEIGHT_0.wr_weight_sdp", 2: "CFG_WR_WEIGHT_0.wr_weight_pdp", 3: "CFG_WR_WEIGHT_0.wr_weight_cdp"}
"""By id on the port, the field with the weight."""

_CLIENT_BITS = 0xF
"""The bits of an id that name the client, if a wrapper keeps them."""

_UNIT = "MCIF"
_FEWEST_TURNS = 8
_SHARE = 0.9
"""Share of turns that must be as long as the weight; in the others a client may be a cycle late."""


class ArbitrationRule(Rule):
    """Follows weights and requests of the primary memory interface; it judges the clients that a scenario names.

    Source: measured on the public nv_small RTL: a client keeps its turn for as many requests as its weight says, or
        until it has none, and of those that wait the next in a fixed order follows.
    """

    def __init__(
        self, registers: RegisterMap, reads: Iterable[int] = (), writes: Iterable[int] = (), *, wrapped: bool = False
    ) -> None:
        """Start from the reset values.

        Args:
            registers: The register map.
            reads: Ids of clients that always have read requests while all of them have any left.
            writes: Ids of those that always have writes.
            wrapped: Whether ids are those of a wrapper. Clients are known by the low bits then, or not at all: requests
                of a client that is never seen are not judged.
        """
        self._mask = _CLIENT_BITS if wrapped else -1
        self._clients = {True: tuple(reads), False: tuple(writes)}
        self._registers = registers
        self.reset()

    def reset(self) -> None:
        """Return to the reset values, as a reset of the DUT does."""
        names = {field.split(".")[0] for field in (*_READS.values(), *_WRITES.values())}
        self._words = {name: self._registers.register(_UNIT, name).reset for name in names}
        self._ids: dict[bool, list[NDArray[np.int64]]] = {True: [], False: []}

    def write(self, register: Register, value: int, cycle: int | None) -> tuple[()]:
        """Follow a write of a register; requests under earlier weights do not count."""
        if register.unit == _UNIT and register.name in self._words:
            self._words[register.name] = value
            self._ids = {True: [], False: []}
        return ()

    def see(self, ram: Ram, ids: NDArray[np.int64], *, reading: bool) -> None:
        """Take requests in the order of the port.

        Args:
            ram: The port.
            ids: Their ids, shape (n,).
            reading: Whether they are reads.
        """
        if self._clients[reading] and ram is Ram.MC:
            self._ids[reading].append(np.asarray(ids, dtype=np.int64) & self._mask)

    def finish(self, cycle: int | None) -> Iterator[Finding]:
        """Yield the clients whose turns are not as long as their weights."""
        for reading, clients in self._clients.items():
            seen = {int(client) for ids in self._ids[reading] for client in np.unique(ids)}
            if self._mask >= 0 and not seen.issuperset(clients):
                continue
            turns = _turns(self._ids[reading], clients)
            for client in clients:
                weight = self._weight(client, reading=reading)
                lengths = turns.get(client, [])
                wrong = [length for length in lengths if length != weight]
                few = len(lengths) < _FEWEST_TURNS
                if few or len(wrong) > (1 - _SHARE) * len(lengths):
                    most = 0 if few else max(set(wrong), key=wrong.count)
                    yield Finding(Check.MEMORY, UnfairTurns(Ram.MC, reading, client, weight, most, len(lengths)), cycle)

    def _weight(self, client: int, *, reading: bool) -> int:
        name, field = (_READS if reading else _WRITES)[client].split(".")
        return self._registers.register(_UNIT, name).field(field).extract(self._words[name])


def _turns(parts: list[NDArray[np.int64]], clients: tuple[int, ...]) -> dict[int, list[int]]:
    """Return the lengths of turns while all clients had requests: after the first of each, before the last of any.

    Those at both ends may be cut off, and are left out.
    """
    ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    places = [np.flatnonzero(ids == client) for client in clients]
    if not places or any(not len(place) for place in places):
        return {}
    inside = ids[max(place[0] for place in places) : min(place[-1] for place in places) + 1]
    ends = np.flatnonzero(np.diff(inside)) + 1
    turns: dict[int, list[int]] = {}
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        turns.setdefault(int(inside[begin]), []).append(end - begin)
    return turns
