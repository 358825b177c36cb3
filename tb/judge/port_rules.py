"""The rules that a memory port's master and its slave must keep."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from tb.nvdla.memory import Ram

RULES = (
    "arvalid must stay until arready",
    "araddr, arid and arlen must stay until arready",
    "awvalid must stay until awready",
    "awaddr, awid and awlen must stay until awready",
    "wvalid must stay until wready",
    "wdata, wstrb and wlast must stay until wready",
    "wlast must be set on the last beat of a burst and on no other",
    "rvalid must stay until rready",
    "rid, rdata and rlast must stay until rready",
    "bvalid must stay until bready",
    "bid must stay until bready",
    "rid must be that of a read which has not been answered",
    "rlast must be set on the last beat of an answer and on no other",
    "rdata must be what memory holds, and answers of an id must keep the order of its reads",
    "bid must be that of a whole write which has not been answered",
    "arvalid, awvalid and wvalid must be low in reset",
    "arid must be that of a client of the memory interface",
    "awid must be that of a client of the memory interface",
)
"""Those of the master, which the compiled harness counts in this order, and after them those of the slave; the last
three are the master's again.

Source: AMBA AXI protocol specification, "Handshake process", "Write data channel" and "Ordering model".
"""

READ_CLIENTS, WRITE_CLIENTS = 12, 5
"""Clients of the memory interface, whose ids count from 0: BDMA, SDP, PDP, CDP and RUBIK; those that only read follow.

The last two are masks and sizes of compressed weights, which the embedded device reads by ids of their own.

Source: read off the public nv_small and nv_large RTL; ports of wrappers may have other ids.
"""

PORT_PREFIX = {Ram.MC: "nvdla_core2dbb", Ram.CVSRAM: "nvdla_core2cvsram"}
"""What the pins of each port begin with."""

CHANNELS = {
    "ar": ("arvalid", "arready", ("araddr", "arid", "arlen")),
    "aw": ("awvalid", "awready", ("awaddr", "awid", "awlen")),
    "w": ("wvalid", "wready", ("wdata", "wstrb", "wlast")),
    "r": ("rvalid", "rready", ("rid", "rdata", "rlast")),
    "b": ("bvalid", "bready", ("bid",)),
}
"""Valid, ready and payload of the channels."""

_DROPPED = {"ar": 0, "aw": 2, "w": 4, "r": 7, "b": 9}
"""The first rule of each channel; its next is that of a payload that changes."""

LAST, READ_UNASKED, READ_LAST, READ_DATA, WRITE_UNASKED, IN_RESET = 6, 11, 12, 13, 14, 15
READ_CLIENT, WRITE_CLIENT = 16, 17


class PortRules:
    """Judges what is seen of one port, edge by edge."""

    def __init__(self, violate: Callable[[int], None], *, judges_ids: bool = False) -> None:
        """Start without transfers.

        Args:
            violate: Called with the rule, when one is broken for the first time.
            judges_ids: Whether ids must be those of clients of the memory interface.
        """
        self._violate, self._judges_ids = violate, judges_ids
        self._broken: set[int] = set()
        self.flush()

    def flush(self) -> None:
        """Forget what is offered and owed, as a reset of the DUT does."""
        self._offers: dict[str, tuple[int, ...]] = {}
        self._reads: dict[int, deque[deque[int | None]]] = {}
        self._writes: dict[int, int] = {}

    def is_waiting(self, channel: str) -> bool:
        """Return whether a channel has offered something that was not taken yet."""
        return channel in self._offers

    def offer(self, channel: str, payload: tuple[int, ...] | None, *, taken: bool) -> None:
        """Compare what a channel offers with what it offered while it had to wait.

        Args:
            channel: key of ``CHANNELS``.
            payload: what it offers, or None when its valid is low.
            taken: whether ready is high.
        """
        held = self._offers.pop(channel, None)
        if payload is None:
            if held is not None:
                self.broken(_DROPPED[channel])
            return
        if held is not None and held != payload:
            self.broken(_DROPPED[channel] + 1)
        if not taken:
            self._offers[channel] = payload

    def read(self, axi_id: int, words: Sequence[int | None]) -> None:
        """Note a read that was accepted, and the words that memory holds; None where that is not known."""
        if self._judges_ids and axi_id >= READ_CLIENTS:
            self.broken(READ_CLIENT)
        self._reads.setdefault(axi_id, deque()).append(deque(words))

    def read_answer(self, axi_id: int, data: int, *, last: bool) -> None:
        """Judge one beat of an answer that was taken."""
        owed = self._reads.get(axi_id)
        if not owed:
            self.broken(READ_UNASKED)
            return
        words = owed[0]
        if words.popleft() not in (None, data):
            self.broken(READ_DATA)
        if last != (not words):
            self.broken(READ_LAST)
        if not words:
            owed.popleft()

    def write(self, axi_id: int) -> None:
        """Note a write whose address and data were accepted."""
        if self._judges_ids and axi_id >= WRITE_CLIENTS:
            self.broken(WRITE_CLIENT)
        self._writes[axi_id] = self._writes.get(axi_id, 0) + 1

    def write_answer(self, axi_id: int) -> None:
        """Judge the answer to a write that was taken."""
        if not self._writes.get(axi_id):
            self.broken(WRITE_UNASKED)
            return
        self._writes[axi_id] -= 1

    def broken(self, rule: int) -> None:
        """Report a rule, once."""
        if rule not in self._broken:
            self._broken.add(rule)
            self._violate(rule)
