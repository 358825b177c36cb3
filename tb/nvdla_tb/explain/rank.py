"""Ranks causes by what it takes to describe the evidence with them: wrong bytes left over, and simplicity."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nvdla_models.arithmetic import HARDWARE
from nvdla_models.errors import InputError
from nvdla_tb.explain.cause import Cause, Fit, Variant
from nvdla_tb.explain.causes import CAUSES
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.evidence import Evidence

BYTE_BITS = 10.0
"""Bits that one more wrong byte costs, with its value."""

BELIEF_BITS = 16.0
"""How much shorter the evidence must become before a cause is called probable, beyond what chance may give.

Of so many variants that were tried, the best one of pure chance is shorter by the logarithm of their number.
"""

_WHOLE_ELEMENTS = 1 << 15
_SAMPLE_ELEMENTS = 1 << 15
_LEAST_SAMPLE_ELEMENTS = 1 << 9
_FINALISTS = 10
_LEAST_FINALISTS = 3
_FINAL_ELEMENTS = 1 << 22
_PAIR_STARTS = 6
_PAIR_ELEMENTS = 1 << 13
_GOOD_SHARE = 1.0
_LEAST_SHARE = 0.5


@dataclass(frozen=True)
class Diagnosis:
    """A possible cause of the wrong bytes of a surface.

    Attributes:
        fits: causes that make the evidence shorter, best first; the rest is not listed.
        tried: how many variants were tried.
        doubted: whether other layers speak against the first cause.
    """

    fits: tuple[Fit, ...]
    tried: int
    doubted: bool = False

    @property
    def probable(self) -> Fit | None:
        """The first cause, when it predicts every byte and enough of them say so.

        Of a pair each half must be worth what it costs.
        """
        first = self.fits[0] if self.fits else None
        if first is None or first.symptom or not first.complete or self.doubted:
            return None
        if first.causes[0].declared:
            return first
        without = BYTE_BITS * first.wrong
        if len(first.causes) > 1:
            parts = {cause.name for cause in first.causes}
            without = min([without, *(fit.cost_bits for fit in self.fits if fit.name in parts)])
        return first if without - first.cost_bits >= self.belief_bits else None

    @property
    def first(self) -> Fit | None:
        """The statement: the probable cause, else a symptom, else nothing."""
        return self.probable or self.symptom

    @property
    def belief_bits(self) -> float:
        """How much shorter the evidence must become before a cause is called probable."""
        return BELIEF_BITS + float(np.log2(max(1, self.tried)))

    @property
    def symptom(self) -> Fit | None:
        """The pattern of the bytes, when it contradicts none of the right ones."""
        for fit in self.fits:
            if fit.symptom and fit.share >= _LEAST_SHARE and not fit.contradicted:
                return fit if BYTE_BITS * fit.wrong - fit.cost_bits >= BELIEF_BITS else None
        return None


def diagnose(evidence: Evidence, causes: Sequence[Cause] = CAUSES) -> Diagnosis:
    """Rank causes for the wrong bytes of a surface.

    Args:
        evidence: the evidence.
        causes: the catalogue of its system.
    """
    if not evidence.wrong_bytes:
        return Diagnosis((), 0)
    singles = [single for single in _singles(evidence, causes) if _possible(evidence, single)]
    fits = _best(evidence, singles)
    tried = len(singles)
    if not fits or fits[0].share < _GOOD_SHARE:
        pairs = [pair for pair in _pairs(evidence, causes, fits) if _possible(evidence, pair)]
        tried += len(pairs)
        fits = sorted([*fits, *_best(evidence, pairs)], key=lambda fit: fit.cost_bits)
    fits += _of_places(evidence)
    shorter = [fit for fit in fits if fit.cost_bits < BYTE_BITS * evidence.wrong_bytes and fit.explained]
    return Diagnosis(tuple(_distinct(shorter)), tried)


def _of_places(evidence: Evidence) -> Iterator[Fit]:
    """Yield that the bytes were right and went to wrong addresses, or were overwritten; nothing when they were not.

    It costs as much as may be: whatever says which addresses they are is better.
    """
    if evidence.misplaced is not None:
        count, total, distance = evidence.misplaced
        cause, detail = MISPLACED, f"{count} of {total} atoms"
        if distance is not None:
            detail += f", {evidence.walk.in_steps(abs(distance))} {'behind' if distance > 0 else 'before'} their places"
    elif evidence.overwritten is not None:
        cause, detail = OVERWRITTEN, evidence.overwritten
    else:
        return
    wrong = evidence.wrong_bytes
    cost = BYTE_BITS * wrong - BELIEF_BITS
    yield Fit((Variant(cause, detail, evidence.known, cost),), wrong, 0, wrong, cost, b"")


MISPLACED = Cause("misplaced", "output: right bytes at wrong addresses", lambda evidence, run: (), symptom=True)
OVERWRITTEN = Cause("overwritten", "output: overwritten after it was right", lambda evidence, run: (), symptom=True)
"""What the writes themselves say; no variant of them is tried."""

Candidate = tuple[Variant, ...]
"""A variant of one cause, or one and another that acts on its run."""


def _singles(evidence: Evidence, causes: Iterable[Cause]) -> Iterator[Candidate]:
    for cause in causes:
        start = evidence.rerun if cause.reruns else evidence.known
        if start is not None:
            yield from ((variant,) for variant in cause.on(evidence, start))


def _possible(evidence: Evidence, candidate: Candidate) -> bool:
    """Return whether a candidate does not contradict what the writes themselves say."""
    run = candidate[-1].run
    if evidence.lost and run.touch is None and run.dst.overlaps and not evidence.walk.overlaps:
        # Atoms on each other are written twice.
        return False
    if evidence.misplaced is not None:
        # Each byte was computed, and written once: its address alone is wrong.
        return run.dst != evidence.walk or run.touch is not None
    return evidence.overwritten is None or not any(variant.cause.reruns for variant in candidate)


def _pairs(evidence: Evidence, causes: Sequence[Cause], fits: Sequence[Fit]) -> list[Candidate]:
    """Return the best single causes, each joined by another one."""
    work = evidence.run.engine.work
    if evidence.walk.shape[0] * evidence.walk.shape[2] * work > _PAIR_ELEMENTS:
        return []
    pairs: list[Candidate] = []
    for fit in fits[:_PAIR_STARTS]:
        first = fit.variants[0]
        for second in causes:
            if second.name != first.cause.name and (first.cause.reruns or not second.reruns):
                pairs += [(first, variant) for variant in second.on(evidence, first.run)]
    return pairs


def _best(evidence: Evidence, candidates: Sequence[Candidate]) -> list[Fit]:
    """Return the fits of the candidates that do best, all of them for a small surface."""
    elements = int(np.prod(evidence.cube.shape))
    work = max((candidate[-1].run.engine.work for candidate in candidates), default=1)
    if elements * work > _WHOLE_ELEMENTS or len(candidates) > 600:
        channels, _, width = evidence.cube.shape
        rows = evidence.worst_lines(max(_LEAST_SAMPLE_ELEMENTS, _SAMPLE_ELEMENTS // work) // (channels * width))
        bad, walk = evidence.walk.marks(evidence.bad)[:, rows].sum(), evidence.walk.rows(rows)
        baseline = 1.0 - float(bad) / float(np.prod(walk.shape) * walk.dtype.itemsize)
        rated = [(_sampled(evidence, one[-1].run, rows, baseline), -n) for n, one in enumerate(candidates)]
        most = max(_LEAST_FINALISTS, min(_FINALISTS, _FINAL_ELEMENTS // (elements * work)))
        candidates = [candidates[-n] for score, n in sorted(rated, reverse=True)[:most] if score > 0]
    fits: list[Fit] = []
    for candidate in candidates:
        fit = _fit(evidence, candidate)
        if fit is not None:
            fits.append(fit)
            if elements > _FINAL_ELEMENTS and fit.share == 1.0:
                break
    return sorted(fits, key=lambda fit: fit.cost_bits)


def _fit(evidence: Evidence, candidate: Candidate) -> Fit | None:
    run, wrong = candidate[-1].run, evidence.wrong_bytes
    try:
        patch = run.patch(evidence.memory)
    except InputError:
        return None
    predicted = evidence.blank()
    outside = predicted.paint(patch)
    different = evidence.differs(predicted)
    left = int(np.count_nonzero(different & evidence.wrong))
    contradicted = int(np.count_nonzero(different)) - left + outside
    if contradicted == 0 and left == 0:
        contradicted = _changed(evidence, run)
    digest = hashlib.blake2b(predicted.data.tobytes(), digest_size=16)
    digest.update(np.packbits(predicted.known).tobytes())
    cost = sum(variant.cost_bits for variant in candidate) + BYTE_BITS * (left + contradicted)
    unwritten = 0
    if evidence.dump:
        written = evidence.actual.like()
        written.paint(patch)
        unwritten = int(np.count_nonzero(different & evidence.wrong & ~written.known))
    return Fit(candidate, wrong - left, contradicted, wrong, cost, digest.digest(), unwritten)


def _changed(evidence: Evidence, run: Run) -> int:
    """Return how many bytes of layers that are right would differ by the rules of a run; of other faults 0."""
    if run.rules == HARDWARE:
        return 0
    changed = 0
    for other in evidence.others:
        if other.rerun is None:
            continue
        try:
            patch = replace(other.rerun, rules=run.rules).patch(other.memory)
        except InputError:
            continue
        right = other.expected
        changed += int(np.count_nonzero(patch.data[patch.mask] != right.data[right.mask]))
    return changed


def _sampled(evidence: Evidence, run: Run, rows: slice, baseline: float) -> float:
    """Return how much better than the expectation a run predicts the bytes of some lines."""
    try:
        cube = run.cube(evidence.memory, rows)
        touched = None if run.touch is None else run.touch(run.dst.shape)[:, rows]
        walk = run.dst.rows(rows)
        data = walk.to_atoms(cube.astype(walk.dtype, copy=False)).view(np.uint8)
        found, known = evidence.actual.gather(walk.addresses())
    except InputError:
        return 0.0
    right = known & evidence.same(found, data)
    if touched is not None:
        written = np.repeat(walk.to_atoms(touched), walk.dtype.itemsize, axis=3)
        right = (right & written) | (~known & ~written)
    return float(np.count_nonzero(right) / right.size) - baseline


def _distinct(fits: Iterable[Fit]) -> Iterator[Fit]:
    """Leave out further variants of a cause, and pairs that say no more than one of their causes."""
    seen: set[frozenset[str]] = set()
    for fit in fits:
        keys = frozenset(cause.name for cause in fit.causes)
        if not any(known <= keys for known in seen):
            seen.add(keys)
            yield fit
