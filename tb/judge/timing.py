"""When layers run: from the access that lets the hardware begin to the one that shows its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tb.judge.predictor import Expectation
from tb.judge.tracker import StartedLayer


@dataclass
class LayerTime:
    """Cycles of one layer.

    Attributes:
        started: The layer.
        nbytes: Bytes that it must write.
        enabled: When the last of its units was enabled.
        begun: The same, or the end of the unit's layer before, when that is later.
        ended: When its done bit was read; None when that was not seen.
    """

    started: StartedLayer
    nbytes: int
    enabled: int
    begun: int
    ended: int | None = None

    @property
    def cycles(self) -> int | None:
        """How long it ran."""
        return None if self.ended is None else self.ended - self.begun


class LayerTimes:
    """Watches a judge, and notes beginnings and ends of layers, by their index.

    A layer that is enabled while its unit still runs another begins when that ends.
    """

    def __init__(self) -> None:
        """Start without layers."""
        self._times: dict[int, LayerTime] = {}
        self._counters: dict[int, dict[str, int]] = {}

    def started(self, layer: StartedLayer, expectation: Expectation, cycle: int | None) -> None:
        """Note that a layer was enabled, and how many bytes it must write."""
        assert cycle is not None
        nbytes = int(np.count_nonzero(expectation.must_write))
        self._times[layer.index] = LayerTime(layer, nbytes, cycle, cycle)

    def ended(self, layer: StartedLayer, cycle: int | None) -> None:
        """Note that a layer ended."""
        assert cycle is not None
        time = self._times[layer.index]
        time.ended = cycle
        for later, other in self._times.items():
            same = other.started.layer.unit == time.started.layer.unit
            if later > layer.index and same and other.ended is None:
                other.begun = max(other.begun, cycle)

    def see_counter(self, unit: str, group: int, name: str, value: int) -> None:
        """Note a statistic that was read: it belongs to the layer that has ended last in the unit's group."""
        ended = [
            index
            for index, time in self._times.items()
            if time.ended is not None and time.started.groups.get(unit) == group
        ]
        if ended:
            self._counters.setdefault(ended[-1], {})[name] = value

    def counters_of(self, index: int) -> dict[str, int]:
        """Return the statistics of a layer that were read, by ``UNIT.REGISTER``."""
        return dict(self._counters.get(index, {}))

    def __iter__(self) -> Iterator[LayerTime]:
        """Iterate over all layers, in the order in which they were enabled."""
        return iter(self._times.values())
