"""Counters of cycles: what enables them, and whether they begin anew with each layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nvdla_tb.nvdla.layers import Layer, PooledLayer, SdpLayer, first_of

READ_LATENCY = "CDMA.D_PERF_DAT_READ_LATENCY"
"""Cycles in which answers to reads of data are awaited."""

DATA_READ_ID = 8
"""Id of CDMA's reads of data."""


@dataclass(frozen=True)
class Timed:
    """Counters of a unit.

    Attributes:
        enable: The field of ``D_PERF_ENABLE`` that lets them count.
        registers: Their names, each with the condition under which a layer uses what is counted.
        accumulates: Whether they go on from layer to layer.
        zero: Those that read 0 after a layer that does not count and uses what is counted; others read then what
            they read before.
    """

    enable: str
    registers: dict[str, Callable[[Layer], bool]]
    accumulates: bool = False
    zero: frozenset[str] = frozenset()


def _operand(stage: str) -> Callable[[Layer], bool]:
    """Return the condition that the operands of a stage come from memory."""

    def fetches(layer: Layer) -> bool:
        source = getattr(first_of(layer), stage, None)
        return source is not None and source.memory is not None

    return fetches


def _only(*names: str) -> dict[str, Callable[[Layer], bool]]:
    return dict.fromkeys(names, lambda layer: True)


_CDMA = _only("D_PERF_DAT_READ_STALL", "D_PERF_WT_READ_STALL", "D_PERF_DAT_READ_LATENCY", "D_PERF_WT_READ_LATENCY")

TIMED = {
    "CDMA": Timed("dma_en", _CDMA, zero=frozenset(_CDMA)),
    "SDP_RDMA": Timed(
        "perf_dma_en",
        {
            "D_PERF_MRDMA_READ_STALL": lambda layer: isinstance(first_of(layer), SdpLayer),
            "D_PERF_BRDMA_READ_STALL": _operand("x1"),
            "D_PERF_NRDMA_READ_STALL": _operand("x2"),
            "D_PERF_ERDMA_READ_STALL": _operand("y"),
        },
        zero=frozenset(["D_PERF_MRDMA_READ_STALL"]),
    ),
    "SDP": Timed("perf_dma_en", {"D_PERF_WDMA_WRITE_STALL": lambda layer: not isinstance(layer, PooledLayer)}),
    "PDP_RDMA": Timed("dma_en", _only("D_PERF_READ_STALL"), accumulates=True),
    "PDP": Timed("dma_en", _only("D_PERF_WRITE_STALL"), accumulates=True),
    "CDP_RDMA": Timed("dma_en", _only("D_PERF_READ_STALL"), accumulates=True),
    "CDP": Timed("dma_en", _only("D_PERF_WRITE_STALL"), accumulates=True),
}
"""By unit.

Source: register manual, ``D_PERF_*``; read off the public nv_small RTL: a counter of PDP or CDP can only be cleared in
    a cycle in which it counts, and its layer ends in one in which it does not. CDMA clears its counters when a layer
    that counts ends, SDP and SDP_RDMA when one begins; of the reads of a cube, when the layer before it counted.
"""
