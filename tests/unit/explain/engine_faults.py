"""Faults of PDP, CDP and stage Y: other parameters and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from models.lut import LutChoice
from models.pdp import PoolMethod
from models.sdp import AluOp, YStage
from tb.layers import PdpLayer
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import Fault, run

AVERAGE, MAXIMUM, CDP = cases.pdp_layer(), cases.pdp_layer(PoolMethod.MAX), cases.cdp_layer()


def other_engines() -> Iterator[tuple[str, Fault]]:
    def pooling(layer: PdpLayer, name: str, **new: Any) -> Fault:
        return Fault(layer, run(replace(layer, params=replace(layer.params, **new))), (name,))

    yield "minimum", pooling(MAXIMUM, "pool-method", method=PoolMethod.MIN)
    yield "padding 0", pooling(AVERAGE, "pool-pad-value", pad_values=(0,) * 7)
    yield (
        "reciprocals swapped",
        pooling(
            AVERAGE, "pool-reciprocal", recip_width=AVERAGE.params.recip_height, recip_height=AVERAGE.params.recip_width
        ),
    )

    def tables(name: str, **new: Any) -> Fault:
        return Fault(CDP, run(replace(CDP, params=replace(CDP.params, **new))), (name,))

    lut = CDP.params.lut
    yield "hybrid priority", tables("lut-priority", lut=replace(lut, hybrid_priority=LutChoice.LE))
    shifted = replace(lut.lo, entries=np.concatenate([lut.lo.entries[1:], lut.lo.entries[:1]]))
    yield "next entry", tables("lut-index", lut=replace(lut, lo=shifted))
    yield "window of three", tables("lut-window", local_size=3)
    yield "output shift", tables("lut-converter", output_converter=replace(CDP.params.output_converter, shift=16))

    table = full.table_layer()
    stage = table.params.y
    assert isinstance(stage, YStage)
    assert stage.lut is not None
    for what, new, cause in (
        ("priority", {"lut": replace(stage.lut, hybrid_priority=LutChoice.LE)}, "y-lut-priority"),
        ("operation", {"alu": AluOp.MAX}, "y-alu"),
        ("converter", {"alu_converter": None}, "y-converter"),
    ):
        wrong = replace(table, params=replace(table.params, y=replace(stage, **new)))
        yield f"Y {what}", Fault(table, run(wrong), (cause,))
