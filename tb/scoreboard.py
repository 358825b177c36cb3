"""Judges every byte that the DUT writes, in bulk, and says where the first difference lies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tb.beats import Beats
from tb.memory import Ram
from tb.predictor import Expectation
from tb.tolerated import ToleratedSurface
from tb.verdict import Kind, Mismatch, Verdict

HISTORY_BEATS = 1 << 22
"""Beats that are kept at least, when there were so many."""

HISTORY_BYTES = 1 << 26
"""Bytes of expectations that are kept behind the oldest."""


@dataclass
class _WriteLog:
    """Write beats that wait to be judged, in the order of the port."""

    addresses: list[int] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    strobes: list[int] = field(default_factory=list)
    cycles: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)


@dataclass
class _Open:
    """An expectation and what has been seen of it."""

    expectation: Expectation
    written: NDArray[np.bool_]
    tolerated: ToleratedSurface | None = None
    ended: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        return self.expectation.must_write & ~self.written


@dataclass(frozen=True)
class _Bytes:
    """Single bytes with strobe set: address, value, and the index of the beat that carried them."""

    address: NDArray[np.uint64]
    value: NDArray[np.uint8]
    beat: NDArray[np.int64]

    def take(self, selection: NDArray[np.bool_]) -> _Bytes:
        return _Bytes(self.address[selection], self.value[selection], self.beat[selection])


class Scoreboard:
    """Compares writes with expectations; a byte belongs to the oldest layer that still lacks it.

    A byte written once more than layers expect it is a double write: tolerated with the same value,
    a mismatch with another. A byte that no layer writes is stray, stride gaps included.

    Elements of an expectation that has a tolerance are judged by it once both of their bytes are written,
    and the value that a repeated byte must have is the one written first.

    ``history`` holds what was judged, oldest first, and ``expected`` the expectations, each with the number
    of beats seen before it, so that a mismatch can be explained; of very long runs only the end is kept.
    """

    def __init__(self, exact: bool = False) -> None:
        """Start without expectations.

        Args:
            exact: Whether to compare every byte with the bit-accurate model, tolerances or not.
        """
        self.exact = exact
        self._logs: dict[Ram, _WriteLog] = {}
        self._bulk: list[Beats] = []
        self._open: list[_Open] = []
        self.verdict = Verdict()
        self.history: list[Beats] = []
        self.beats_seen = 0
        self.expected: list[tuple[Expectation, int]] = []

    def expect(self, expectation: Expectation) -> None:
        """Add what a layer must write; layers must be added in the order they run.

        Writes logged before are judged first: no layer is credited with what came before its start.
        """
        self.judge()
        self.expected.append((expectation, self.beats_seen))
        while sum(len(entry.data) for entry, _ in self.expected[1:]) > HISTORY_BYTES:
            self.expected.pop(0)
        tolerated = None
        if expectation.tolerated is not None and not self.exact:
            tolerated = ToleratedSurface(expectation, expectation.tolerated)
        self._open.append(_Open(expectation, np.zeros(len(expectation.data), dtype=np.bool_), tolerated))

    def write(self, ram: Ram, address: int, data: bytes, strobe: int, cycle: int, axi_id: int) -> None:
        """Log one write beat.

        Args:
            ram: Port it was seen on.
            address: Address of the first byte lane.
            data: The whole beat, lane 0 first.
            strobe: One bit per lane.
            cycle: Clock cycle of the handshake.
            axi_id: Id of the burst.
        """
        log = self._logs.setdefault(ram, _WriteLog())
        log.addresses.append(address)
        log.data.append(data)
        log.strobes.append(strobe)
        log.cycles.append(cycle)
        log.ids.append(axi_id)

    def write_beats(self, beats: Beats) -> None:
        """Log many write beats of one port at once."""
        self._bulk.append(beats)

    def overlay(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return ``data``, read at ``address``, with all bytes that running layers have yet to write."""
        self.judge()
        data = data.copy()
        for entry in self._open:
            expectation = entry.expectation
            start, stop = max(address, expectation.address), min(address + len(data), expectation.end)
            if entry.ended or expectation.ram is not ram or start >= stop:
                continue
            theirs = slice(start - expectation.address, stop - expectation.address)
            pending = entry.missing[theirs]
            data[start - address : stop - address][pending] = expectation.data[theirs][pending]
        return data

    def tolerated_bytes(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.bool_]:
        """Return for each byte of a range whether the tolerance of a layer judges it, instead of its exact value."""
        result = np.zeros(nbytes, dtype=np.bool_)
        places = np.arange(nbytes, dtype=np.uint64) + np.uint64(address)
        for expectation, _ in self.expected:
            if expectation.ram is ram and expectation.tolerated is not None and not self.exact:
                result |= _inside(expectation, places)
        return result

    def end_layer(self, index: int) -> None:
        """Note that the layer's end was seen: what it has not written by now is missing."""
        self.judge()
        for entry in self._open:
            if entry.expectation.started.index == index:
                entry.ended = True

    def abandon(self) -> None:
        """Give up layers whose end was not seen, as a reset of the DUT does: what they lack is not missing."""
        self.judge()
        self._open = [entry for entry in self._open if entry.ended]

    def judge(self) -> None:
        """Judge everything logged so far."""
        logs, self._logs = self._logs, {}
        bulk, self._bulk = self._bulk, []
        for beats in (*(_to_beats(ram, log) for ram, log in logs.items()), *bulk):
            self._judge_beats(beats)

    def finish(self) -> Verdict:
        """Judge the rest, count what is missing, and return the verdict."""
        self.judge()
        for entry in self._open:
            expectation, missing = entry.expectation, entry.missing
            offsets = np.flatnonzero(missing)
            self.verdict.layers += 1
            margin = None if entry.tolerated is None else entry.tolerated.margin
            if margin is not None:
                self.verdict.margins.append(margin)
            if len(offsets):
                first = self._mismatch(Kind.MISSING, expectation, int(offsets[0]), got=None, cycle=None, axi_id=None)
                self.verdict.add(Kind.MISSING, len(offsets), self._elements(expectation, offsets), first)
        self._open = []
        return self.verdict

    def _judge_beats(self, beats: Beats) -> None:
        ram = beats.ram
        self._remember(beats)
        rest = _to_bytes(beats)
        self.verdict.written_bytes += len(rest.address)
        for entry in self._open:
            if entry.expectation.ram is ram and not entry.ended:
                rest = self._claim(entry, rest, beats)
        if not len(rest.address):
            return
        covered = np.zeros(len(rest.address), dtype=np.bool_)
        for entry in reversed(self._open):
            if entry.expectation.ram is ram:
                inside = _inside(entry.expectation, rest.address) & ~covered
                self._judge_double(entry, rest.take(inside), beats)
                covered |= inside
        self._judge_stray(ram, rest.take(~covered), beats)

    def _remember(self, beats: Beats) -> None:
        self.history.append(beats)
        self.beats_seen += len(beats)
        kept = sum(len(part) for part in self.history)
        while kept - len(self.history[0]) > HISTORY_BEATS:
            kept -= len(self.history.pop(0))

    def _claim(self, entry: _Open, rest: _Bytes, beats: Beats) -> _Bytes:
        """Judge the bytes that ``entry`` still lacks and return the others."""
        expectation = entry.expectation
        wanted = _inside(expectation, rest.address)
        positions = np.flatnonzero(wanted)
        if not len(positions):
            return rest
        offsets = (rest.address[positions] - np.uint64(expectation.address)).astype(np.int64)
        lacking = ~entry.written[offsets]
        positions, offsets = positions[lacking], offsets[lacking]
        unique, first = np.unique(offsets, return_index=True)
        positions = positions[first]
        entry.written[unique] = True
        self.verdict.judged_bytes += len(unique)
        values = rest.value[positions]
        bad = values != expectation.data[unique] if entry.tolerated is None else entry.tolerated.write(unique, values)
        if bad.any():
            order = np.lexsort((unique[bad], rest.beat[positions[bad]]))[0]
            offset, position = int(unique[bad][order]), int(positions[bad][order])
            mismatch = self._at_beat(Kind.VALUE, expectation, offset, rest, position, beats)
            if entry.tolerated is not None and mismatch.element is not None:
                mismatch = replace(mismatch, rule=entry.tolerated.explain(mismatch.element))
            self.verdict.add(Kind.VALUE, int(bad.sum()), self._elements(expectation, unique[bad]), mismatch)
        keep = np.ones(len(rest.address), dtype=np.bool_)
        keep[positions] = False
        return rest.take(keep)

    def _judge_double(self, entry: _Open, again: _Bytes, beats: Beats) -> None:
        if not len(again.address):
            return
        expectation = entry.expectation
        data = expectation.data if entry.tolerated is None else entry.tolerated.bytes
        offsets = (again.address - np.uint64(expectation.address)).astype(np.int64)
        bad = again.value != data[offsets]
        self.verdict.repeated_bytes += int((~bad).sum())
        if bad.any():
            position = int(np.flatnonzero(bad)[0])
            mismatch = self._at_beat(Kind.DOUBLE, expectation, int(offsets[position]), again, position, beats)
            self.verdict.add(Kind.DOUBLE, int(bad.sum()), self._elements(expectation, offsets[bad]), mismatch)

    def _judge_stray(self, ram: Ram, stray: _Bytes, beats: Beats) -> None:
        if not len(stray.address):
            return
        beat = int(stray.beat[0])
        mismatch = Mismatch(
            Kind.STRAY,
            layer=None,
            ram=ram,
            element=None,
            address=int(stray.address[0]),
            expected=None,
            got=int(stray.value[0]),
            cycle=int(beats.cycle[beat]),
            axi_id=int(beats.axi_id[beat]),
        )
        self.verdict.add(Kind.STRAY, len(stray.address), len(stray.address), mismatch)

    def _at_beat(
        self, kind: Kind, expectation: Expectation, offset: int, rest: _Bytes, position: int, beats: Beats
    ) -> Mismatch:
        beat = int(rest.beat[position])
        got = int(rest.value[position])
        return self._mismatch(kind, expectation, offset, got, int(beats.cycle[beat]), int(beats.axi_id[beat]))

    def _mismatch(
        self,
        kind: Kind,
        expectation: Expectation,
        offset: int,
        got: int | None,
        cycle: int | None,
        axi_id: int | None,
    ) -> Mismatch:
        return Mismatch(
            kind,
            layer=expectation.started.name,
            ram=expectation.ram,
            element=expectation.layout.element_at(offset),
            address=expectation.address + offset,
            expected=int(expectation.data[offset]),
            got=got,
            cycle=cycle,
            axi_id=axi_id,
        )

    @staticmethod
    def _elements(expectation: Expectation, offsets: NDArray[np.int64]) -> int:
        """Count the elements that byte offsets belong to."""
        return len(np.unique(offsets // expectation.layout.precision.nbytes))


def _inside(expectation: Expectation, address: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which bytes lie at places that the layer must write."""
    # An address below the surface wraps to a huge offset; the end itself may not fit 64 bits.
    inside = address - np.uint64(expectation.address) < np.uint64(len(expectation.data))
    inside[inside] = expectation.must_write[(address[inside] - np.uint64(expectation.address)).astype(np.int64)]
    return inside


def _to_beats(ram: Ram, log: _WriteLog) -> Beats:
    width = len(log.data[0])
    value = np.frombuffer(b"".join(log.data), dtype=np.uint8).reshape(-1, width)
    strobe_bytes = b"".join(s.to_bytes(-(-width // 8), "little") for s in log.strobes)
    bits = np.unpackbits(np.frombuffer(strobe_bytes, dtype=np.uint8), bitorder="little")
    active = bits.reshape(len(log.data), -1)[:, :width].astype(np.bool_)
    address = np.array(log.addresses, dtype=np.uint64)
    return Beats(ram, address, value, active, np.array(log.cycles), np.array(log.ids))


def _to_bytes(beats: Beats) -> _Bytes:
    lanes = np.arange(beats.data.shape[1], dtype=np.uint64)
    number = np.broadcast_to(np.arange(len(beats))[:, np.newaxis], beats.data.shape)
    address = np.add(beats.address[:, np.newaxis], lanes, dtype=np.uint64)
    return _Bytes(address[beats.strobe], beats.data[beats.strobe], number[beats.strobe])
