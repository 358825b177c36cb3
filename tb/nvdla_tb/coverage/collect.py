"""Counting: observations fall into the bins of a model.

Bins, crosses and their counts are those of ``cocotb-coverage``, which needs no simulator: its module of
coverage imports nothing of cocotb. It keeps one database a process, so each collector has a branch of its own.

Drawing and decoding a scenario takes milliseconds, playing it seconds, so many seeds are looked at and few are played:
those whose scenarios reach bins that nothing has reached yet. The same search chooses the same seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any

from cocotb_coverage.coverage import CoverCross, CoverPoint, coverage_db

from nvdla_tb.coverage.attributes import Attributes, Value
from nvdla_tb.coverage.bins import Bin
from nvdla_tb.coverage.model import CoverageModel, Item
from nvdla_tb.coverage.observe import Observation, observe
from nvdla_tb.stimulus.generate.describe import PlanError
from nvdla_tb.stimulus.scenario import Scenario

_numbers = count()


class Collector:
    """Counts observations in the bins of a model; threads of a process take turns."""

    _turn = Lock()

    def __init__(self, model: CoverageModel) -> None:
        """Start with empty bins."""
        self.model = model
        self._branch = f"coverage{next(_numbers)}"
        self._counted: Counter[str] = Counter()
        with self._turn:
            self._sample = {unit: self._sampler(unit) for unit in model.bins}

    def count(self, observations: Sequence[Observation]) -> dict[str, int]:
        """Return how often observations hit which bins; bins that they do not hit are absent.

        Raises:
            PlanError: when the model asks for an attribute that there is not.
        """
        with self._turn:
            for observation in observations:
                if observation.unit in self._sample:
                    self._sample[observation.unit](observation.attributes)
            hits = Counter(dict(self._hits()))
            fresh = hits - self._counted
            self._counted = hits
        return dict(fresh)

    def _hits(self) -> Iterator[tuple[str, int]]:
        for item in self.model.items:
            counted: dict[Any, int] = coverage_db[self._path(item)].detailed_coverage
            for key, hits in counted.items():
                if hits:
                    yield item.bin_name(key if item.is_cross else (key,)), hits

    def _sampler(self, unit: str) -> Callable[[Attributes], None]:
        """Return a function that counts one observation; crosses look at their points, so points come first."""

        def sampled(attributes: Attributes) -> None:
            del attributes

        sampler: Callable[[Attributes], None] = sampled
        counters = [self._counter(item) for item in self.model.items if item.unit == unit]
        for counter in reversed(counters):
            sampler = counter(sampler)
        return sampler

    def _counter(self, item: Item) -> Any:
        if not item.is_cross:
            return self._point(item)
        return CoverCross(self._path(item), items=[self._path(Item(item.unit, (name,), ())) for name in item.points])

    def _point(self, item: Item) -> Any:
        (name,) = item.points
        bins = self.model.bins[item.unit][name]
        return CoverPoint(
            self._path(item),
            xf=lambda attributes: _value(item, attributes),
            rel=lambda value, one: Bin.holds(one, value),
            bins=list(bins),
            bins_labels=[one.label for one in bins],
        )

    def _path(self, item: Item) -> str:
        """Return where the library keeps an item; dots of its name would be branches."""
        return f"{self._branch}.{item.unit}.{'*'.join(item.points).replace('.', '_')}"


def _value(item: Item, attributes: Attributes) -> Value:
    """Return the attribute that a point counts, whose name ends where a colon begins that of other bins for it."""
    name = item.points[0].partition(":")[0]
    if name not in attributes:
        raise PlanError(f"{item.name} must be an attribute: {', '.join(sorted(attributes))}")
    return attributes[name]


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
