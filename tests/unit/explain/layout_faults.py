"""Faults of layout: atoms put elsewhere by literal loops, and inputs that lie elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from nvdla_tb.nvdla.layers import Layer, StageSource
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import MEMORY, Fault, by_place, elements, run, strides, written

SDP, COPY = cases.sdp_layer(), cases.copy_layer()


def walks() -> Iterator[Fault]:
    surface, line = strides(SDP)

    def placed(title: str, name: str, place: Callable[[int, int, int], int], layer: Layer = SDP) -> Fault:
        return Fault(title, layer, by_place(layer, place), name)

    for n in (8, 16, 64, -8):
        at = partial(lambda n, c, h, w: c // 8 * surface + h * (line + n) + w * 8 + c % 8, n)
        yield placed(f"line stride {n:+d}", "dst-line-stride", at)
        at = partial(lambda n, c, h, w: c // 8 * (surface + n) + h * line + w * 8 + c % 8, n)
        yield placed(f"surface stride {n:+d}", "dst-surface-stride", at)
        at = partial(lambda n, c, h, w: n + c // 8 * surface + h * line + w * 8 + c % 8, n)
        yield placed(f"base {n:+d}", "dst-base", at)
    lanes = (0, 6, 2, 3, 4, 5, 1, 7)
    yield placed(
        "bytes 1 and 6 of the bus swapped",
        "bus-lanes",
        lambda c, h, w: c // 8 * surface + h * line + w * 8 + lanes[c % 8],
    )
    for title, name, at in (
        ("W and H swapped", "dst-axes", lambda c, h, w: c // 8 * 240 + w * 40 + h * 8 + c % 8),
        ("surfaces backwards", "dst-order", lambda c, h, w: (2 - c // 8) * 240 + h * 48 + w * 8 + c % 8),
        ("lines of all surfaces together", "dst-axes", lambda c, h, w: h * 3 * 48 + c // 8 * 48 + w * 8 + c % 8),
        ("atoms of 32 bytes", "dst-atom+strobe", lambda c, h, w: h * 6 * 32 + w * 32 + c),
        ("planes", "dst-axes", lambda c, h, w: c * 30 + h * 6 + w),
    ):
        yield placed(title, name, at, COPY)
    real = np.ndenumerate(elements(COPY)[:21].view(np.uint8))
    left_aligned = written(COPY, ((h * 6 * 21 + w * 21 + c, bytes([v])) for (c, h, w), v in real))
    yield Fault("atom left-aligned without padding", COPY, left_aligned, "dst-channel-padding")

    shape = (21, 5, 6)
    assert SDP.x2 is not None
    assert SDP.x2.memory is not None
    operands = SDP.x2.memory.layout
    spread = replace(operands, surface_stride_bytes=operands.surface_stride_bytes + 32)
    shared = replace(
        SDP,
        src=replace(SDP.src, layout=cases.gapped(shape, 1, 3 + 4)),
        dst=replace(SDP.dst, layout=cases.gapped(shape, 2, 5 + 4)),
        x2=StageSource(memory=replace(SDP.x2.memory, layout=spread)),
    )
    # The bias per channel has no strides in its layout: its atoms lie 32 bytes further apart, too.
    bias = MEMORY.read(cases.X1, 3 * 8 + 64).data.copy()
    bias[8:16], bias[16:24] = bias[40:48].copy(), bias[80:88].copy()
    left = run(shared, full.stored(MEMORY, cases.X1, bias[:24]))
    yield Fault("every surface stride", SDP, left, "every-surface-stride")
