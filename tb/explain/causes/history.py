"""Causes in what happened before: memory as earlier layers left it, read too early, or of another layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import reach
from tb.explain.engine_conv import ConvRun
from tb.explain.evidence import Evidence
from tb.explain.kernels import WeightInput
from tb.explain.run import Run
from tb.nvdla.layers import ConvLayer, PooledLayer


def _inherited(evidence: Evidence, run: Run) -> Iterator[Variant]:
    """The layer is right, but read what an earlier one left."""
    if evidence.left is not None:
        yield Variant("", replace(run, memory=evidence.left))


def _early(evidence: Evidence, run: Run) -> Iterator[Variant]:
    """The layer read before an earlier one had written."""
    if evidence.initial is not None:
        yield Variant("", replace(run, memory=evidence.initial))


def _kernels(evidence: Evidence, run: Run) -> Iterator[Variant]:
    """The convolution buffer still held kernels of the layer before."""
    engine = reach.first(run)
    if not isinstance(engine, ConvRun):
        return
    count = 0
    for earlier in reversed(evidence.before):
        layer = earlier.producer if isinstance(earlier, PooledLayer) else earlier
        if isinstance(layer, ConvLayer):
            count += 1
            whose = "of the layer before" if count == 1 else f"of {count} layers before"
            weights = replace(engine.weights, address=layer.weights.address)
            yield from attempt(f"kernels {whose}", partial(_with_weights, run, weights))
            source = reach.source(run)
            address = getattr(layer.src, "address", None)
            if source is not None and address is not None:
                moved = replace(source, address=address)
                yield from attempt(f"input {whose}", partial(reach.with_source, run, moved))
        if count == 2:
            return


def _with_weights(run: Run, weights: WeightInput) -> Run:
    engine = reach.first(run)
    assert isinstance(engine, ConvRun)
    return reach.with_first(run, replace(engine, weights=weights))


CAUSES = (
    Cause(
        "inherited",
        "right, but of what earlier layers left wrong",
        Family.CONTROL,
        _inherited,
        reruns=True,
        cost_bits=6.0,
        symptom=True,
    ),
    Cause("read-early", "input read before an earlier layer wrote it", Family.CONTROL, _early, reruns=True),
    Cause("stale-buffer", "convolution buffer not filled again", Family.CONTROL, _kernels, reruns=True, cost_bits=7.5),
)
