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
    fetched = {}
    if source.memory is not None:
        memory = source.memory
        fetched = memory.layout.unpack_padded(read(memory.ram, memory.address, memory.layout.nbytes))
    pattern = np.uint32 if isinstance(stage, sdp.YStage) else np.uint16
    register_dtype = pattern if is_float else np.int64
    operands: dict[str, NDArray[Any] | None] = {}
    for component, active in (("alu", stage.alu is not None), ("mul", stage.mul)):
        register = getattr(source, component)
        if not active:
            operands[component] = None
        elif register is not None:
            operands[component] = np.array(register, dtype=register_dtype)
        elif is_float:
            operands[component] = fetched[component].view(np.uint16)
        else:
            operands[component] = fetched[component].astype(np.int64)
    return sdp.Operands(**operands)
