"""Faults of values and of writes: numbers changed one by one, writes lost, doubled or strobed in part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tb.explain.memory import Patch
from tb.nvdla.layers import StageSource
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import FP16, Fault, by_value, elements, run, strides

SDP, COPY = cases.sdp_layer(), cases.copy_layer()


def numbers() -> Iterator[tuple[str, Fault]]:
    copy, product = full.fp16_copy(), full.fp16_sdp()
    cube = elements(copy, FP16)
    assert (np.abs(cube[cube != 0]) < 2.0**-14).any()
    yield (
        "denormals flushed",
        Fault(
            copy,
            by_value(copy, lambda c: np.where(np.abs(c) < 2.0**-14, np.copysign(np.float16(0), c), c), FP16),
            ("fp16-denormal",),
            FP16,
        ),
    )
    large = full.stored(
        FP16, cases.SRC, np.where(np.arange(2000) % 7 == 0, 0x7BFF, 0x3C00).astype("<u2").view(np.uint8)
    )
    yield (
        "infinity instead of the largest",
        Fault(
            copy,
            by_value(copy, lambda c: np.where(c == 65504, np.float16(np.inf), c), large),
            ("fp16-infinity",),
            large,
        ),
    )
    flushed = FP16.read(cases.SRC, 1 << 13).data.view("<f2").copy()
    flushed[np.abs(flushed) < 2.0**-14] = 0
    yield (
        "denormal inputs flushed",
        Fault(
            product, run(product, full.stored(FP16, cases.SRC, flushed.view(np.uint8))), ("fp16-denormal-inputs",), FP16
        ),
    )
    wide = full.winograd_conv()
    yield "bytes swapped", Fault(wide, by_value(wide, lambda c: c.byteswap()), ("dst-byte-order",))
    yield "stuck bit", Fault(SDP, by_value(SDP, lambda c: c | 8), ("dst-stuck-bit",))
    # Floating-point registers hold patterns, without a sign in front.
    by_register = replace(product, x1=StageSource(mul=0x4248))
    negated = run(replace(product, x1=StageSource(mul=0xC248)), FP16)
    yield "FP16 register negated", Fault(by_register, negated, ("stage-register",), FP16)


def control() -> Iterator[tuple[str, Fault]]:
    right = run(SDP)

    def without(lost: Callable[[int, int, int], bool]) -> Patch:
        surface, line = strides(SDP)
        mask = right.mask.copy()
        for c, h, w in np.ndindex(24, 5, 6):
            if lost(c, h, w):
                mask[c // 8 * surface + h * line + w * 8 + c % 8] = False
        return replace(right, mask=mask)

    yield "last line lost", Fault(SDP, without(lambda c, h, w: h == 4), ("lost-part",))
    yield "one atom lost", Fault(SDP, without(lambda c, h, w: (c // 8, h, w) == (1, 2, 3)), ("lost-write",))
    yield "upper half never strobed", Fault(SDP, without(lambda c, h, w: c % 8 > 3), ("strobe",))
    cube = elements(COPY)
    atoms = [cube[8 * s : 8 * s + 8, h, w].copy() for s in range(3) for h in range(5) for w in range(6)]
    twice = np.empty_like(cube)
    for number, (s, h, w) in enumerate(np.ndindex(3, 5, 6)):
        twice[8 * s : 8 * s + 8, h, w] = atoms[number // 2 * 2]
    yield "every write doubled", Fault(COPY, by_value(COPY, lambda _: twice), ("write-order",))
