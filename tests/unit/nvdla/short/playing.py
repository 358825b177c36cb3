"""What tests of short forms share: memory to place arrays in, and the model's result of layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.placing import Placing
from nvdla_tb.stimulus.generate.sequence import sequence
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.scenario import Scenario, empty_memories, memory_ops

Array = NDArray[Any]

FULL = HwConfig.load("nv_full")


class Desk(Placing):
    """Memory without a DUT."""

    def __init__(self, config: str = "nv_small", seed: int = 0) -> None:
        self.config = HwConfig.load(config)
        self.memories = empty_memories(self.config)
        self.rng = np.random.default_rng(seed)

    def bytes(self, *shape: int) -> Array:
        """Return random INT8."""
        return self.rng.integers(-128, 128, shape, dtype=np.int8)

    def halves(self, *shape: int) -> Array:
        """Return random FP16."""
        return self.rng.normal(size=shape).astype(np.float16)

    def played(self, *layers: Layer) -> list[Array]:
        """Return what the judge expects of each layer, as its registers say it; the layers themselves come through."""
        loads = [op for ram, memory in self.memories.items() for op in memory_ops(memory, ram)]
        ops = (*loads, *sequence(layers, self.config, in_turn=True))
        played = play_model(Scenario("short", self.config.name, ops, 1), self.config)
        assert played.verdict.refused is None, played.verdict.refused
        assert [expectation.started.layer for expectation in played.expectations] == list(layers)
        return [expectation.layout.unpack(expectation.data) for expectation in played.expectations]


def shifted(values: Array, shift: int) -> Array:
    """Return integers shifted to the right, rounded half away from zero."""
    return np.sign(values) * ((np.abs(values) + (1 << shift >> 1)) >> shift)


def cut(values: Array) -> Array:
    """Return integers as INT8, those beyond it as its ends."""
    return np.clip(values, -128, 127).astype(np.int8)
