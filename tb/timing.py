"""When layers run: from the access that lets the hardware begin to the one that shows its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb.tracker import StartedLayer


@dataclass
class LayerTime:
    """Cycles of one layer.

    Attributes:
        unit: The unit that ends it.
        enabled: When the last of its units was enabled.
        begun: The same, or the end of the unit's layer before, when that is later.
        groups: The register group of each of its units.
        ended: When its done bit was read; None when that was not seen.
    """

    unit: str
    enabled: int
    begun: int
    groups: dict[str, int] = field(default_factory=dict)
    ended: int | None = None

    @property
    def cycles(self) -> int | None:
        """How long it ran."""
        return None if self.ended is None else self.ended - self.begun


class LayerTimes:
    """Notes beginnings and ends of layers, by their index.

    A layer that is enabled while its unit still runs another begins when that ends.
    """

    def __init__(self) -> None:
        """Start without layers."""
        self._times: dict[int, LayerTime] = {}
        self._counters: dict[int, dict[str, int]] = {}

    def start(self, started: StartedLayer, cycle: int) -> None:
        """Note that a layer was enabled."""
        self._times[started.index] = LayerTime(started.layer.unit, cycle, cycle, dict(started.groups))

    def end(self, index: int, cycle: int) -> None:
        """Note that a layer ended."""
        time = self._times[index]
        time.ended = cycle
        for later, other in self._times.items():
            if later > index and other.unit == time.unit and other.ended is None:
                other.begun = max(other.begun, cycle)

    def see_counter(self, unit: str, group: int, name: str, value: int) -> None:
        """Note a statistic that was read: it belongs to the layer that has ended last in the unit's group."""
        ended = [
            index for index, time in self._times.items() if time.ended is not None and time.groups.get(unit) == group
        ]
        if ended:
            self._counters.setdefault(ended[-1], {})[name] = value

    def counters_of(self, index: int) -> dict[str, int]:
        """Return the statistics of a layer that were read, by ``UNIT.REGISTER``."""
        return dict(self._counters.get(index, {}))

    def of(self, index: int) -> LayerTime | None:
        """Return the cycles of a layer, if it was enabled."""
        return self._times.get(index)
