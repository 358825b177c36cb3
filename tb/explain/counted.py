"""Numbers that units of a convolution tell each other: what lies in the buffer, and what has left it."""

from __future__ import annotations

from tb.explain.evidence import Evidence
from tb.explain.handed import first_layer, other_engine
from tb.nvdla.layers import ConvLayer


def counted(value: str, evidence: Evidence) -> int:
    """Return the sum of the numbers that pass a stage for a layer.

    Args:
        value: one of ``KINDS`` that counts.
        evidence: the layer.

    Raises:
        NotComparable: for a layer of another engine, and one that finds something in the convolution buffer.

    Source: signals between CDMA, CSC and CACC; measured on the public nv_small RTL.
    """
    layer = first_layer(evidence)
    if not isinstance(layer, ConvLayer):
        raise other_engine(value, evidence)
    if value == "loaded-lines":
        return layer.src.layout.shape[1]
    if value == "loaded-kernels":
        return layer.weights.layout.shape[0]
    _, height, width = layer.dst.layout.shape
    return -(-layer.weights.layout.shape[0] // layer.weights.layout.config.mac_atomic_k_size) * height * width
