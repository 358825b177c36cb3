"""Where and when bytes are wrong: the pattern of the errors, and the writes that carried them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.explain.evidence import Evidence
from tb.nvdla.layers import ConvLayer, PooledLayer

_LISTED = 6
_STRIKING_SHARE = 0.5
_LOOKED_AT = 1 << 18


def where(evidence: Evidence) -> list[str]:
    """Return the pattern of the wrong elements of a surface, a fact a line."""
    wrong, real, per_atom = evidence.bad_elements, evidence.channels, evidence.walk.atom_elements
    channels, height, width = wrong.shape
    count = int(wrong.sum())
    lines = [f"{count} of {wrong.size} elements ({_percent(count, wrong.size)})"]
    if count:
        lanes = wrong.reshape(-1, per_atom, height, width)
        for axes, name, total in (
            ((0, 2, 3), "places in the atom", per_atom),
            ((1, 2, 3), "surfaces", len(lanes)),
            ((0, 1, 3), "lines", height),
            ((0, 1, 2), "columns", width),
        ):
            lines.append(f"{name}: {_spread(np.flatnonzero(lanes.any(axis=axes)), total)}")
        per_group = _group_kernels(evidence)
        if per_group is not None:
            groups = np.unique(np.flatnonzero(wrong[:real].any(axis=(1, 2))) // per_group)
            lines.append(f"kernel groups: {_spread(groups, -(-real // per_group))}")
        if real < channels and not wrong[:real].any():
            lines.append("only padding channels of the last atom")
    if evidence.missing_elements.any():
        lines.append(f"{int(evidence.missing_elements.sum())} of them were never written")
    stray = np.flatnonzero(evidence.actual.known & ~evidence.truth.known)
    if len(stray):
        over = f", into the result of {' and of '.join(evidence.over)}" if evidence.over else ""
        first = f"first at {evidence.actual.address_of(int(stray[0])):#x}{over}"
        lines.append(f"{len(stray)} bytes written where nothing of the layer is expected, {first}")
    return lines


def _group_kernels(evidence: Evidence) -> int | None:
    """Return the kernels of a group, None for what is no convolution."""
    layer = None if evidence.started is None else evidence.started.layer
    if isinstance(layer, PooledLayer):
        layer = layer.producer
    return layer.weights.layout.kernels_per_group if isinstance(layer, ConvLayer) else None


@dataclass(frozen=True)
class When:
    """The writes that carried wrong bytes.

    Attributes:
        beats: write beats of the layer.
        bad: how many carried a wrong byte.
        first_cycle: cycle of the first of them.
        last_cycle: cycle of the last of them.
        ids: the AXI ids of them.
        first_number: which beat of the layer was the first of them, from 1.
        again: bytes that were written more than once.
    """

    beats: int
    bad: int
    first_cycle: int
    last_cycle: int
    ids: tuple[int, ...]
    first_number: int
    again: int

    @classmethod
    def of(cls, evidence: Evidence) -> When | None:
        """Return when the wrong bytes of a surface were written; None when no write carried one."""
        beats = evidence.beats
        if beats is None or not len(beats):
            return None
        bad = bad_beats(evidence)
        numbers = np.flatnonzero(bad)
        if not len(numbers):
            return None
        written = int(beats.strobe.sum())
        return cls(
            len(beats),
            len(numbers),
            int(beats.cycle[numbers[0]]),
            int(beats.cycle[numbers[-1]]),
            tuple(int(n) for n in np.unique(beats.axi_id[numbers])),
            int(numbers[0]) + 1,
            written - int(evidence.actual.known.sum()),
        )

    def lines(self) -> list[str]:
        """Return when, a fact a line."""
        ids = ", ".join(map(str, self.ids))
        lines = [
            f"{self.bad} of {self.beats} write beats carry wrong bytes: from cycle {self.first_cycle} "
            f"(beat {self.first_number}) to {self.last_cycle}, id {ids}"
        ]
        if self.again:
            lines.append(f"{self.again} bytes were written more than once")
        return lines


def bad_beats(evidence: Evidence) -> NDArray[np.bool_]:
    """Return which beats carried a wrong byte: (n,) of the beats of the layer."""
    beats = evidence.beats
    assert beats is not None
    if not len(beats):
        return np.zeros(0, dtype=np.bool_)
    width = beats.data.shape[1]
    rows = evidence.actual.positions(beats.address) // width
    truth = evidence.truth
    wrong = ~truth.known.reshape(-1, width)[rows] | (truth.data.reshape(-1, width)[rows] != beats.data)
    bad: NDArray[np.bool_] = (wrong & beats.strobe).any(axis=1)
    return bad


def statistics(evidence: Evidence) -> list[str]:
    """Return striking facts about the wrong values: differences, bits, zeros, old neighbours."""
    walk = evidence.walk
    got = walk.read_patch(evidence.got)
    wrong = evidence.bad_elements & ~evidence.missing_elements
    places = np.flatnonzero(wrong)
    if not len(places):
        return []
    chosen = np.unravel_index(places[:: -(-len(places) // _LOOKED_AT)], wrong.shape)
    bits = np.dtype(f"<u{got.dtype.itemsize}")
    have, want = got.view(bits)[chosen], evidence.cube.view(bits)[chosen]
    lines = []
    if got.dtype.kind != "f":
        difference = got[chosen].astype(np.int64) - evidence.cube[chosen].astype(np.int64)
        values, counts = np.unique(difference, return_counts=True)
        top = counts.argsort()[::-1][:3]
        common = ", ".join(f"{values[n]:+d} ({_percent(int(counts[n]), len(difference))})" for n in top)
        lines.append(f"difference got - expected: {len(values)} values, most often {common}")
    flips = [_percent(int(((have ^ want) >> bit & 1).sum()), len(have)) for bit in range(8 * bits.itemsize)]
    lines.append(f"wrong elements in which a bit differs, bit 0 first: {', '.join(flips)}")
    if (have == 0).any():
        lines.append(f"wrong elements that hold 0: {_percent(int((have == 0).sum()), len(have))}")
    for step, name in ((1, "next"), (-1, "previous")):
        for axis, what in ((0, "channel"), (1, "line"), (2, "column")):
            if evidence.cube.shape[axis] > 1:
                moved = np.roll(evidence.cube, -step, axis=axis).view(bits)[chosen]
                share = float((moved == have).mean())
                if share > _STRIKING_SHARE:
                    lines.append(f"{100 * share:.0f} % of the wrong elements hold that of the {name} {what}")
    return lines


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.3g} %"


def _spread(found: NDArray[np.int64], total: int) -> str:
    """Return indices in words: all, one by one, every so many, or a range."""
    if len(found) == total:
        return f"all {total}"
    if len(found) <= _LISTED:
        return f"{', '.join(map(str, found))} of {total}"
    steps = np.diff(found)
    if (steps == steps[0]).all():
        return (
            f"{found[0]} to {found[-1]}, every {steps[0]} of {total}"
            if steps[0] > 1
            else (f"{found[0]} to {found[-1]} of {total}")
        )
    return f"{len(found)} of {total}, {found[0]} to {found[-1]}"
