"""Details of broken rules of a port."""

from __future__ import annotations

from nvdla_tb.judge.detail.base import Detail
from nvdla_tb.nvdla.memory import Ram


class PortViolation(Detail, frozen=True, tag=True):
    """A rule of a memory port that was broken, as its index in ``wrapped_rules.MEMORY_RULES``."""

    ram: Ram
    rule: int


class CsbViolation(Detail, frozen=True, tag=True):
    """A rule of the register port that was broken, as its index in ``wrapped_rules.REGISTER_RULES``."""

    rule: int


class HandshakeViolation(Detail, frozen=True, tag=True):
    """A rule between host and processor that was broken.

    Attributes:
        rule: the number that its system gives the rule.
        must: the rule in words.
        frame: the frame that it is about.
        seen: what was seen instead.
    """

    rule: int
    must: str
    frame: int
    seen: str


class WrongOutstanding(Detail, frozen=True, tag=True):
    """Requests that waited for their answers, more at a time than the memory interface was told, or never as many.

    Attributes:
        ram: their port.
        reading: whether they are reads, counted in beats, or writes, counted in bursts.
        limit: how many were allowed.
        got: how many there were.
    """

    ram: Ram
    reading: bool
    limit: int
    got: int


class UnfairTurns(Detail, frozen=True, tag=True):
    """Turns of a client that always had requests, and that differ from its weight.

    Attributes:
        ram: the port.
        reading: whether they are of reads or of writes.
        axi_id: id of the client.
        weight: requests that a turn must have.
        got: requests of most turns that differ, or 0 when the client had hardly a turn.
        turns: how many turns the client had while others had requests, too.
    """

    ram: Ram
    reading: bool
    axi_id: int
    weight: int
    got: int
    turns: int


class UnknownPin(Detail, frozen=True, tag=True):
    """A pin that is X or Z while its valid is high, or out of reset when it needs none; ``ram`` None stands for CSB."""

    ram: Ram | None
    pin: str
    value: str


class Unmatched(Detail, frozen=True, tag=True):
    """Write addresses that lack data, and data beats that lack an address."""

    ram: Ram
    addresses: int
    beats: int
