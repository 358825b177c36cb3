"""The record of a run: the start and the expected bytes of each layer, and all write beats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from nvdla_tb.explain.evidence import Evidence, from_writes
from nvdla_tb.explain.memory import Bytes, Patch
from nvdla_tb.explain.placed import overwritten
from nvdla_tb.explain.writers import SeenLayer, Writers, no_beats, within
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.scoreboard import Scoreboard

_MOST_COMPARED, _MOST_COMPARED_BYTES = 6, 1 << 14
"""Layers that are right and that causes are tried on, and how large they may be."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A run.

    Attributes:
        layers: in the order in which they began.
        beats: write beats of all ports, oldest first.
        altered: bytes that the test altered for the DUT alone.
    """

    layers: tuple[SeenLayer, ...]
    beats: tuple[Beats, ...]
    altered: tuple[Patch, ...] = ()

    @classmethod
    def of(cls, scoreboard: Scoreboard, altered: Sequence[Patch] = ()) -> Seen:
        """Return the record of a scoreboard and of what a test altered; of a very long run only the end."""
        dropped = scoreboard.beats_seen - sum(len(part) for part in scoreboard.history)
        layers = [
            SeenLayer(
                expectation.started,
                expectation.layout,
                expectation.ram,
                Patch(expectation.address, expectation.data, expectation.must_write),
                before - dropped,
                expectation.slack,
                cut=expectation.id.index in scoreboard.cut,
            )
            for expectation, before in scoreboard.expected
            if before >= dropped
        ]
        return cls(tuple(layers), tuple(scoreboard.history), tuple(altered))

    @cached_property
    def _writers(self) -> Writers:
        return Writers(self.layers, self.beats)

    def evidence(self, initial: Sequence[Patch]) -> Iterator[Evidence]:
        """Yield the evidence of every layer that left wrong bytes; ``initial`` is what the first layers found."""
        for number, beats in self._wrong():
            yield replace(self._evidence(number, beats, initial), right=partial(self._right, initial, number))

    def _right(self, initial: Sequence[Patch], number: int) -> list[Evidence]:
        """Return the evidence of the layers next to one that are right, of its engine; of frames none."""
        engine = self.layers[number].started.engine
        wrong = {other for other, _ in self._wrong()}
        found = [
            other
            for other, layer in enumerate(self.layers)
            if other not in wrong
            and layer.started.engine == engine
            and layer.frame is None
            and len(layer.expected.data) <= _MOST_COMPARED_BYTES
        ]
        nearest = sorted(found, key=lambda other: abs(other - number))[:_MOST_COMPARED]
        return [self._evidence(other, no_beats(self.layers[other].ram), initial) for other in nearest]

    def _wrong(self) -> Iterator[tuple[int, Beats]]:
        """Yield the number and the write beats of every layer that left wrong bytes."""
        for number, layer in enumerate(self.layers):
            beats = self._writers.of_layer(number)
            own_writes = from_writes(
                layer.started, layer.layout, layer.expected, beats, Bytes.blank([]), slack=layer.slack
            )
            if replace(own_writes, cut=layer.cut).wrong.any():
                yield number, beats

    def every(self, initial: Sequence[Patch]) -> Iterator[Evidence]:
        """Yield the evidence of every layer, right or wrong, without its writes; see ``evidence``."""
        for number, layer in enumerate(self.layers):
            yield self._evidence(number, no_beats(layer.ram), initial)

    def _evidence(self, number: int, beats: Beats, initial: Sequence[Patch]) -> Evidence:
        layer, earlier = self.layers[number], self.layers[:number]
        found = [*initial, *_in_order(earlier), *layer.given]
        memory = Bytes.of(found)
        before = tuple(other.started.layer for other in earlier)
        evidence = from_writes(layer.started, layer.layout, layer.expected, beats, memory, before, layer.slack)
        over, overwritten_at = self._others_in(beats, number), self._overwritten(beats, number)
        altered = Bytes.of([*found, *self.altered]) if self.altered else None
        evidence = replace(evidence, over=over, overwritten=overwritten_at, cut=layer.cut, altered=altered)
        if not earlier and not layer.given:
            return evidence
        left = Bytes.of(found)
        last = int(beats.cycle.max()) if len(beats) else -1
        for place, other in enumerate(earlier):
            if other.frame is not None:
                written, owner = self._writers.in_turn
                left.write(written.take((owner == place) & within(written, other)))
                continue
            written, _ = self._writers.port(other.ram)
            left.write(written.take(within(written, other) & (written.cycle <= last)))
        wrong = not evidence.same(left.data, memory.data).all()
        # Frames are independent of each other: what earlier ones left was there before.
        others = [other for other in earlier if layer.frame is not None and other.frame != layer.frame]
        begin = Bytes.of([*found, *initial]).like()
        for patch in (*initial, *_in_order(others)):
            begin.paint(patch)
        return replace(evidence, initial=begin, left=left if wrong else None)

    def _others_in(self, beats: Beats, number: int) -> tuple[str, ...]:
        """Return the names of the other layers into whose results beats of a layer went."""
        layer = self.layers[number]
        outside = beats.take(~within(beats, layer))
        others = (other for other in self.layers if other.ram is layer.ram and other.frame is None)
        return tuple(other.started.name for other in others if within(outside, other).any())

    def _overwritten(self, beats: Beats, number: int) -> str | None:
        """Return in words when the result of a layer was overwritten after it was right, None when it was not."""
        layer = self.layers[number]
        cycle = None if layer.frame is not None or layer.slack else overwritten(layer.expected, beats)
        if cycle is None:
            return None
        before = sum(int(np.count_nonzero(part.cycle < cycle)) for part in self.beats)
        last = [other for other in self.layers if other.beats_before <= before][-1]
        ran = "" if last is layer else f", when {last.started.name} had begun"
        return f"from cycle {cycle} on{ran}"


def _in_order(layers: Iterable[SeenLayer]) -> Iterator[Patch]:
    """Yield what was loaded before layers, and their results."""
    for layer in layers:
        yield from (*layer.given, layer.expected)
