"""Which layer wrote each beat of a run: by where it went, what it was, its id, and what ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.explain.evidence import AnyStarted
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.placed import Lacking, Pieces, owners_of_strays
from nvdla_tb.explain.walk import CubeLayout
from nvdla_tb.judge.beats import Beats, offsets_from
from nvdla_tb.nvdla.memory import Ram

_MOST_STRAYS = 1 << 17
"""Beats at wrong addresses, or with wrong bytes, up to which layers are looked for that lack them."""


@dataclass(frozen=True, eq=False)
class SeenLayer:
    """A layer, its expected bytes, how many beats were seen before it began, and what was loaded right before it.

    ``cut`` says that it was given up while it ran, as the run was stopped or the DUT reset.
    """

    started: AnyStarted
    layout: CubeLayout
    ram: Ram
    expected: Patch
    beats_before: int
    slack: float = 0.0
    given: tuple[Patch, ...] = ()
    cut: bool = False

    @property
    def frame(self) -> int | None:
        """The input frame that it is played for, where there is such a thing."""
        return self.started.id.frame


@dataclass(frozen=True, eq=False)
class Writers:
    """Finds which layer wrote each beat of a run.

    ::

        writers = Writers(seen.layers, seen.beats)
        writers.of_layer(0)                      # the beats that the first layer wrote, strays included

    Attributes:
        layers: in the order in which they began.
        beats: write beats of all ports, oldest first.
    """

    layers: Sequence[SeenLayer]
    beats: Sequence[Beats]

    def of_layer(self, number: int) -> Beats:
        """Return the beats that a layer wrote, including those that went to the wrong place."""
        layer = self.layers[number]
        if layer.frame is not None:
            beats, owner = self.in_turn
            return beats.take(owner == number)
        strays = self._strays[layer.ram]
        return self.port(layer.ram)[0].take((self._owned(number) & (strays < 0)) | (strays == number))

    @cached_property
    def in_turn(self) -> tuple[Beats, NDArray[np.int64]]:
        """All beats of a system that plays layers again for each frame, and the numbers of the layers they are of."""
        beats, _ = self.port(self.layers[0].ram)
        return beats, _owners([layer.expected for layer in self.layers], beats)

    @cached_property
    def _ports(self) -> dict[Ram, tuple[Beats, NDArray[np.int64]]]:
        """The beats of each port, and how many beats of all ports came before each of them."""
        found: dict[Ram, list[tuple[Beats, NDArray[np.int64]]]] = {}
        for part, start in zip(self.beats, accumulate(map(len, self.beats), initial=0), strict=False):
            found.setdefault(part.ram, []).append((part, np.arange(len(part)) + start))
        return {
            ram: (Beats.joined([part for part, _ in parts]), np.concatenate([at for _, at in parts]))
            for ram, parts in found.items()
        }

    def port(self, ram: Ram) -> tuple[Beats, NDArray[np.int64]]:
        """Return the beats of a port, and how many beats of all ports came before each of them."""
        return self._ports.get(ram, (no_beats(ram), np.zeros(0, dtype=np.int64)))

    @cached_property
    def _strays(self) -> dict[Ram, NDArray[np.int64]]:
        """For the beats of each port, the layer that lacks just what was written there; -1 for most."""
        return {ram: self._writers_of_strays(ram) for ram in {layer.ram for layer in self.layers}}

    def _writers_of_strays(self, ram: Ram) -> NDArray[np.int64]:
        beats, at = self.port(ram)
        usual = np.full(len(beats), -1, dtype=np.int64)
        if not len(beats):
            return usual
        width, lacking = beats.data.shape[1], []
        written = np.asarray(beats.strobe.any(axis=1))
        strays = written.copy()
        for number, layer in enumerate(self.layers):
            if layer.ram is not ram:
                continue
            own = self._owned(number)
            usual[own] = number
            wanted = Pieces.of_patch(layer.expected, width)
            pieces = Pieces.of_beats(beats.take(own & written), width)
            places = np.flatnonzero(own & written)[pieces.right(wanted)]
            # What is written again may be the same bytes of another layer.
            addresses, first = np.unique(beats.address[places], return_index=True)
            strays[places[first]] = False
            lacks = ~np.isin(wanted.address, addresses)
            if lacks.any():
                wholly = bool(lacks.all())
                lacking.append(Lacking(number, wanted.take(lacks), layer.beats_before, self._given_up(number), wholly))
        writers = np.full(len(beats), -1, dtype=np.int64)
        if lacking and strays.any() and np.count_nonzero(strays) <= _MOST_STRAYS:
            pieces = Pieces.of_beats(beats.take(strays), width)
            writers[strays] = owners_of_strays(lacking, pieces, at[strays], usual[strays])
        return writers

    def _owned(self, number: int) -> NDArray[np.bool_]:
        """Return which beats of its port a layer wrote: those into its surface, and strays while it was the last begun.

        Where ids tell units, it was the last begun of the unit. Of the cubes of a batch, the nearest one wrote them; a
        layer that was given up writes nothing any more.
        """
        layer = self.layers[number]
        first = layer.started.index - layer.started.cube
        batch = [other for other in self.layers if other.started.index - other.started.cube == first]
        part, at = self.port(layer.ram)
        unit, units = _writes_of(layer), self._units[layer.ram]
        known, others = np.isin(part.axi_id, list(units)), [other for other in self.layers if _writes_of(other) == unit]
        ours = np.isin(part.axi_id, [axi_id for axi_id, writer in units.items() if writer == unit])
        runs = (ours & _last_begun(layer, others, at)) | (~known & _last_begun(layer, self.layers, at))
        distances = [_distance(part, cube) for cube in batch]
        nearest = np.argmin(distances, axis=0) == batch.index(layer)
        strays = self._nowhere[layer.ram] & runs & nearest
        owned: NDArray[np.bool_] = (self._into(number) | strays) & (at < self._given_up(number))
        return owned

    @cached_property
    def _nowhere(self) -> dict[Ram, NDArray[np.bool_]]:
        """For the beats of each port, which went into no surface of a layer that had begun."""
        found = {}
        for ram in {layer.ram for layer in self.layers}:
            part, at = self.port(ram)
            found[ram] = np.ones(len(part), dtype=np.bool_)
            for layer in self.layers:
                if layer.ram is ram:
                    found[ram] &= ~(within(part, layer) & (at >= layer.beats_before))
        return found

    def _into(self, number: int) -> NDArray[np.bool_]:
        """Return which beats of its port went into the surface of a layer while it was that layer's."""
        layer, (part, at) = self.layers[number], self.port(self.layers[number].ram)
        again = [other.beats_before for other in self.layers[number + 1 :] if _overlap(other, layer)]
        return within(part, layer) & (at >= layer.beats_before) & (at < min(again, default=1 << 62))

    @cached_property
    def _units(self) -> dict[Ram, dict[int, str]]:
        """For each port the ids that tell the unit: each is that of most writes of one unit, and of no other's."""
        found: dict[Ram, dict[int, str]] = {layer.ram: {} for layer in self.layers}
        for ram, units in found.items():
            ids: dict[str, Counter[int]] = {}
            for number, layer in enumerate(self.layers):
                if layer.ram is ram:
                    own = self.port(ram)[0].axi_id[self._into(number)]
                    ids.setdefault(_writes_of(layer), Counter()).update(own.tolist())
            most = {unit: counts.most_common(1)[0] for unit, counts in ids.items() if counts}
            usual = [axi_id for axi_id, _ in most.values()]
            for unit, (axi_id, count) in most.items():
                if 2 * count > ids[unit].total() and usual.count(axi_id) == 1:
                    units[axi_id] = unit
        return found

    def _given_up(self, number: int) -> int:
        """Return how many beats came before a layer was given up, if others came after it, as after a reset."""
        later = self.layers[number + 1 :] if self.layers[number].cut else ()
        return min((other.beats_before for other in later if not other.cut), default=1 << 62)


def _writes_of(layer: SeenLayer) -> str:
    """Return the unit that writes the result of a layer."""
    unit = layer.started.engine.split("-")[-1]
    return "SDP" if unit == "CONV" else unit


def _last_begun(layer: SeenLayer, among: Sequence[SeenLayer], at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for which beats a layer is the last of some that had begun; ``at`` is how many came before each.

    Of layers that began together, because their program was complete at once, the first one runs.
    """
    first = layer.started.index - layer.started.cube
    earlier = (other for other in among if other.started.index < first and other.cut == layer.cut)
    if any(other.beats_before == layer.beats_before for other in earlier):
        return np.zeros(len(at), dtype=np.bool_)
    later = (other.beats_before for other in among if other.beats_before > layer.beats_before)
    return (at >= layer.beats_before) & (at < min(later, default=1 << 62))


def within(part: Beats, layer: SeenLayer) -> NDArray[np.bool_]:
    """Return which beats touch the surface of a layer."""
    at = offsets_from(part.address, layer.expected.address)
    touched: NDArray[np.bool_] = (at + part.data.shape[1] > 0) & (at < len(layer.expected.data))
    return touched


def _distance(part: Beats, layer: SeenLayer) -> NDArray[np.int64]:
    """Return how many bytes beats lie before or after the surface of a layer."""
    at = offsets_from(part.address, layer.expected.address)
    return np.maximum(np.maximum(-at, at - len(layer.expected.data)), 0)


def _overlap(one: SeenLayer, other: SeenLayer) -> bool:
    first, second = one.expected, other.expected
    return one.ram is other.ram and first.address < second.end and second.address < first.end


def no_beats(ram: Ram) -> Beats:
    """Return the beats of a port that has none."""
    empty = np.zeros(0, dtype=np.int64)
    lanes = np.zeros((0, 1), dtype=np.uint8)
    return Beats(ram, empty.astype(np.uint64), lanes, lanes.astype(np.bool_), empty, empty)


def _owners(results: Sequence[Patch], beats: Beats) -> NDArray[np.int64]:
    """Return the layer that wrote each beat: of those with a result there, each in its turn.

    A write where no layer has a result any more is of the layer that runs: the one that wrote last, or the next one
    when that has all of its result.
    """
    width = beats.data.shape[1]
    wanted: dict[int, list[int]] = {}
    left = [len(patch.data) for patch in results]
    for number, patch in enumerate(results):
        for address in range(patch.address - patch.address % width, patch.end, width):
            wanted.setdefault(address, []).append(number)
    running, found = 0, []
    for address, nbytes in zip(beats.address.tolist(), beats.strobe.sum(axis=1).tolist(), strict=True):
        there = wanted.get(address)
        if there:
            running = there.pop(0)
            left[running] -= nbytes
        elif left[running] <= 0 and running + 1 < len(results):
            running += 1
        found.append(running)
    return np.array(found, dtype=np.int64)
