"""Choosing what to play: seeds whose scenarios reach bins that nothing has reached yet.

Drawing and decoding a scenario takes milliseconds, playing it seconds, so many seeds are looked at and few
are played. The same search chooses the same seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tb.coverage.collect import Collector
from tb.coverage.observe import observe
from tb.stimulus.scenario import Scenario


@dataclass(frozen=True)
class Candidate:
    """A seed, and the bins that its scenario hits."""

    seed: int
    hits: frozenset[str]


def reached(collector: Collector, scenario: Scenario) -> dict[str, int]:
    """Return how often a scenario hits which bins."""
    return collector.count(list(observe(scenario, collector.model.config)))


def choose(candidates: Iterable[Candidate], wanted: Iterable[str], most: int | None = None) -> Iterator[Candidate]:
    """Yield candidates, each the one that reaches most of what is still wanted; stop when none reaches any.

    Args:
        candidates: all that there are.
        wanted: names of bins.
        most: how many to choose at most, or None.
    """
    left = set(wanted)
    useful = {candidate.seed: (candidate, candidate.hits & left) for candidate in candidates}
    chosen = 0
    while left and useful and (most is None or chosen < most):
        # Gains only shrink, so candidates without any never come back.
        useful = {seed: (candidate, hits & left) for seed, (candidate, hits) in useful.items() if hits & left}
        if not useful:
            return
        best = max(useful, key=lambda seed: (len(useful[seed][1]), -seed))
        candidate, _ = useful.pop(best)
        left -= candidate.hits
        chosen += 1
        yield candidate
