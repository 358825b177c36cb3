"""The statistics counters of layers: what they must read once a layer has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from nvdla_tb.judge.detail import WrongCounter
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.rule import Rule
from nvdla_tb.judge.timed import TimedBounds
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import Register


@dataclass(frozen=True)
class Count:
    """The value that a counter must read: exactly ``value``, or at least that.

    SDP's counters of lookups also count idle slots of the pipeline, and so do CDP's on INT16.
    """

    value: int
    at_least: bool = False

    def __add__(self, other: Count) -> Count:
        """Return the value of a counter that has counted both."""
        return Count(self.value + other.value, self.at_least or other.at_least)


Counts = Mapping[str, Count]
"""By ``UNIT.REGISTER``."""


class CounterBoard(Rule):
    """Knows what the counters of both register groups must read, and judges what was read.

    A group's counters belong to the layer that ran in it last; while a layer runs, they are not judged. The cubes
    of a batch count together.
    """

    def __init__(self, producer: Callable[[str], int], latency_cycles: Mapping[Ram, int]) -> None:
        """Start without layers.

        Args:
            producer: Returns the register group of a unit that CSB reads.
            latency_cycles: From a read to its first answer at least, by port; counters of cycles have bounds by it.
        """
        self.judged = 0
        self.timed = TimedBounds(latency_cycles)
        self._producer = producer
        self.reset()

    def reset(self) -> None:
        """Forget all layers, as a reset of the DUT clears the counters."""
        self._running: dict[int, tuple[StartedLayer, Counts]] = {}
        self._ended: dict[tuple[str, int], tuple[StartedLayer, Counts]] = {}
        self.timed.reset()

    def start(self, started: StartedLayer, counts: Counts) -> None:
        """Note what a layer will count; what its groups held before is gone, but for earlier cubes of its batch."""
        self._running[started.index] = started, counts
        self.timed.start(started)
        if started.cube:
            return
        for unit, group in started.groups.items():
            self._ended.pop((unit, group), None)

    def end(self, index: int, cycle: int | None = None) -> None:
        """Note that a layer has ended: from now on its counters hold what it counted."""
        if index not in self._running:
            return
        started, counts = self._running.pop(index)
        self.timed.end(started, cycle)
        for unit, group in started.groups.items():
            before = self._ended[unit, group][1] if started.cube else {}
            total = {name: before[name] + count if name in before else count for name, count in counts.items()}
            self._ended[unit, group] = started, {**before, **total}

    def read(self, register: Register, value: int, cycle: int | None) -> Iterator[Finding]:
        """Follow one read, and yield a counter that is wrong."""
        wrong = self.check(register.unit, register.name, self._producer(register.unit), value)
        if wrong is not None:
            layer, detail = wrong
            yield Finding(Check.COUNTER, detail, cycle, layer)

    def check(self, unit: str, register: str, group: int, got: int) -> tuple[LayerId, WrongCounter] | None:
        """Judge a counter that was read in a register group.

        Returns:
            The layer that counted and what is wrong, or None when the value is right or nothing is known of it.
        """
        started, counts = self._ended.get((unit, group), (None, {}))
        name = f"{unit}.{register}"
        if started is None:
            return None
        bounds = self.timed.of(unit, group, register)
        if bounds is not None:
            least, most = bounds.least, bounds.most
            if most is None or least <= got <= most:
                self.judged += most is not None
                bounds.read(got)
                return None
            self.judged += 1
            return started.id, WrongCounter(name, least, least < most, got, most if least < most else None)
        count = counts.get(name)
        if count is None:
            return None
        self.judged += 1
        if got == count.value or (count.at_least and got > count.value):
            return None
        return started.id, WrongCounter(name, count.value, count.at_least, got)
