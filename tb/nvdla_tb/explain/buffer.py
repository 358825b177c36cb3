"""Operands of convolutions that reuse what others have left in the convolution buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.judge.predictor import BufferContents
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import convolution_of


def with_operands(found: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield the evidence of layers in their order, that of convolutions with the operands which they find or fetch."""
    contents = BufferContents()
    for evidence in found:
        started, operands = evidence.started, None
        if isinstance(started, StartedLayer) and (conv := convolution_of(started.layer)) is not None:
            if len(conv.cubes) > 1:
                # What a batch leaves is not known.
                contents = BufferContents()
            elif started.fetch.all or contents.is_known:
                operands = contents.take(conv, started.fetch, evidence.read)
        yield replace(evidence, operands=operands)
