"""Counting: observations fall into the bins of a model.

Bins, crosses and their counts are those of ``cocotb-coverage``, which needs no simulator: its module of
coverage imports nothing of cocotb. It keeps one database a process, so each collector has a branch of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from threading import Lock
from typing import Any

from cocotb_coverage.coverage import CoverCross, CoverPoint, coverage_db

from tb.coverage.attributes import Attributes, Value
from tb.coverage.bins import Bin
from tb.coverage.model import CoverageModel, Item
from tb.coverage.observe import Observation
from tb.stimulus.generate.describe import PlanError

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
