"""Faults of SDP: other parameters, altered operands, and its arithmetic done literally with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import OperandLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpStage
from nvdla_tb.explain.memory import Patch
from nvdla_tb.nvdla.layers import OperandSurface, SdpLayer, StageSource
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import MEMORY, Fault, altered, by_value, elements, run
from tests.unit.nvdla.samples import SMALL

SDP, REGISTERS, PAIRS = cases.sdp_layer(), cases.register_layer(), cases.pair_layer()


def sdp() -> Iterator[Fault]:
    zeros = altered(SDP, cases.X1, 24, np.zeros_like, MEMORY)
    yield Fault("bias of zeros", SDP, zeros, "operand-zero", or_else=("operand-sharing", "stage-alu"))

    def pairs(title: str, name: str, change: Callable[[NDArray[np.uint16]], NDArray[np.uint16]]) -> Fault:
        def changed(raw: NDArray[np.uint8]) -> NDArray[np.uint8]:
            return change(raw.view("<u2")).copy().view(np.uint8).ravel()

        return Fault(title, PAIRS, altered(PAIRS, cases.X1, 96, changed, MEMORY), name)

    yield pairs("operands swapped", "operand-pairs", lambda numbers: numbers.reshape(-1, 2)[:, ::-1])
    yield pairs("operands' bytes swapped", "operand-byte-order", lambda numbers: numbers.byteswap())
    # ((x + alu) * mul) >> 2, - 23, * 3, >> 7, each literally with a rounding or without a limit.
    raw = REGISTERS.src.layout.unpack_padded(MEMORY.read(cases.SRC, REGISTERS.src.layout.nbytes).data).astype(object)
    products = (raw - 61) * 293

    def literal(shift: Callable[[Any, int], Any], limit: Callable[[Any], Any]) -> NDArray[np.int8]:
        scaled = np.vectorize(lambda v: limit(shift((shift(v, 2) - 23) * 3, 7)), otypes=[np.int64])(products)
        return scaled.astype(np.int8)

    def away(value: int, bits: int) -> int:
        half = 1 << (bits - 1)
        return (value + half) >> bits if value >= 0 else -((-value + half) >> bits)

    def clip(value: int) -> int:
        return max(-128, min(127, value))

    def valued(title: str, layer: SdpLayer, name: str, values: NDArray[np.int8]) -> Fault:
        return Fault(title, layer, by_value(layer, lambda _: values), name)

    np.testing.assert_array_equal(literal(away, clip), elements(REGISTERS))
    for title, shift, limit, name in (
        ("rounding", lambda v, n: v >> n, clip, "rounding"),
        ("saturation", away, lambda v: v, "saturation"),
        ("saturation below", away, lambda v: min(127, v), "saturation"),
        ("symmetric saturation", away, lambda v: max(-127, min(127, v)), "saturation-symmetric"),
    ):
        yield valued(title, REGISTERS, name, literal(shift, limit))
    products += 293
    yield valued("a carry into the sum", REGISTERS, "constant", literal(away, clip))
    copy = cases.copy_layer()
    larger = SdpStage(AluOp.MAX, 0, mul=False, mul_prelu=False, mul_shift=0, relu=False)
    limited = replace(copy, params=replace(copy.params, x1=larger), x1=StageSource(alu=20))
    largest = np.vectorize(lambda v: v if v < 0 or v > 20 else 20, [np.int8])(raw)
    yield valued("unsigned maximum", limited, "compare", largest)
    prelu = SdpStage(None, 0, mul=True, mul_prelu=True, mul_shift=2, relu=False)
    leaky = replace(copy, params=replace(copy.params, x1=prelu), x1=StageSource(mul=3))
    shifted = np.vectorize(lambda v: (int(v) + 2) >> 2 if v >= 0 else -((-3 * int(v) + 2) >> 2), [np.int8])(raw)
    yield valued("positive numbers of PReLU shifted", leaky, "prelu-truncates", shifted)
    yield Fault("operands of both stages unsigned", SDP, zero_extended(SDP), "sign")


def zero_extended(layer: SdpLayer) -> Patch:
    """Return what a layer leaves whose operands of one byte are those of two bytes, the upper one 0."""
    memory = MEMORY
    for name, address in (("x1", cases.X1 + 0x2000), ("x2", cases.X2 + 0x4000)):
        surface = getattr(layer, name).memory
        narrow = surface.layout
        wide = OperandLayout.packed(SMALL, Precision.INT8, narrow.shape, narrow.components, 2)
        raw = MEMORY.read(surface.address, narrow.nbytes).data
        memory = full.stored(memory, address, raw.astype("<u2").view(np.uint8))
        layer = replace(layer, **{name: StageSource(memory=OperandSurface(wide, address))})
    return run(layer, memory)
