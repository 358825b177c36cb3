"""Judges every byte that the DUT writes, in bulk, and says where the first difference lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.answers import LastWrite
from nvdla_tb.judge.beats import Beats, offsets_from
from nvdla_tb.judge.detail import Mismatch
from nvdla_tb.judge.expected import Expected, Meter
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Ram

HISTORY_BEATS = 1 << 22
"""Write beats are dropped once more beats than these came after them."""

HISTORY_BYTES = 1 << 26
"""An expectation is dropped once those after it have more bytes than these."""


@dataclass
class _Layer:
    """An expectation and what has been seen of it."""

    expectation: Expected
    written: NDArray[np.bool_]
    meter: Meter | None = None
    ended: bool = False
    last: LastWrite | None = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        return self.expectation.must_write & ~self.written


_Written = tuple[int, int, int]
"""A byte: its value, and id and cycle of the beat that carried it."""


@dataclass(frozen=True)
class _Bytes:
    """Single bytes of beats with strobe set: address, value, and the index of the beat that carried them."""

    beats: Beats
    address: NDArray[np.uint64]
    value: NDArray[np.uint8]
    beat: NDArray[np.int64]

    @classmethod
    def of(cls, beats: Beats) -> _Bytes:
        lanes = np.arange(beats.data.shape[1], dtype=np.uint64)
        number = np.broadcast_to(np.arange(len(beats))[:, np.newaxis], beats.data.shape)
        address = np.add(beats.address[:, np.newaxis], lanes, dtype=np.uint64)
        return cls(beats, address[beats.strobe], beats.data[beats.strobe], number[beats.strobe])

    def take(self, selection: NDArray[np.bool_]) -> _Bytes:
        return _Bytes(self.beats, self.address[selection], self.value[selection], self.beat[selection])

    def at(self, position: int) -> _Written:
        beat = self.beat[position]
        return int(self.value[position]), int(self.beats.axi_id[beat]), int(self.beats.cycle[beat])


class Scoreboard:
    """Compares writes with expectations; a byte belongs to the oldest layer that still lacks it.

    A byte written once more than layers expect it is a double write: tolerated with the same value,
    a mismatch with another. A layer that lacks bytes at its end and writes them later was done too early. A byte
    that no layer writes is stray, stride gaps included.

    Elements of an expectation that has a tolerance are judged by it once both of their bytes are written,
    and the value that a repeated byte must have is the one written first.

    ``history`` holds what was judged, oldest first, and ``expected`` the expectations, each with the number
    of beats seen before it, so that a mismatch can be explained; of very long runs only the end is kept. ``cut`` holds
    the indices of layers that were given up: what they have not written is no evidence.
    """

    def __init__(self, exact: bool = False) -> None:
        """Start without expectations; ``exact`` compares every byte with the bit-accurate model, tolerances or not."""
        self.verdict = Verdict()
        self.exact = exact
        self._waiting: dict[Ram, list[Beats]] = {}
        self._layers: list[_Layer] = []
        self.history: list[Beats] = []
        self.beats_seen = 0
        self.expected: list[tuple[Expected, int]] = []
        self.cut: set[int] = set()
        self._kept_beats = self._kept_bytes = 0
        self._tolerated: list[tuple[Ram, int, NDArray[np.bool_]]] = []
        self._unpredicted_from: int | None = None

    def expect(self, expectation: Expected) -> None:
        """Add what a layer must write; layers must be added in the order they run.

        Writes taken before are judged first: no layer is credited with what came before its start.
        """
        self.judge_pending()
        self.expected.append((expectation, self.beats_seen))
        self._kept_bytes += len(expectation.data)
        while self._kept_bytes - len(self.expected[0][0].data) > HISTORY_BYTES:
            self._kept_bytes -= len(self.expected.pop(0)[0].data)
        meter = None if self.exact else expectation.meter()
        if meter is not None:
            self._tolerated.append((expectation.ram, expectation.address, expectation.must_write))
        self._layers.append(_Layer(expectation, np.zeros(len(expectation.data), dtype=np.bool_), meter))

    def write_beats(self, beats: Beats) -> None:
        """Take write beats of one port, in the order of the port."""
        self._waiting.setdefault(beats.ram, []).append(beats)

    def overlay(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return ``data``, read at ``address``, with all bytes that running layers have yet to write."""
        self.judge_pending()
        data = data.copy()
        for entry in self._layers:
            if not entry.ended:
                theirs, ours = entry.expectation.overlap(ram, address, len(data))
                pending = entry.missing[theirs]
                data[ours][pending] = entry.expectation.data[theirs][pending]
        return data

    def tolerated_bytes(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.bool_]:
        """Return for each byte of a range whether the tolerance of a layer judges it, instead of its exact value."""
        result = np.zeros(nbytes, dtype=np.bool_)
        for port, start, mask in self._tolerated:
            first, stop = max(address, start), min(address + nbytes, start + len(mask))
            if port is ram and first < stop:
                result[first - address : stop - address] |= mask[first - start : stop - start]
        return result

    def end_layer(self, index: int) -> None:
        """Note that the layer's end was seen: what it has not written by now is missing."""
        self.judge_pending()
        for entry in self._layers:
            if entry.expectation.id.index == index:
                entry.ended = True

    def lacking(self, index: int) -> int:
        """Return how many bytes a layer has not written yet."""
        self.judge_pending()
        return sum(int(entry.missing.sum()) for entry in self._layers if entry.expectation.id.index == index)

    def last_write(self, index: int) -> LastWrite | None:
        """Return the last write by now that is a layer's, None when it has written nothing or is not known."""
        self.judge_pending()
        return next((entry.last for entry in self._layers if entry.expectation.id.index == index), None)

    def abandon(self) -> None:
        """Give up layers whose end was not seen, as a reset of the DUT does: what they lack is not missing."""
        self.judge_pending()
        self.cut |= {entry.expectation.id.index for entry in self._layers if not entry.ended}
        self._layers = [entry for entry in self._layers if entry.ended]

    def give_up(self) -> None:
        """Judge no write from now on, as nothing predicts what comes; what was judged by now stays."""
        self.abandon()
        self._unpredicted_from = len(self.history)

    def unpredicted_bytes(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.bool_]:
        """Return which bytes of a range were written since ``give_up``."""
        self.judge_pending()
        found = np.zeros(nbytes, dtype=np.bool_)
        for beats in self.history[self._unpredicted_from or 0 :]:
            if beats.ram is ram:
                written = _Bytes.of(beats).address
                inside = written - np.uint64(address) < np.uint64(nbytes)
                found[offsets_from(written[inside], address)] = True
        return found

    def forget(self) -> None:
        """Forget what explanations would need of layers that were given up."""
        self.history, self.beats_seen, self.expected = [], 0, []
        self._kept_beats = self._kept_bytes = 0
        self._tolerated = []

    def judge_pending(self) -> None:
        """Judge everything taken so far."""
        waiting, self._waiting = self._waiting, {}
        for parts in waiting.values():
            self._judge_beats(Beats.joined(parts))

    def finish(self) -> Verdict:
        """Judge the rest, count what is missing, and return the verdict."""
        self.judge_pending()
        for entry in self._layers:
            expectation, missing = entry.expectation, entry.missing
            offsets = np.flatnonzero(missing)
            self.verdict.layers += 1
            margin = None if entry.meter is None else entry.meter.margin
            if margin is not None:
                self.verdict.margins.append(margin)
            if len(offsets):
                self._add(Check.MISSING, expectation, offsets, int(offsets[0]), None)
        self._layers = []
        return self.verdict

    def _judge_beats(self, beats: Beats) -> None:
        ram = beats.ram
        self.history.append(beats)
        self.beats_seen += len(beats)
        self._kept_beats += len(beats)
        while self._kept_beats - len(self.history[0]) > HISTORY_BEATS:
            self._kept_beats -= len(self.history.pop(0))
        rest = _Bytes.of(beats)
        self.verdict.written_bytes += len(rest.address)
        if self._unpredicted_from is not None:
            return
        for entry in self._layers:
            if entry.expectation.ram is ram and not entry.ended:
                rest = self._claim(entry, rest)
        if not len(rest.address):
            return
        covered = np.zeros(len(rest.address), dtype=np.bool_)
        for entry in reversed(self._layers):
            if entry.expectation.ram is ram:
                inside = _inside(entry.expectation, rest.address) & ~covered
                again = rest.take(inside)
                if entry.ended:
                    again = self._judge_late(entry, again)
                self._judge_double(entry, again)
                covered |= inside
        self._judge_stray(ram, rest.take(~covered))

    def _claim(self, entry: _Layer, rest: _Bytes) -> _Bytes:
        """Judge the bytes that ``entry`` still lacks and return the others."""
        expectation = entry.expectation
        wanted = _inside(expectation, rest.address)
        positions = np.flatnonzero(wanted)
        if not len(positions):
            return rest
        offsets = offsets_from(rest.address[positions], expectation.address)
        lacking = ~entry.written[offsets]
        positions, offsets = positions[lacking], offsets[lacking]
        unique, first = _first_of_each(offsets)
        positions = positions[first]
        if len(positions):
            beats, beat = rest.beats, int(rest.beat[positions].max())
            axi_id, cycle, address = (int(each[beat]) for each in (beats.axi_id, beats.cycle, beats.address))
            entry.last = LastWrite(beats.ram, axi_id, cycle, address)
        entry.written[unique] = True
        self.verdict.judged_bytes += len(unique)
        values = rest.value[positions]
        bad = values != expectation.data[unique] if entry.meter is None else entry.meter.write(unique, values)
        if bad.any():
            order = np.lexsort((unique[bad], rest.beat[positions[bad]]))[0]
            offset, position = int(unique[bad][order]), int(positions[bad][order])
            rule = None
            if entry.meter is not None:
                element = expectation.element_at(offset)
                rule = None if element is None else entry.meter.explain(element)
            self._add(Check.VALUE, expectation, unique[bad], offset, rest.at(position), rule)
        keep = np.ones(len(rest.address), dtype=np.bool_)
        keep[positions] = False
        return rest.take(keep)

    def _judge_late(self, entry: _Layer, again: _Bytes) -> _Bytes:
        """Judge the bytes that a layer writes after its end was seen, and return the others."""
        expectation = entry.expectation
        offsets = offsets_from(again.address, expectation.address)
        positions = np.flatnonzero(entry.missing[offsets])
        if len(positions):
            first = int(positions[0])
            self._add(Check.LATE, expectation, np.unique(offsets[positions]), int(offsets[first]), again.at(first))
        return self._claim(entry, again)

    def _judge_double(self, entry: _Layer, again: _Bytes) -> None:
        expectation = entry.expectation
        data = expectation.data if entry.meter is None else entry.meter.bytes
        offsets = offsets_from(again.address, expectation.address)
        bad = again.value != data[offsets]
        self.verdict.repeated_bytes += int((~bad).sum())
        if bad.any():
            position = int(np.flatnonzero(bad)[0])
            self._add(Check.DOUBLE, expectation, offsets[bad], int(offsets[position]), again.at(position))

    def _judge_stray(self, ram: Ram, stray: _Bytes) -> None:
        if not len(stray.address):
            return
        got, axi_id, cycle = stray.at(0)
        detail = Mismatch(
            nbytes=len(stray.address),
            elements=len(stray.address),
            ram=ram,
            address=int(stray.address[0]),
            element=None,
            expected=None,
            got=got,
            axi_id=axi_id,
        )
        self.verdict.add(Finding(Check.STRAY, detail, cycle))

    def _add(
        self,
        check: Check,
        expectation: Expected,
        offsets: NDArray[np.int64],
        first: int,
        written: _Written | None,
        rule: str | None = None,
    ) -> None:
        """Add wrong bytes of a layer, of which that at offset ``first`` was wrong first."""
        got, axi_id, cycle = (None, None, None) if written is None else written
        detail = expectation.mismatch(offsets, first, got, axi_id, rule)
        self.verdict.add(Finding(check, detail, cycle, expectation.id))


def _first_of_each(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the values without repetition, ascending, and where each stands first.

    That is ``np.unique``, whose first call takes longer than to judge a layer, as it imports ``numpy.ma``.
    """
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    first = np.concatenate([np.ones(min(1, len(values)), dtype=np.bool_), ascending[1:] != ascending[:-1]])
    return ascending[first], order[first]


def _inside(expectation: Expected, address: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which bytes lie at places that the layer must write."""
    # An address below the surface wraps to a huge offset; the end itself may not fit 64 bits.
    inside = address - np.uint64(expectation.address) < np.uint64(len(expectation.data))
    inside[inside] = expectation.must_write[offsets_from(address[inside], expectation.address)]
    return inside
