"""The rules that a memory port's master and its slave must keep."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from nvdla_tb.judge.rule import NumberedRule
from nvdla_tb.nvdla.memory import Ram

READ_CLIENTS, WRITE_CLIENTS = 12, 5
"""Clients of the memory interface, whose ids count from 0: BDMA, SDP, PDP, CDP and RUBIK; those that only read follow.

The last two are masks and sizes of compressed weights, which the embedded device reads by ids of their own.

Source: read off the public nv_small and nv_large RTL; ports of wrappers may have other ids.
"""

PORT_PREFIX = {Ram.MC: "nvdla_core2dbb", Ram.CVSRAM: "nvdla_core2cvsram"}
"""What the pins of each port begin with."""

PORT_SCOPES = {Ram.MC: "bench_mc", Ram.CVSRAM: "bench_cvsram"}
"""The scope of each port in waves."""

CHANNELS = {
    "ar": ("arvalid", "arready", ("araddr", "arid", "arlen")),
    "aw": ("awvalid", "awready", ("awaddr", "awid", "awlen")),
    "w": ("wvalid", "wready", ("wdata", "wstrb", "wlast")),
    "r": ("rvalid", "rready", ("rid", "rdata", "rlast")),
    "b": ("bvalid", "bready", ("bid",)),
}
"""Valid, ready and payload of the channels."""


class PortRule(NumberedRule):
    """The master's rules, which the compiled harness counts in this order, the slave's, and three more of the master's.

    Source: AMBA AXI protocol specification, "Handshake process", "Write data channel" and "Ordering model".
    """

    AR_DROPPED = "arvalid must stay until arready"
    AR_CHANGED = "araddr, arid and arlen must stay until arready"
    AW_DROPPED = "awvalid must stay until awready"
    AW_CHANGED = "awaddr, awid and awlen must stay until awready"
    W_DROPPED = "wvalid must stay until wready"
    W_CHANGED = "wdata, wstrb and wlast must stay until wready"
    LAST = "wlast must be set on the last beat of a burst and on no other"
    R_DROPPED = "rvalid must stay until rready"
    R_CHANGED = "rid, rdata and rlast must stay until rready"
    B_DROPPED = "bvalid must stay until bready"
    B_CHANGED = "bid must stay until bready"
    READ_UNASKED = "rid must be that of a read which has not been answered"
    READ_LAST = "rlast must be set on the last beat of an answer and on no other"
    READ_DATA = "rdata must be what memory holds, and answers of an id must keep the order of its reads"
    WRITE_UNASKED = "bid must be that of a whole write which has not been answered"
    IN_RESET = "arvalid, awvalid and wvalid must be low in reset"
    READ_CLIENT = "arid must be that of a client of the memory interface"
    WRITE_CLIENT = "awid must be that of a client of the memory interface"


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
                self.broken(PortRule[f"{channel.upper()}_DROPPED"])
            return
        if held is not None and held != payload:
            self.broken(PortRule[f"{channel.upper()}_CHANGED"])
        if not taken:
            self._offers[channel] = payload

    def read(self, axi_id: int, words: Sequence[int | None]) -> None:
        """Note a read that was accepted, and the words that memory holds; None where that is not known."""
        if self._judges_ids and axi_id >= READ_CLIENTS:
            self.broken(PortRule.READ_CLIENT)
        self._reads.setdefault(axi_id, deque()).append(deque(words))

    def read_answer(self, axi_id: int, data: int, *, last: bool) -> None:
        """Judge one beat of an answer that was taken."""
        owed = self._reads.get(axi_id)
        if not owed:
            self.broken(PortRule.READ_UNASKED)
            return
        words = owed[0]
        if words.popleft() not in (None, data):
            self.broken(PortRule.READ_DATA)
        if last != (not words):
            self.broken(PortRule.READ_LAST)
        if not words:
            owed.popleft()

    def write(self, axi_id: int) -> None:
        """Note a write whose address and data were accepted."""
        if self._judges_ids and axi_id >= WRITE_CLIENTS:
            self.broken(PortRule.WRITE_CLIENT)
        self._writes[axi_id] = self._writes.get(axi_id, 0) + 1

    def write_answer(self, axi_id: int) -> None:
        """Judge the answer to a write that was taken."""
        if not self._writes.get(axi_id):
            self.broken(PortRule.WRITE_UNASKED)
            return
        self._writes[axi_id] -= 1

    def broken(self, rule: int) -> None:
        """Report a rule, once."""
        if rule not in self._broken:
            self._broken.add(rule)
            self._violate(rule)
