"""Causes in what SDP computes: rounding, saturation, stages, converter, signs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from nvdla_models.arithmetic import Rounding, Site, Step
from nvdla_models.errors import InputError
from nvdla_models.sdp import AluOp, SdpStage, YStage
from nvdla_tb.explain.cause import Cause, Kinds, Way, of_kinds
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.causes.reach import Part, changed
from nvdla_tb.explain.engines import Make, PdpRun, Run, SdpRun, StageRun
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.traits import watched
from nvdla_tb.explain.walk import Cube


def rules(run: Run, **new: object) -> Make:
    """Return what makes the run with other rules of arithmetic."""
    return Part(run, "rules", run.rules).other(**new)


def _rounding(evidence: Evidence, run: Run) -> Iterator[Way]:
    for rounding in Rounding:
        yield Way(rounding.value, rules(run, rounding=rounding))
    for site in _sites(evidence, run, Step.SHIFT_RIGHT):
        for rounding in Rounding:
            yield Way(f"{rounding.value} in the {site.value} alone", rules(run, rounding=rounding, site=site))


def _sites(evidence: Evidence, run: Run, step: Step) -> list[Site]:
    """Return where the layer drops bits, or saturates, when it is right; nothing where that is one site alone."""
    if run is not evidence.rerun:
        return []
    found = [event.site for event in watched(evidence, run)[1] if event.step is step and event.acts.any()]
    sites = list(dict.fromkeys(found))
    return sites if len(sites) > 1 else []


def _saturation(evidence: Evidence, run: Run) -> Iterator[Way]:
    output = 8 * run.dst.dtype.itemsize
    for width, where in ((None, ""), (output, f", in the last step, to {output} bits")):
        for wraps, what in (
            ((True, True), "numbers wrap"),
            ((True, False), "negative numbers wrap"),
            ((False, True), "positive numbers wrap"),
        ):
            yield Way(f"{what}{where}", rules(run, saturates=False, wraps_at=width, wraps=wraps))
    for site in _sites(evidence, run, Step.SATURATE):
        yield Way(f"numbers wrap in the {site.value} alone", rules(run, saturates=False, site=site))


def _always(detail: str, new: Mapping[str, object], evidence: Evidence, run: Run) -> Iterator[Way]:
    yield Way(detail, rules(run, **new))


def _compare(evidence: Evidence, run: Run) -> Iterator[Way]:
    for what, unsigned in (("both", (True, True)), ("maximum", (True, False)), ("minimum", (False, True))):
        yield Way(what, rules(run, unsigned=unsigned))
    for _ in reach.engines(run, PdpRun):
        for side, along in (("width", (True, False)), ("height", (False, True))):
            for what, unsigned in (("", (False, False)), ("maximum, ", (True, False)), ("minimum, ", (False, True))):
                detail = f"{what}along the {side} of a window alone"
                yield Way(detail, rules(run, unsigned_along=along, unsigned=unsigned))


def _constants(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield runs with a constant added to what SDP takes or to the ALU operand of a stage."""
    for sdp in reach.engines(run, SdpRun):
        if sdp.value.params.is_float:
            return
        whose = "the sums of CACC" if _ends_convolution(sdp) else "SDP's input"
        for constant in _CONSTANTS:
            yield Way(f"{constant:+d} to {whose}", sdp.other(added=sdp.value.added + constant))
            for name, part in reach.stages(run):
                if part.value.stage.alu is not None:
                    more = part.other(added=part.value.added + constant)
                    yield Way(f"{constant:+d} to the ALU operand of {name}", more)


def _ends_convolution(sdp: Part[SdpRun]) -> bool:
    return sdp.path.endswith(".sdp")


_CONSTANTS = tuple(sign << bit for bit in range(9) for sign in (1, -1))
"""Carries that are set or lost at the low bits."""


def _converter(run: Run) -> Kinds:
    """Yield everything that may be wrong with the output converter."""
    for sdp in reach.engines(run, SdpRun):
        converter = sdp.part("params").part("converter")
        old = sdp.value.params.converter
        for shift in (0, old.shift - 1, old.shift + 1, old.shift - 2, old.shift + 2, old.shift & 31, old.shift & 15):
            yield "shift", f"{shift} instead of {old.shift}", converter.other(shift=shift)
        yield "scale", f"1 instead of {old.scale}", converter.other(scale=1)
        yield "scale", f"{-old.scale} instead of {old.scale}", converter.other(scale=-old.scale)
        yield "scale", f"unsigned, {old.scale & 0x7FFF}", converter.other(scale=old.scale & 0x7FFF)
        yield "scale", "its low byte alone", converter.other(scale=_low_bits(old.scale, 8))
        for offset, what in (
            (0, "left out"),
            (-old.offset, "added instead of subtracted"),
            (old.offset + 1, "one too large"),
            (old.offset - 1, "one too small"),
            (_low_bits(old.offset, 16), "its low 16 bits alone"),
            (_low_bits(old.offset, 8), "its low byte alone"),
        ):
            yield "offset", f"{what}, {offset} instead of {old.offset}", converter.other(offset=offset)
        if sdp.value.x2 is None and old.offset:
            yield "order", "offset subtracted after the multiplication", partial(_offset_last, sdp)
        yield "bypass", "left out", converter.other(offset=0, scale=1, shift=0)


def _offset_last(sdp: Part[SdpRun]) -> Run:
    """Return a run in which X2 multiplies by the scale of the converter, which has none."""
    multiply = StageRun(SdpStage(None, 0, True, False, 0, False), mul=sdp.value.params.converter.scale)
    run = sdp.other("params.converter", scale=1)()
    return changed(run, sdp.path, {"x2": multiply})


def _low_bits(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return ((value + half) & (2 * half - 1)) - half


def _stages(run: Run) -> Kinds:
    """Yield everything that may be wrong with X1, X2 and the registers of Y."""
    floats = any(sdp.value.params.is_float for sdp in reach.engines(run, SdpRun))
    for title, part in reach.stages(run):
        old, stage = part.value.stage, part.part("stage")
        yield "bypass", f"{title} left out", part.put(None)  # type: ignore[arg-type]
        yield from _registers(title, part, floats)
        if isinstance(old, YStage):
            continue
        if old.relu:
            yield "relu", f"ReLU of {title} left out", stage.other(relu=False)
            early = stage.other(relu=False)
            yield "relu", f"ReLU before {title} instead of after it", partial(_relu_first, early)
            yield "relu", f"ReLU of {title} after the output converter", partial(_relu_last, early)
        else:
            yield "relu", f"ReLU of {title} where none is asked for", stage.other(relu=True)
        if old.mul_prelu:
            yield "prelu", f"PReLU of {title} multiplies positive numbers too", stage.other(mul_prelu=False)
        elif old.mul:
            yield "prelu", f"{title} multiplies only negative numbers, as PReLU", stage.other(mul_prelu=True)
        if old.alu is not None:
            yield "alu", f"ALU of {title} left out", stage.other(alu=None)
            for op in AluOp:
                yield "alu", f"{op.value} instead of {old.alu.value} in {title}", stage.other(alu=op)
            for shift in _misread(old.alu_shift):
                yield "alu-shift", f"{shift} instead of {old.alu_shift} in {title}", stage.other(alu_shift=shift)
        if old.mul:
            yield "mul", f"multiplier of {title} left out", stage.other(mul=False)
        for shift in _misread(old.mul_shift):
            yield "mul-shift", f"{shift} instead of {old.mul_shift} in {title}", stage.other(mul_shift=shift)
    for sdp in reach.engines(run, SdpRun):
        x1, x2 = sdp.value.x1, sdp.value.x2
        if x1 or x2:
            yield "order", "X2 before X1", sdp.other(x1=x2, x2=x1)
        for name, works, other in (("X1", x1, x2), ("X2", x2, x1)):
            if works is not None and works.stage.alu is not None and works.stage.mul and other is None:
                yield "order", f"{name} multiplies before its ALU", partial(_split, sdp, works)


def _misread(shift: int) -> tuple[int, ...]:
    return 0, shift - 1, shift + 1, shift & 15, shift & 31


def _registers(title: str, part: Part[StageRun], floats: bool) -> Kinds:
    """Yield what the registers of a stage may be taken for; those of floating point hold patterns."""
    sign = 1 << (31 if isinstance(part.value.stage, YStage) else 15)
    alu, mul = part.value.alu, part.value.mul
    for component, value in (("alu", alu), ("mul", mul)):
        if value is None:
            continue
        where = f"{component.upper()} operand of {title}"
        others = (
            (-value, "negated"),
            (0, "0"),
            (value & 0x7FFF, "unsigned"),
            (_low_bits(value, 8), "its low byte alone"),
            (value & 0xFF, "its low byte alone, unsigned"),
        )
        patterns = ((value ^ sign, "negated"), (0, "0"), (value & ~sign, "without its sign"))
        for other, what in patterns if floats else others:
            yield "register", f"{where} {what}: {other} instead of {value}", part.other(**{component: other})
    if alu is not None and mul is not None:
        yield "register", f"operands of {title} swapped", part.other(alu=mul, mul=alu)


def _relu_first(make: Make) -> Run:
    run = make()
    for _, walk in reach.inputs(run):
        return walk.other(twist=_positive)()
    raise InputError("engine must read a feature cube")


def _relu_last(make: Make) -> Run:
    run = make()
    return replace(run, values=(*run.values, _positive))


def _positive(cube: Cube) -> Cube:
    positive: Cube = np.maximum(cube, 0)
    return positive


def _split(sdp: Part[SdpRun], part: StageRun) -> Run:
    """Return a run whose multiplier works in X1 and whose ALU works in X2."""
    mul = replace(changed(part, "stage", {"alu": None, "relu": False}), alu=None)
    alu = replace(changed(part, "stage", {"mul": False, "mul_shift": 0}), mul=None)
    return sdp.other(x1=mul, x2=alu)()


def _signs(evidence: Evidence, run: Run) -> Iterator[Way]:
    for sdp in reach.engines(run, SdpRun):
        if not _ends_convolution(sdp):
            yield Way("input taken as unsigned", sdp.other(unsigned=True))
    fetched = [(name, part.path) for name, part in reach.stages(run) if part.value.walk is not None]
    for chosen in [*([one] for one in fetched), *([fetched] if len(fetched) > 1 else [])]:
        whose = " and ".join(name for name, _ in chosen)
        make = partial(_with_unsigned, run, [path for _, path in chosen])
        yield Way(f"operands of {whose} taken as unsigned", make)


def _with_unsigned(run: Run, paths: Sequence[str]) -> Run:
    for path in paths:
        run = changed(run, path, {"unsigned": True})
    return run


_CONVERTER = {
    "shift": "output converter: wrong shift",
    "scale": "output converter: wrong scale",
    "offset": "output converter: wrong offset",
    "order": "output converter: wrong order",
    "bypass": "output converter",
}
_STAGES = {
    "relu": "ReLU at the wrong place",
    "prelu": "PReLU",
    "alu": "wrong ALU operation",
    "alu-shift": "wrong shift of the ALU operand",
    "mul": "multiplication missing",
    "mul-shift": "wrong truncation after the multiplier",
    "register": "wrong operand register",
    "order": "wrong order of stages",
    "bypass": "stage missing",
}

_SYMMETRIC = partial(_always, "the smallest number becomes -max, as -127", {"symmetric": True})
_PRELU = partial(_always, "", {"prelu_truncates": True})

CAUSES = (
    Cause("rounding", "wrong rounding", _rounding, reruns=True),
    Cause("saturation", "saturation missing", _saturation, reruns=True),
    Cause("saturation-symmetric", "symmetric saturation", _SYMMETRIC, reruns=True),
    Cause("compare", "maximum or minimum compares as unsigned", _compare, reruns=True),
    Cause("prelu-truncates", "PReLU shifts positive numbers too", _PRELU, reruns=True),
    Cause("constant", "a constant added", _constants, reruns=True, cost_bits=9.0),
    Cause("sign", "wrong sign", _signs, reruns=True),
    *of_kinds("converter", _CONVERTER, _converter),
    *of_kinds("stage", _STAGES, _stages),
)
