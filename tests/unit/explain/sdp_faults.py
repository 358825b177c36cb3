"""Faults of SDP: other parameters, altered operands, and its arithmetic done literally with one thing wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.layout import OperandLayout
from models.precision import Precision
from models.sdp import AluOp, SdpStage
from tb.explain.memory import Patch
from tb.nvdla.layers import OperandSurface, SdpLayer, StageSource
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.faults import MEMORY, Fault, altered, by_value, elements, run
from tests.unit.nvdla.samples import SMALL

SDP, REGISTERS, PAIRS = cases.sdp_layer(), cases.register_layer(), cases.pair_layer()


def sdp() -> Iterator[tuple[str, Fault]]:
    def parameters(layer: SdpLayer, names: str, **new: Any) -> Fault:
        return Fault(layer, run(replace(layer, params=replace(layer.params, **new))), (names,))

    converter = REGISTERS.params.converter
    yield "converter shift", parameters(REGISTERS, "converter-shift", converter=replace(converter, shift=8))
    yield "converter scale", parameters(REGISTERS, "converter-scale", converter=replace(converter, scale=1))
    yield "converter offset", parameters(REGISTERS, "converter-offset", converter=replace(converter, offset=0))
    for name in ("relu", "bias shift", "operation"):
        stage = SDP.params.x1
        assert stage is not None
        new = {"relu": {"relu": False}, "bias shift": {"alu_shift": 0}, "operation": {"alu": AluOp.MAX}}[name]
        cause = {"relu": "stage-relu", "bias shift": "stage-alu-shift", "operation": "stage-alu"}[name]
        yield f"X1 {name}", parameters(SDP, cause, x1=replace(stage, **new))
    second = SDP.params.x2
    assert second is not None
    yield "X2 truncation", parameters(SDP, "stage-mul-shift", x2=replace(second, mul_shift=4))
    yield "X2 PReLU", parameters(SDP, "stage-prelu", x2=replace(second, mul_prelu=True))
    yield (
        "X2 before X1",
        Fault(
            SDP,
            run(replace(SDP, params=replace(SDP.params, x1=second, x2=SDP.params.x1), x1=SDP.x2, x2=SDP.x1)),
            ("stage-order",),
        ),
    )
    yield (
        "bias of zeros",
        Fault(SDP, altered(SDP, cases.X1, 24, np.zeros_like, MEMORY), ("operand-zero", "operand-sharing", "stage-alu")),
    )
    yield (
        "operands swapped",
        Fault(
            PAIRS,
            altered(
                PAIRS,
                cases.X1,
                96,
                lambda b: b.view("<u2").reshape(-1, 2)[:, ::-1].copy().view(np.uint8).ravel(),
                MEMORY,
            ),
            ("operand-pairs",),
        ),
    )
    yield (
        "operands' bytes swapped",
        Fault(
            PAIRS,
            altered(PAIRS, cases.X1, 96, lambda b: b.view("<u2").byteswap().view(np.uint8), MEMORY),
            ("operand-byte-order",),
        ),
    )
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

    right = literal(away, clip)
    np.testing.assert_array_equal(right, elements(REGISTERS))
    yield "rounding", Fault(REGISTERS, by_value(REGISTERS, lambda _: literal(lambda v, n: v >> n, clip)), ("rounding",))
    yield "saturation", Fault(REGISTERS, by_value(REGISTERS, lambda _: literal(away, lambda v: v)), ("saturation",))
    wrapped = literal(away, lambda v: min(127, v))
    yield "saturation below", Fault(REGISTERS, by_value(REGISTERS, lambda _: wrapped), ("saturation",))
    symmetric = literal(away, lambda v: max(-127, min(127, v)))
    yield "symmetric saturation", Fault(REGISTERS, by_value(REGISTERS, lambda _: symmetric), ("saturation-symmetric",))
    products += 293
    carried = literal(away, clip)
    yield "a carry into the sum", Fault(REGISTERS, by_value(REGISTERS, lambda _: carried), ("constant",))
    larger = SdpStage(AluOp.MAX, 0, mul=False, mul_prelu=False, mul_shift=0, relu=False)
    limited = replace(cases.copy_layer(), params=replace(cases.copy_layer().params, x1=larger), x1=StageSource(alu=20))
    yield (
        "unsigned maximum",
        Fault(
            limited,
            by_value(limited, lambda _: np.vectorize(lambda v: v if v < 0 or v > 20 else 20, [np.int8])(raw)),
            ("compare",),
        ),
    )
    prelu = SdpStage(None, 0, mul=True, mul_prelu=True, mul_shift=2, relu=False)
    leaky = replace(cases.copy_layer(), params=replace(cases.copy_layer().params, x1=prelu), x1=StageSource(mul=3))
    shifted = np.vectorize(lambda v: (int(v) + 2) >> 2 if v >= 0 else -((-3 * int(v) + 2) >> 2), [np.int8])(raw)
    yield "positive numbers of PReLU shifted", Fault(leaky, by_value(leaky, lambda _: shifted), ("prelu-truncates",))
    yield "operands of both stages unsigned", Fault(SDP, zero_extended(SDP), ("sign",))


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
