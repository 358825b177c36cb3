"""Operands of SDP stages, from registers and memory to the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import sdp
from tb.judge.predictor.expectation import ReadMemory
from tb.nvdla.layers import StageSource


def read_operands(
    source: StageSource | None, stage: sdp.SdpStage | sdp.YStage | None, is_float: bool, read: ReadMemory
) -> sdp.Operands | None:
    """Return the operands of an active stage, padded to whole atoms like the cube.

    Args:
        source: Where they come from.
        stage: Parameters of the stage, None when it is bypassed.
        is_float: Whether they are patterns.
        read: How to read memory.
    """
    if stage is None or source is None:
        return None
    fetched: dict[str, NDArray[Any]] = {}
    if source.memory is not None:
        memory = source.memory
        fetched = memory.layout.unpack_padded(read(memory.ram, memory.address, memory.layout.nbytes))
    if is_float:
        fetched = {name: values.view(np.uint16) for name, values in fetched.items()}
    return sdp.Operands.of(stage, source.alu, source.mul, fetched, is_float)
