"""Operands of SDP stages, from registers and memory to the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models import sdp
from tb.layers import StageSource
from tb.predictor.expectation import ReadMemory


def read_operands(source: StageSource | None, stage: sdp.SdpStage | None, read: ReadMemory) -> sdp.Operands | None:
    """Return the operands of an active stage, padded to whole atoms like the cube."""
    if stage is None or source is None:
        return None
    fetched = {}
    if source.memory is not None:
        memory = source.memory
        fetched = memory.layout.unpack_padded(read(memory.ram, memory.address, memory.layout.nbytes))
    operands: dict[str, NDArray[np.int64] | None] = {}
    for component, active in (("alu", stage.alu is not None), ("mul", stage.mul)):
        register = getattr(source, component)
        if not active:
            operands[component] = None
        elif register is not None:
            operands[component] = np.array(register, dtype=np.int64)
        else:
            operands[component] = fetched[component].astype(np.int64)
    return sdp.Operands(**operands)
