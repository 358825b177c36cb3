"""When layers run: from the access that lets the hardware begin to the one that shows its end."""

from __future__ import annotations

from dataclasses import dataclass

from tb.tracker import StartedLayer


@dataclass
class LayerTime:
    """Cycles of one layer.

    Attributes:
        unit: The unit that ends it.
        enabled: When the last of its units was enabled.
        begun: The same, or the end of the unit's layer before, when that is later.
        ended: When its done bit was read; None when that was not seen.
    """

    unit: str
    enabled: int
    begun: int
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

    def start(self, started: StartedLayer, cycle: int) -> None:
        """Note that a layer was enabled."""
        self._times[started.index] = LayerTime(started.layer.unit, cycle, cycle)

    def end(self, index: int, cycle: int) -> None:
        """Note that a layer ended."""
        time = self._times[index]
        time.ended = cycle
        for later, other in self._times.items():
            if later > index and other.unit == time.unit and other.ended is None:
                other.begun = max(other.begun, cycle)

    def of(self, index: int) -> LayerTime | None:
        """Return the cycles of a layer, if it was enabled."""
        return self._times.get(index)
