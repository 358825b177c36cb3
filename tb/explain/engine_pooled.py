"""SDP, alone or after a convolution, whose result PDP pools on the fly."""

from __future__ import annotations

from dataclasses import dataclass

from models.arithmetic import Rules
from tb.explain.engine_conv import ConvRun
from tb.explain.engines import PdpRun, SdpRun
from tb.explain.memory import Bytes
from tb.explain.walk import Cube


@dataclass(frozen=True)
class PooledRun:
    """SDP that hands its result to PDP.

    Attributes:
        producer: what SDP ends.
        pooling: what PDP does; its ``src`` says how large the cube between both is, and is not read.
    """

    producer: SdpRun | ConvRun
    pooling: PdpRun

    @property
    def work(self) -> int:
        """How much more an element takes than a copied one."""
        return self.producer.work * self.pooling.params.stride_x * self.pooling.params.stride_y

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding channels."""
        return self.pooling.pool(lambda lines: self.producer.compute(memory, lines, rules), rows, rules)
