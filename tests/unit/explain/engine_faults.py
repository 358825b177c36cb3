"""Faults of PDP, CDP and stage Y: other parameters and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nvdla_models.cdp import widths
from nvdla_models.lut import LutChoice
from nvdla_models.lut_integer import LutUnit, lookup
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, YStage
from nvdla_tb.explain.memory import Patch
from nvdla_tb.nvdla.layers import PdpLayer, Surface, WidthSplit
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import MEMORY, Fault, by_value, elements, parameters, strides, written

AVERAGE, MAXIMUM, CDP = cases.pdp_layer(), cases.pdp_layer(PoolMethod.MAX), cases.cdp_layer()


def other_engines() -> Iterator[Fault]:
    split = WidthSplit(2, 5, 0, 4, 3, 0, 2)
    cut = replace(AVERAGE, split=split)
    surface, line = strides(cut)
    # The second band writes one column early: over the last column of the first, and the last one is never written.
    right, late = elements(cut), []
    for c, h, w in np.ndindex(right.shape):
        if w != 2:
            late.append((c // 8 * surface + h * line + (w - (w > 2)) * 8 + c % 8, right[c, h, w].tobytes()))
    yield Fault("band one column early", cut, written(cut, iter(late)), "pool-split")
    # With strides swapped, windows soon lie behind the cube, and nothing is written of them.
    params = PdpParams(PoolMethod.MAX, 2, 2, 1, 2, 0, 0, 0, 0, (0,) * 7, 0, 0, Precision.INT8)
    flat = PdpLayer(Surface(cases.gapped((16, 6, 9)), cases.SRC), Surface(cases.gapped((16, 3, 8)), cases.DST), params)
    cube = flat.src.layout.unpack(MEMORY.read(cases.SRC, flat.src.layout.nbytes).data)
    surface, line = strides(flat)
    swapped = (
        (c // 8 * surface + h * line + w * 8 + c % 8, cube[c, h : h + 2, 2 * w : 2 * w + 2].max().tobytes())
        for c, h, w in np.ndindex(16, 3, 4)
    )
    lost = ("pool-stride+lost-write", "pool-stride+lost-part")
    yield Fault("strides swapped", flat, written(flat, swapped), lost[0], or_else=lost[1:])

    yield Fault("first of five channels not summed", CDP, summed(-1, 0, 1, 2), "lut-neighbour")
    yield Fault("last of five channels summed twice", CDP, summed(-2, -1, 0, 2, 2), "lut-instead")
    pooled = np.zeros((16, 4, 5), np.int8)
    pixels = MAXIMUM.src.layout.unpack(MEMORY.read(cases.SRC, MAXIMUM.src.layout.nbytes).data)
    for c, h, w in np.ndindex(pooled.shape):
        window = pixels[c, max(0, 2 * h - 1) : 2 * h + 1, max(0, 2 * w - 1) : 2 * w + 2]
        pooled[c, h, w] = window.view(np.uint8).max().view(np.int8)
    yield Fault("unsigned maximum of PDP", MAXIMUM, by_value(MAXIMUM, lambda _: pooled), "compare")

    table = full.table_layer()
    stage = table.params.y
    assert isinstance(stage, YStage)
    assert stage.lut is not None
    for what, new, cause in (
        ("priority", {"lut": replace(stage.lut, hybrid_priority=LutChoice.LE)}, "y-lut-priority"),
        ("operation", {"alu": AluOp.MAX}, "y-alu"),
        ("converter", {"alu_converter": None}, "y-converter"),
    ):
        yield parameters(f"Y {what}", table, cause, y=replace(stage, **new))


def summed(*distances: int) -> Patch:
    """Return what a normalisation leaves that sums channels at these distances, some perhaps twice."""
    params = CDP.params
    cube = CDP.src.layout.unpack(MEMORY.read(CDP.src.address, CDP.src.layout.nbytes).data)
    data = params.input_converter.to_width(cube, widths(Precision.INT8).data)
    sums = np.zeros_like(data)
    for c, h, w in np.ndindex(data.shape):
        sums[c, h, w] = sum(int(data[c + n, h, w]) ** 2 for n in distances if 0 <= c + n < len(data))
    factors = lookup(params.lut, sums, LutUnit.CDP).values
    result = params.output_converter.convert(factors * data, Precision.INT8)
    padded = elements(CDP).copy()
    padded[: len(result)] = result
    return by_value(CDP, lambda _: padded)
