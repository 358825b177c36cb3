"""Layers that write right bytes without having read what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nvdla_tb.judge.detail import NothingRead
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.rule import Rule
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import BdmaLayer, convolution_of


class ReadRule(Rule):
    """Tells layers that take operands from memory, and that read nothing from their first enable to their end.

    Copies of BDMA are not judged: when exactly one begins is not known.
    """

    def __init__(self, requests: Callable[[], int] | None) -> None:
        """Start without layers.

        Args:
            requests: Returns how many reads the memory ports have accepted; None judges nothing.
        """
        self._requests = requests
        self.reset()

    def reset(self) -> None:
        """Forget all layers, as a reset of the DUT does."""
        self._enabled: dict[tuple[str, int], int] = {}
        self._running: dict[int, tuple[StartedLayer, int]] = {}

    def enable(self, unit: str, group: int) -> None:
        """Note that a unit is enabled, which may read before its layer is complete."""
        if self._requests is not None:
            self._enabled[unit, group] = self._requests()

    def start(self, layer: StartedLayer) -> None:
        """Note a layer that begins."""
        if self._requests is not None and _reads(layer):
            before = [self._enabled[event] for event in layer.groups.items() if event in self._enabled]
            self._running[layer.index] = layer, min([*before, self._requests()])

    def end(self, layer: StartedLayer, cycle: int | None) -> Iterator[Finding]:
        """Yield what is wrong with a layer whose end was seen."""
        started, before = self._running.pop(layer.index, (layer, None))
        if self._requests is not None and before == self._requests():
            yield Finding(Check.MEMORY, NothingRead(), cycle, started.id)

    def finish(self, cycle: int | None) -> Iterator[Finding]:
        """Yield what is wrong with the layers whose end was not seen."""
        for layer, _ in list(self._running.values()):
            yield from self.end(layer, cycle)


def _reads(started: StartedLayer) -> bool:
    """Return whether a layer must read; a convolution may have all of its operands in the buffer."""
    if isinstance(started.layer, BdmaLayer):
        return False
    return convolution_of(started.layer) is None or started.fetch.data or started.fetch.weights
