"""What a run says of each of its layers: what was judged and found, and when it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tb.performance import Work, work_of
from tb.verdict import Kind

if TYPE_CHECKING:
    from tb.sim.bench import Bench


def layer_facts(bench: Bench) -> list[dict[str, Any]]:
    """Return the layers of a finished run as plain data, in the order in which they were started.

    ``moved`` is None unless traffic was recorded, ``counters``
    holds the statistics that the program has read.
    """
    facts = []
    for time in bench.times:
        started = time.started
        findings = [f for f in bench.verdict.findings if f.first.layer == started.name]
        missing = sum(f.nbytes for f in findings if f.kind is Kind.MISSING)
        margins = [margin.worst for margin in bench.verdict.margins if margin.layer == started.name]
        facts.append(
            {
                "index": started.index,
                "name": started.name,
                "unit": started.layer.unit,
                "group": started.group,
                "judged_bytes": time.nbytes - missing,
                "wrong_bytes": sum(f.nbytes for f in findings if f.kind is not Kind.MISSING),
                "missing_bytes": missing,
                "worst_margin": max(margins, default=None),
                "enabled": time.enabled,
                "begun": time.begun,
                "ended": time.ended,
                "work": _work(work_of(started.layer)),
                "moved": None if bench.traffic is None else bench.traffic.between(time),
                "counters": bench.times.counters_of(started.index),
            }
        )
    return facts


def _work(work: Work) -> dict[str, Any]:
    return {
        "macs": work.macs,
        "mac_peak": work.mac_peak,
        "bounds": dict(work.bounds),
        "read_bytes": {ram.value: nbytes for ram, nbytes in work.read_bytes.items()},
        "written_bytes": {ram.value: nbytes for ram, nbytes in work.written_bytes.items()},
    }
