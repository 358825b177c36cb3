"""Numbers that units of a convolution tell each other: what lies in the buffer, and what has left it."""

from __future__ import annotations

from tb.explain.evidence import Evidence
from tb.explain.handed import NotComparable
from tb.judge.tracker import StartedLayer
from tb.nvdla.layers import ConvLayer, PooledLayer


def counted(value: str, evidence: Evidence) -> int:
    """Return the sum of the numbers that pass a stage for a layer.

    Args:
        value: one of ``KINDS`` that counts.
        evidence: the layer.

    Raises:
        NotComparable: for a layer of another engine, and one that finds something in the convolution buffer.

    Source: signals between CDMA, CSC and CACC; measured on the public nv_small RTL.
    """
    layer = _convolution(evidence)
    if value == "loaded-lines":
        return layer.src.layout.shape[1]
    if value == "loaded-kernels":
        return layer.weights.layout.shape[0]
    _, height, width = layer.dst.layout.shape
    return -(-layer.weights.layout.shape[0] // layer.weights.layout.config.mac_atomic_k_size) * height * width


def _convolution(evidence: Evidence) -> ConvLayer:
    """Return the convolution of a layer.

    Raises:
        NotComparable: when it has none, or finds something in the convolution buffer.
    """
    assert evidence.started is not None
    layer = evidence.started.layer
    first = layer.producer if isinstance(layer, PooledLayer) else layer
    if not isinstance(first, ConvLayer):
        raise NotComparable(f"no convolution is in layers of {evidence.started.engine}")
    if isinstance(evidence.started, StartedLayer) and not evidence.started.fetch.all:
        raise NotComparable("the content of the convolution buffer is not recorded")
    return first
