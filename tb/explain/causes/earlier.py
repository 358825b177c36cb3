"""Earlier layers on the same engine, whose registers a faulty engine may still use."""

from __future__ import annotations

from collections.abc import Iterator

from models.errors import InputError
from tb.explain.build import run_of
from tb.explain.evidence import Evidence
from tb.explain.run import Run

_MOST = 2


def earlier(evidence: Evidence) -> Iterator[tuple[str, Run]]:
    """Yield the runs of the last layers before on the same engine, with whose they are.

    The first ran in the other register group, the second in the same one.
    """
    count = 0
    for layer in reversed(evidence.before):
        try:
            other = run_of(layer)
        except InputError:
            continue
        if type(other.engine) is type(evidence.run.engine):
            count += 1
            yield "of the layer before" if count == 1 else f"of {count} layers before", other
        if count == _MOST:
            return
