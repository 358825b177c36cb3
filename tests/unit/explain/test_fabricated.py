"""Memory as real faults leave it, made without the explainer: literal loops, other layers, altered operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.lut import LutChoice
from models.pdp import PoolMethod
from models.sdp import AluOp, YStage
from tb.explain import diagnose
from tb.explain.memory import Patch
from tb.layers import PdpLayer, SdpLayer, StageSource
from tests.unit.explain import cases
from tests.unit.explain import full_cases as full
from tests.unit.explain.conv_faults import convolutions
from tests.unit.explain.faults import FP16, MEMORY, Fault, altered, by_place, by_value, elements, run, strides, written

SDP, COPY, REGISTERS, PAIRS = cases.sdp_layer(), cases.copy_layer(), cases.register_layer(), cases.pair_layer()
AVERAGE, MAXIMUM, CDP = cases.pdp_layer(), cases.pdp_layer(PoolMethod.MAX), cases.cdp_layer()


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


FAULTS = dict([*walks(), *sdp(), *other_engines(), *convolutions(), *numbers(), *control()])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_made_without_the_explainer_is_named_first(name: str) -> None:
    fault = FAULTS[name]
    evidence = cases.evidence_of(fault.layer, fault.memory, lambda _: fault.left)
    assert evidence.rerun is not None
    diagnosis = diagnose(evidence)
    assert diagnosis.probable is not None, diagnosis.fits
    assert diagnosis.probable.name in fault.names
    assert diagnosis.probable.share == 1.0
