"""Faults of layout: atoms put elsewhere by literal loops, and inputs that lie elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tb.nvdla.layers import StageSource
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import MEMORY, Fault, by_place, elements, run, strides, written

SDP, COPY = cases.sdp_layer(), cases.copy_layer()


def walks() -> Iterator[tuple[str, Fault]]:
    surface, line = strides(SDP)
    for step in (8, 16, 64, -8):
        yield (
            f"line stride {step:+d}",
            Fault(
                SDP,
                by_place(SDP, lambda c, h, w, s=step: c // 8 * surface + h * (line + s) + w * 8 + c % 8),
                ("dst-line-stride",),
            ),
        )
        yield (
            f"surface stride {step:+d}",
            Fault(
                SDP,
                by_place(SDP, lambda c, h, w, s=step: c // 8 * (surface + s) + h * line + w * 8 + c % 8),
                ("dst-surface-stride",),
            ),
        )
        yield (
            f"base {step:+d}",
            Fault(
                SDP,
                by_place(SDP, lambda c, h, w, s=step: s + c // 8 * surface + h * line + w * 8 + c % 8),
                ("dst-base",),
            ),
        )
    swapped = {1: 6, 6: 1}
    yield (
        "bytes 1 and 6 of the bus swapped",
        Fault(
            SDP,
            by_place(SDP, lambda c, h, w: c // 8 * surface + h * line + w * 8 + swapped.get(c % 8, c % 8)),
            ("bus-lanes",),
        ),
    )
    yield (
        "W and H swapped",
        Fault(COPY, by_place(COPY, lambda c, h, w: c // 8 * 240 + w * 40 + h * 8 + c % 8), ("dst-axes",)),
    )
    yield (
        "surfaces backwards",
        Fault(COPY, by_place(COPY, lambda c, h, w: (2 - c // 8) * 240 + h * 48 + w * 8 + c % 8), ("dst-order",)),
    )
    yield (
        "lines of all surfaces together",
        Fault(COPY, by_place(COPY, lambda c, h, w: h * 3 * 48 + c // 8 * 48 + w * 8 + c % 8), ("dst-axes",)),
    )
    yield (
        "atoms of 32 bytes",
        Fault(COPY, by_place(COPY, lambda c, h, w: h * 6 * 32 + w * 32 + c), ("dst-atom+strobe",)),
    )
    yield (
        "atom left-aligned without padding",
        Fault(
            COPY,
            written(
                COPY,
                (
                    (h * 6 * 21 + w * 21 + c, bytes([v]))
                    for (c, h, w), v in np.ndenumerate(elements(COPY)[:21].view(np.uint8))
                ),
            ),
            ("dst-channel-padding",),
        ),
    )
    yield "planes", Fault(COPY, by_place(COPY, lambda c, h, w: c * 30 + h * 6 + w), ("dst-axes",))
    for name, layer in (("line", replace(SDP, src=replace(SDP.src, layout=cases.gapped((21, 5, 6), 2, -2)))),):
        yield f"input {name} stride", Fault(SDP, run(layer), ("src-line-stride",))
    far = replace(SDP, src=replace(SDP.src, layout=cases.gapped((21, 5, 6), 1, 7)))
    yield "input surface stride", Fault(SDP, run(far), ("src-surface-stride",))
    yield "input address", Fault(SDP, run(replace(SDP, src=replace(SDP.src, address=cases.SRC + 64))), ("src-base",))
    wide = {
        "src": replace(SDP.src, layout=cases.gapped((21, 5, 6), 1, 3 + 4)),
        "dst": replace(SDP.dst, layout=cases.gapped((21, 5, 6), 2, 5 + 4)),
    }
    assert SDP.x2 is not None
    assert SDP.x2.memory is not None
    operands = SDP.x2.memory.layout
    x2 = StageSource(
        memory=replace(SDP.x2.memory, layout=replace(operands, surface_stride_bytes=operands.surface_stride_bytes + 32))
    )
    shared = replace(SDP, **wide, x2=x2)
    # The bias per channel has no strides in its layout: its atoms lie 32 bytes further apart, too.
    spread = MEMORY.read(cases.X1, 3 * 8 + 64).data.copy()
    spread[8:16], spread[16:24] = spread[40:48].copy(), spread[80:88].copy()
    yield (
        "every surface stride",
        Fault(SDP, run(shared, full.stored(MEMORY, cases.X1, spread[:24])), ("every-surface-stride",)),
    )
