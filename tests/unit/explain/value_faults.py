"""Faults of values and of writes: numbers changed one by one, writes lost, doubled or strobed in part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.explain.memory import Patch
from nvdla_tb.nvdla.layers import StageSource
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import FP16, MEMORY, Fault, by_value, elements, run, strides

SDP, COPY = cases.sdp_layer(), cases.copy_layer()


def numbers() -> Iterator[Fault]:
    copy, product, wide = full.fp16_copy(), full.fp16_sdp(), full.winograd_conv()
    cube = elements(copy, FP16)
    assert (np.abs(cube[cube != 0]) < 2.0**-14).any()
    largest = np.where(np.arange(2000) % 7 == 0, 0x7BFF, 0x3C00).astype("<u2")
    large = full.stored(FP16, cases.SRC, largest.view(np.uint8))

    def flushed(cube: NDArray[Any]) -> NDArray[Any]:
        return np.where(np.abs(cube) < 2.0**-14, np.copysign(np.float16(0), cube), cube)

    def infinite(cube: NDArray[Any]) -> NDArray[Any]:
        return np.where(cube == 65504, np.float16(np.inf), cube)

    for title, layer, name, change, memory in (
        ("denormals flushed", copy, "fp16-denormal", flushed, FP16),
        ("infinity instead of the largest", copy, "fp16-infinity", infinite, large),
        ("bytes swapped", wide, "dst-byte-order", lambda c: c.byteswap(), MEMORY),
        ("stuck bit", SDP, "dst-stuck-bit", lambda c: c | 8, MEMORY),
    ):
        yield Fault(title, layer, by_value(layer, change, memory), name, memory)
    inputs = FP16.read(cases.SRC, 1 << 13).data.view("<f2").copy()
    inputs[np.abs(inputs) < 2.0**-14] = 0
    left = run(product, full.stored(FP16, cases.SRC, inputs.view(np.uint8)))
    yield Fault("denormal inputs flushed", product, left, "fp16-denormal-inputs", FP16)
    # Floating-point registers hold patterns, without a sign in front.
    by_register = replace(product, x1=StageSource(mul=0x4248))
    negated = run(replace(product, x1=StageSource(mul=0xC248)), FP16)
    yield Fault("FP16 register negated", by_register, negated, "stage-register", FP16)


def control() -> Iterator[Fault]:
    right = run(SDP)

    def without(lost: Callable[[int, int, int], bool]) -> Patch:
        surface, line = strides(SDP)
        mask = right.mask.copy()
        for c, h, w in np.ndindex(24, 5, 6):
            if lost(c, h, w):
                mask[c // 8 * surface + h * line + w * 8 + c % 8] = False
        return replace(right, mask=mask)

    yield Fault("last line lost", SDP, without(lambda c, h, w: h == 4), "lost-part")
    yield Fault("one atom lost", SDP, without(lambda c, h, w: (c // 8, h, w) == (1, 2, 3)), "lost-write")
    yield Fault("upper half never strobed", SDP, without(lambda c, h, w: c % 8 > 3), "strobe")
    cube = elements(COPY)
    atoms = [cube[8 * s : 8 * s + 8, h, w].copy() for s in range(3) for h in range(5) for w in range(6)]
    twice = np.empty_like(cube)
    for number, (s, h, w) in enumerate(np.ndindex(3, 5, 6)):
        twice[8 * s : 8 * s + 8, h, w] = atoms[number // 2 * 2]
    yield Fault("every write doubled", COPY, by_value(COPY, lambda _: twice), "write-order")
