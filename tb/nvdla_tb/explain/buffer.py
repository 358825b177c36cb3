"""Operands of convolutions that reuse what others have left in the convolution buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.judge.predictor import BufferContents
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import convolution_of
from nvdla_tb.nvdla.memory import Ram


def with_operands(found: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield the evidence of layers in their order, that of convolutions with the operands which they find or fetch."""
    contents = BufferContents()
    for evidence in found:
        started = evidence.started
        conv = convolution_of(started.layer) if isinstance(started, StartedLayer) else None
        if conv is None:
            yield evidence
            continue
        assert isinstance(started, StartedLayer)
        if len(conv.cubes) > 1:
            # What a batch leaves is not known.
            contents = BufferContents()
            yield evidence
            continue

        def read(ram: Ram, address: int, nbytes: int, evidence: Evidence = evidence) -> NDArray[np.uint8]:
            return evidence.memory.read(address, nbytes).data

        try:
            operands = contents.take(conv, started.fetch, read)
        except InputError:
            operands = None
        yield replace(evidence, operands=operands)
