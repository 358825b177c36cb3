"""Counting: observations fall into the bins of a model.

Drawing and decoding a scenario takes milliseconds, playing it seconds, so many scenarios are looked at and few are
played: those that reach bins that nothing has reached yet. The same search chooses the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from nvdla_tb.coverage.model import CoverageModel
from nvdla_tb.coverage.observe import Observation, observe
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.scenario import Scenario


def count(model: CoverageModel, observations: Iterable[Observation]) -> Counter[str]:
    """Return how often observations hit which bins of a model; bins that they do not hit are absent.

    Raises:
        PlanError: when the model asks for an attribute that there is not.
    """
    hits: Counter[str] = Counter()
    for one in observations:
        labels = {point: _label(model, one, point) for point in model.bins.get(one.unit, ())}
        for item in model.items:
            if item.unit == one.unit and all(labels[point] is not None for point in item.points):
                hits[item.bin_name(tuple(str(labels[point]) for point in item.points))] += 1
    return hits


def _label(model: CoverageModel, one: Observation, point: str) -> str | None:
    """Return the bin of a point that an observation falls into, None when it falls into none."""
    # A colon ends the attribute's name and begins that of other bins for it.
    name = point.partition(":")[0]
    if name not in one.attributes:
        raise PlanError(f"{one.unit}.{point} must be an attribute: {', '.join(sorted(one.attributes))}")
    value = one.attributes[name]
    return next((each.label for each in model.bins[one.unit][point] if each.holds(value)), None)


def reached(model: CoverageModel, scenario: Scenario) -> dict[str, int]:
    """Return how often a scenario hits which bins."""
    return count(model, observe(scenario, model.config))


def choose(hits: Sequence[Set[str]], wanted: Iterable[str], most: int | None = None) -> Iterator[int]:
    """Yield numbers of scenarios, each the one that reaches most of what is still wanted; stop when none reaches any.

    Args:
        hits: the bins that each scenario hits.
        wanted: names of bins.
        most: how many to choose at most, or None.
    """
    left = set(wanted)
    useful = dict(enumerate(hits))
    chosen = 0
    while most is None or chosen < most:
        # Gains only shrink, so scenarios without any never come back.
        useful = {number: gain for number, bins in useful.items() if (gain := bins & left)}
        if not useful:
            return
        best = max(useful, key=lambda number: (len(useful[number]), -number))
        left -= useful.pop(best)
        chosen += 1
        yield best
