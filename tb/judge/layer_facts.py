"""Facts about each layer of a run: judged bytes, findings, and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from tb.judge.detail import Mismatch
from tb.judge.finding import Check, Finding
from tb.judge.timing import LayerTime, LayerTimes
from tb.judge.verdict import Verdict
from tb.nvdla.memory import Ram
from tb.nvdla.performance import Work, work_of


class Moved(msgspec.Struct, frozen=True):
    """Bytes that a memory port moved."""

    read: int
    written: int


Traffic = Callable[[LayerTime], dict[Ram, Moved] | None]
"""Returns the bytes of each port while a layer ran, or None when its end was not seen."""


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
        counters: statistics that the program has read, by ``UNIT.REGISTER``.
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
    """Return the layers of a finished run, in the order in which they were started.

    Args:
        times: When they ran.
        verdict: Findings.
        traffic: Bytes that were moved while a layer ran, None when they were not recorded.
    """
    return [_facts(time, times.counters_of(time.started.index), verdict, traffic) for time in times]


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
        None if traffic is None else traffic(time),
        counters,
    )


def _nbytes(findings: Iterable[Finding]) -> int:
    return sum(finding.detail.nbytes for finding in findings if isinstance(finding.detail, Mismatch))
