"""An explanation in words: where, when and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.counting import counted
from nvdla_tb.explain.build import AnyLayer
from nvdla_tb.explain.cause import Cause, Fit
from nvdla_tb.explain.causes import CAUSES
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.rank import Diagnosis, diagnose
from nvdla_tb.explain.traits import traits_of
from nvdla_tb.judge.beats import offsets_from
from nvdla_tb.nvdla.layers import ConvLayer, PdpLayer, PooledLayer
from nvdla_tb.stimulus.explained import ExplainedLayer, Traits

_LISTED = 5


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where, when and why the bytes of a surface are wrong."""

    evidence: Evidence
    diagnosis: Diagnosis

    @cached_property
    def where(self) -> list[str]:
        """The pattern of the wrong elements, a fact a line."""
        evidence = self.evidence
        layer = None if evidence.started is None else evidence.started.layer
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
            if isinstance(layer, PdpLayer) and layer.split is not None:
                columns = np.flatnonzero(wrong.any(axis=(0, 1)))
                parts = np.unique(np.searchsorted(layer.split.begins, columns, side="right") - 1)
                lines.append(f"parts of the width: {_spread(parts, layer.split.parts)}")
            per_group = _group_kernels(layer)
            if per_group is not None:
                groups = np.unique(np.flatnonzero(wrong[:real].any(axis=(1, 2))) // per_group)
                lines.append(f"kernel groups: {_spread(groups, -(-real // per_group))}")
            if real < channels and not wrong[:real].any():
                lines.append("only padding channels of the last atom")
        if evidence.missing_elements.any():
            lines.append(f"{int(evidence.missing_elements.sum())} of them were never written")
        corrected = np.argwhere(corrected_elements(evidence))
        if len(corrected):
            c, h, w = corrected[0]
            how_many = counted(len(corrected), "element")
            lines.append(f"wrong at first and right in the end: {how_many}, first at c={c} h={h} w={w}")
        stray = np.flatnonzero(evidence.actual.known & ~evidence.truth.known)
        if len(stray):
            over = f", into the result of {' and of '.join(evidence.over)}" if evidence.over else ""
            first = f"first at {evidence.actual.address_of(int(stray[0])):#x}{over}"
            lines.append(f"{counted(len(stray), 'byte')} written where nothing of the layer is expected, {first}")
        return lines

    @cached_property
    def when(self) -> list[str]:
        """When the wrong bytes were written, a fact a line; empty when no write carried one."""
        evidence = self.evidence
        beats, numbers = evidence.beats, np.flatnonzero(bad_beats(evidence))
        if beats is None or not len(numbers):
            return []
        ids = ", ".join(map(str, np.unique(beats.axi_id[numbers])))
        first, last = beats.cycle[numbers[[0, -1]]]
        lines = [
            f"{len(numbers)} of {len(beats)} write beats carry wrong bytes: from cycle {first} "
            f"(beat {numbers[0] + 1}) to {last}, id {ids}"
        ]
        again = int(beats.strobe.sum()) - int(evidence.actual.known.sum())
        return [*lines, f"{counted(again, 'byte')} written more than once"] if again else lines

    @property
    def causes(self) -> tuple[Fit, ...]:
        """Probable causes, best first; a symptom alone when no cause fits; empty when nothing does."""
        first = self.diagnosis.first
        if first is None:
            return ()
        return self.diagnosis.fits if first is self.diagnosis.fits[0] else (first,)

    @property
    def equal(self) -> tuple[Fit, ...]:
        """The first cause, and those that predict the very same bytes."""
        return tuple(fit for fit in self.causes if fit.prediction == self.causes[0].prediction)

    @property
    def headline(self) -> str:
        """The probable cause in one line, or that none fits."""
        return str(self.causes[0]) if self.causes else "no known cause fits"

    @cached_property
    def traits(self) -> Traits | None:
        """What the arithmetic meets in the wrong elements, where no cause is probable and they can be told."""
        return None if self.diagnosis.probable is not None else traits_of(self.evidence)

    def told(self, handovers: Sequence[str] = ()) -> ExplainedLayer:
        """Return the explanation as data, with what was seen of hand-overs inside."""
        wrong = self.evidence.wrong_bytes
        if not wrong:
            return ExplainedLayer(self.evidence.name, 0, handovers=list(handovers))
        return ExplainedLayer(
            self.evidence.name,
            wrong,
            self.where,
            self.when,
            self.reasons(),
            self.headline,
            [fit.name for fit in self.causes],
            [fit.name for fit in self.equal],
            bool(self.causes) and self.causes[0].symptom,
            self.traits,
            list(handovers),
        )

    def lines(self) -> list[str]:
        """Return the explanation as text."""
        return self.told().lines

    def reasons(self) -> list[str]:
        """Return the ranked causes, or what stands out when none fits."""
        diagnosis = self.diagnosis
        lines = []
        if not self.causes:
            lines.append(f"no known cause fits; {diagnosis.tried} were tried")
            lines += [f"closest: {fit}" for fit in diagnosis.fits[:2]]
            lines += statistics(self.evidence)
        else:
            # What fits less than a symptom says nothing that the symptom does not.
            listed = self.equal if self.causes[0].symptom else self.causes[: max(_LISTED, len(self.equal))]
            lines += [f"{n}. {fit}" for n, fit in enumerate(listed, start=1)]
            if len(self.equal) > 1:
                numbers = [str(n) for n, fit in enumerate(listed, start=1) if fit in self.equal]
                same = f"{', '.join(numbers[:-1])} and {numbers[-1]}"
                lines.append(f"the same bytes follow from {same}: they cannot be told apart; the simplest is first")
        if self.evidence.rerun is None and self.evidence.started is not None:
            lines.append("the layer could not be computed again: only its result was moved about")
        return lines


def explain(evidence: Evidence, causes: Sequence[Cause] = CAUSES) -> Explanation:
    """Return where, when and why the bytes of a surface are wrong, by the causes of its system."""
    return Explanation(evidence, diagnose(evidence, causes))


_LISTED_PLACES = 6
_STRIKING_SHARE = 0.5
_LOOKED_AT = 1 << 18


def _group_kernels(layer: AnyLayer | None) -> int | None:
    """Return the kernels of a group, None for what is no convolution."""
    if isinstance(layer, PooledLayer):
        layer = layer.producer
    return layer.weights.layout.kernels_per_group if isinstance(layer, ConvLayer) else None


def bad_beats(evidence: Evidence) -> NDArray[np.bool_]:
    """Return which beats carried a wrong byte: (n,) of the beats of the layer."""
    beats = evidence.beats
    if beats is None or not len(beats):
        return np.zeros(0, dtype=np.bool_)
    width = beats.data.shape[1]
    rows = evidence.actual.positions(beats.address) // width
    truth = evidence.truth
    wrong = ~truth.known.reshape(-1, width)[rows] | (truth.data.reshape(-1, width)[rows] != beats.data)
    bad: NDArray[np.bool_] = (wrong & beats.strobe).any(axis=1)
    return bad


def corrected_elements(evidence: Evidence) -> NDArray[np.bool_]:
    """Return which elements a beat has left wrong and a later one has corrected, (C, H, W) with padding channels."""
    expected, beats = evidence.expected, evidence.beats
    wrong = np.zeros(len(expected.data), dtype=np.bool_)
    # Of results that are close enough it is not known what a single beat should have held.
    if beats is not None and not evidence.slack:
        lanes = np.arange(beats.data.shape[1])
        at = (offsets_from(beats.address, expected.address)[:, np.newaxis] + lanes)[beats.strobe]
        inside = (at >= 0) & (at < len(wrong))
        at, values = at[inside], beats.data[beats.strobe][inside]
        wrong[at[expected.mask[at] & (values != expected.data[at])]] = True
    return evidence.walk.any_byte(wrong & ~evidence.bad)


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
    if len(found) == 1:
        return f"only number {found[0]}, of {total}"
    if len(found) <= _LISTED_PLACES:
        return f"{', '.join(map(str, found))} of {total}"
    steps = np.diff(found)
    if (steps == steps[0]).all():
        every = f", every {steps[0]}" if steps[0] > 1 else ""
        return f"{found[0]} to {found[-1]}{every} of {total}"
    return f"{len(found)} of {total}, {found[0]} to {found[-1]}"
