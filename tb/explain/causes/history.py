"""Causes in what happened before: memory as earlier layers left it, read too early, or of another layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tb.explain.cause import Cause, Way
from tb.explain.causes import reach
from tb.explain.engine_conv import ConvRun
from tb.explain.evidence import Evidence
from tb.explain.run import Run
from tb.nvdla.layers import ConvLayer, PooledLayer


def _inherited(evidence: Evidence, run: Run) -> Iterator[Way]:
    """The layer is right, but read what an earlier one left."""
    if evidence.left is not None:
        yield Way("", partial(replace, run, memory=evidence.left))


def early(evidence: Evidence, run: Run) -> Iterator[Way]:
    """The layer read before an earlier one had written."""
    if evidence.initial is not None:
        yield Way("", partial(replace, run, memory=evidence.initial))


def _kernels(evidence: Evidence, run: Run) -> Iterator[Way]:
    """The convolution buffer still held kernels of the layer before."""
    before = (layer.producer if isinstance(layer, PooledLayer) else layer for layer in reversed(evidence.before))
    layers = [layer for layer in before if isinstance(layer, ConvLayer)][:2]
    for conv in reach.engines(run, ConvRun):
        for layer, whose in zip(layers, ("of the layer before", "of 2 layers before"), strict=False):
            yield Way(f"kernels {whose}", conv.other("weights", address=layer.weights.address))
            address = getattr(layer.src, "address", None)
            if address is not None:
                for _, walk in reach.inputs(run):
                    yield Way(f"input {whose}", walk.other(address=address))


INHERITED = Cause(
    "inherited", "right, but of what earlier layers left wrong", _inherited, reruns=True, cost_bits=6.0, symptom=True
)

CAUSES = (
    INHERITED,
    Cause("read-early", "input read before an earlier layer wrote it", early, reruns=True),
    Cause("stale-buffer", "convolution buffer not filled again", _kernels, reruns=True, cost_bits=7.5),
)
