"""What a run says of each of its layers: what was judged and found, and when it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tb.verdict import Kind

if TYPE_CHECKING:
    from tb.sim.bench import Bench


def layer_facts(bench: Bench) -> list[dict[str, Any]]:
    """Return the layers of a finished run as plain data, in the order in which they were started.

    Of very long runs only the last layers are known.
    """
    facts = []
    for expectation, _ in bench.scoreboard.expected:
        started = expectation.started
        findings = [f for f in bench.verdict.findings if f.first.layer == started.name]
        missing = sum(f.nbytes for f in findings if f.kind is Kind.MISSING)
        time = bench.times.of(started.index)
        margins = [margin.worst for margin in bench.verdict.margins if margin.layer == started.name]
        facts.append(
            {
                "index": started.index,
                "name": started.name,
                "unit": started.layer.unit,
                "judged_bytes": int(np.count_nonzero(expectation.must_write)) - missing,
                "wrong_bytes": sum(f.nbytes for f in findings if f.kind is not Kind.MISSING),
                "missing_bytes": missing,
                "worst_margin": max(margins, default=None),
                "enabled": None if time is None else time.enabled,
                "begun": None if time is None else time.begun,
                "ended": None if time is None else time.ended,
            }
        )
    return facts
