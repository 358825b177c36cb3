"""Facts about each layer of a run: judged bytes, findings, and when it ran.

A layer runs from the access that lets the hardware begin to the one that shows its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.detail import Mismatch
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.performance import Work, work_of
from nvdla_tb.nvdla.timed import TIMED


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


class LayerTimes:
    """Watches a judge, and notes beginnings and ends of layers, by their index.

    A layer that is enabled while its unit still runs another begins when that ends.
    """

    def __init__(self) -> None:
        """Start without layers."""
        self._times: dict[int, LayerTime] = {}
        self.counters: dict[int, dict[str, int]] = {}
        self._before_reset: set[int] = set()

    def reset(self) -> None:
        """Note a reset of the DUT, which clears its counters."""
        self._before_reset = set(self._times)

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
            self.counters.setdefault(ended[-1], {})[name] = value

    def counted(self, index: int) -> dict[str, int]:
        """Return what the statistics that were read counted in a layer alone.

        Counters that go on from layer to layer are differences. What is left out says nothing of the layer: a counter
        that was off or that it does not use, and one that was not read after the layer before.
        """
        started = self._times[index].started
        found = {}
        for name, value in self.counters.get(index, {}).items():
            unit, _, register = name.partition(".")
            timed = TIMED.get(unit)
            if timed is None or register not in timed.registers:
                found[name] = value
                continue
            if f"{unit}.{timed.enable}" not in started.counting or not timed.registers[register](started.layer):
                continue
            before = self._count_before(index, unit, name) if timed.accumulates else 0
            if before is not None and value >= before:
                found[name] = value - before
        return found

    def _count_before(self, index: int, unit: str, name: str) -> int | None:
        """Return a counter after the layer of its unit before one, None where it was not read."""
        old = index in self._before_reset
        earlier = [
            at
            for at, time in self._times.items()
            if at < index and unit in time.started.groups and (at in self._before_reset) == old
        ]
        return self.counters.get(earlier[-1], {}).get(name) if earlier else 0

    def __iter__(self) -> Iterator[LayerTime]:
        """Iterate over all layers, in the order in which they were enabled."""
        return iter(self._times.values())


class Moved(msgspec.Struct, frozen=True):
    """Bytes that a memory port moved."""

    read: int
    written: int


class Traffic:
    """What layers really read and write: reads as they are accepted, and write beats, of all ports of a bench."""

    def __init__(self, widths: Mapping[Ram, int], scoreboard: Scoreboard) -> None:
        """Start without any, at ports of some bytes; the scoreboard keeps write beats."""
        self._widths, self._scoreboard = widths, scoreboard
        self._reads: dict[Ram, list[NDArray[np.int64]]] = defaultdict(list)

    def see_reads(self, ram: Ram, cycles: NDArray[np.int64], beats: NDArray[np.int64]) -> None:
        """Note reads that were accepted."""
        if len(cycles):
            self._reads[ram].append(np.stack([cycles, beats]))

    def between(self, time: LayerTime) -> dict[Ram, Moved] | None:
        """Return the bytes of each port while a layer ran, or None when its end was not seen."""
        if time.ended is None:
            return None
        moved = {}
        for ram, width in self._widths.items():
            parts = self._reads[ram]
            reads = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), dtype=np.int64)
            inside = (reads[0] >= time.begun) & (reads[0] <= time.ended)
            written = sum(
                int(beats.strobe[(beats.cycle >= time.begun) & (beats.cycle <= time.ended)].sum())
                for beats in self._scoreboard.history
                if beats.ram is ram
            )
            moved[ram] = Moved(int(reads[1][inside].sum()) * width, written)
        return moved


class LayerFacts(msgspec.Struct, frozen=True):
    """One layer of a run.

    Attributes:
        index: which layer.
        name: its name in messages.
        unit: the unit that ends it.
        group: its register group.
        judged_bytes: bytes that it wrote of those that it must write.
        wrong_bytes: bytes of its findings, missing ones apart.
        missing_bytes: bytes that it did not write.
        worst_margin: largest part of a tolerance that it used, None without one or beyond any.
        enabled: when the last of its units was enabled.
        begun: the same, or the end of the unit's layer before, when that is later.
        ended: when its done bit was read, None when that was not seen.
        work: least work.
        moved: bytes that each port moved, None unless traffic was recorded.
        counters: what statistics that the program has read counted in the layer, by ``UNIT.REGISTER``.
    """

    index: int
    name: str
    unit: str
    group: int
    judged_bytes: int
    wrong_bytes: int
    missing_bytes: int
    worst_margin: float | None
    enabled: int
    begun: int
    ended: int | None
    work: Work
    moved: dict[Ram, Moved] | None
    counters: dict[str, int]


def layer_facts(times: LayerTimes, verdict: Verdict, traffic: Traffic | None) -> list[LayerFacts]:
    """Return the layers of a finished run, in the order in which they were started; traffic is None unless recorded."""
    return [_facts(time, times.counted(time.started.index), verdict, traffic) for time in times]


def _facts(time: LayerTime, counters: dict[str, int], verdict: Verdict, traffic: Traffic | None) -> LayerFacts:
    started = time.started
    own = [finding for finding in verdict.wrong_bytes if finding.layer == started.id]
    missing = _nbytes(finding for finding in own if finding.check is Check.MISSING)
    margins = [margin.worst for margin in verdict.margins if margin.layer == started.name and margin.worst is not None]
    return LayerFacts(
        started.index,
        started.name,
        started.layer.unit,
        started.group,
        time.nbytes - missing,
        _nbytes(finding for finding in own if finding.check is not Check.MISSING),
        missing,
        max(margins, default=None),
        time.enabled,
        time.begun,
        time.ended,
        work_of(started.layer, started.fetch),
        None if traffic is None else traffic.between(time),
        counters,
    )


def _nbytes(findings: Iterable[Finding]) -> int:
    return sum(finding.detail.nbytes for finding in findings if isinstance(finding.detail, Mismatch))
