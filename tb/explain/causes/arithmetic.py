"""Causes in what SDP computes: rounding, saturation, stages, converter, signs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from models.arithmetic import Rounding, Site, Step
from models.errors import InputError
from models.sdp import AluOp, SdpStage, YStage
from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import reach
from tb.explain.causes.reach import setting
from tb.explain.engines import SdpRun, StageRun
from tb.explain.evidence import Evidence
from tb.explain.run import Run
from tb.explain.walk import Cube
from tb.explain.watched import watched


def _rounding(evidence: Evidence, run: Run) -> Iterator[Variant]:
    for rounding in Rounding:
        yield Variant(rounding.value, replace(run, rules=replace(run.rules, rounding=rounding)))
    for site in _sites(evidence, run, Step.SHIFT_RIGHT):
        for rounding in Rounding:
            rules = replace(run.rules, rounding=rounding, site=site)
            yield Variant(f"{rounding.value} in the {site.value} alone", replace(run, rules=rules))


def _sites(evidence: Evidence, run: Run, step: Step) -> list[Site]:
    """Return where the layer drops bits, or saturates, when it is right; nothing where that is one site alone."""
    if run is not evidence.rerun:
        return []
    found = [event.site for event in watched(evidence, run).events if event.step is step and event.acts.any()]
    sites = list(dict.fromkeys(found))
    return sites if len(sites) > 1 else []


def _saturation(evidence: Evidence, run: Run) -> Iterator[Variant]:
    output = 8 * run.dst.dtype.itemsize
    for width, where in ((None, ""), (output, f", in the last step, to {output} bits")):
        for wraps, what in (
            ((True, True), "numbers wrap"),
            ((True, False), "negative numbers wrap"),
            ((False, True), "positive numbers wrap"),
        ):
            rules = replace(run.rules, saturates=False, wraps_at=width, wraps=wraps)
            yield Variant(f"{what}{where}", replace(run, rules=rules))
    for site in _sites(evidence, run, Step.SATURATE):
        rules = replace(run.rules, saturates=False, site=site)
        yield Variant(f"numbers wrap in the {site.value} alone", replace(run, rules=rules))


def _symmetric(evidence: Evidence, run: Run) -> Iterator[Variant]:
    yield Variant("the smallest number becomes -max, as -127", replace(run, rules=replace(run.rules, symmetric=True)))


def _compare(evidence: Evidence, run: Run) -> Iterator[Variant]:
    for what, unsigned in (("both", (True, True)), ("maximum", (True, False)), ("minimum", (False, True))):
        yield Variant(what, replace(run, rules=replace(run.rules, unsigned=unsigned)))
    if reach.pooling(run) is not None:
        for side, along in (("width", (True, False)), ("height", (False, True))):
            for what, unsigned in (("", (False, False)), ("maximum, ", (True, False)), ("minimum, ", (False, True))):
                rules = replace(run.rules, unsigned_along=along, unsigned=unsigned)
                yield Variant(f"{what}along the {side} of a window alone", replace(run, rules=rules))


def _prelu(evidence: Evidence, run: Run) -> Iterator[Variant]:
    yield Variant("", replace(run, rules=replace(run.rules, prelu_truncates=True)))


def _constants(evidence: Evidence, run: Run) -> Iterator[Variant]:
    """Yield runs with a constant added to what SDP takes or to the ALU operand of a stage."""
    sdp = reach.sdp_of(run)
    if sdp is None or sdp.params.is_float:
        return
    # A cube from memory is SDP's input; after a convolution it is the sums that CACC delivers.
    whose = "SDP's input" if sdp is reach.first(run) else "the sums of CACC"
    for constant in _CONSTANTS:
        yield from attempt(
            f"{constant:+d} to {whose}", partial(reach.with_sdp, run, replace(sdp, added=sdp.added + constant))
        )
        for name, part in reach.stages(run):
            if part.stage.alu is not None:
                more = replace(part, added=part.added + constant)
                where = f"the ALU operand of {name.upper()}"
                yield from attempt(f"{constant:+d} to {where}", partial(reach.with_stage, run, name, more))


_CONSTANTS = tuple(sign << bit for bit in range(9) for sign in (1, -1))
"""Carries that are set or lost at the low bits."""


def _converter(evidence: Evidence, run: Run) -> Iterator[tuple[str, str, Callable[[], Run]]]:
    """Yield (kind, detail, run) of everything that may be wrong with the output converter."""
    sdp = reach.sdp_of(run)
    if sdp is None:
        return
    old = sdp.params.converter

    def make(**new: int) -> Callable[[], Run]:
        return partial(_with_converter, run, sdp, new)

    for shift in (0, old.shift - 1, old.shift + 1, old.shift - 2, old.shift + 2, old.shift & 31, old.shift & 15):
        yield "shift", f"{shift} instead of {old.shift}", make(shift=shift)
    yield "scale", f"1 instead of {old.scale}", make(scale=1)
    yield "scale", f"{-old.scale} instead of {old.scale}", make(scale=-old.scale)
    yield "scale", f"unsigned, {old.scale & 0x7FFF}", make(scale=old.scale & 0x7FFF)
    yield "scale", "its low byte alone", make(scale=_low_byte(old.scale))
    for offset, what in (
        (0, "left out"),
        (-old.offset, "added instead of subtracted"),
        (old.offset + 1, "one too large"),
        (old.offset - 1, "one too small"),
        (_low_bits(old.offset, 16), "its low 16 bits alone"),
        (_low_byte(old.offset), "its low byte alone"),
    ):
        yield "offset", f"{what}, {offset} instead of {old.offset}", make(offset=offset)
    if sdp.x2 is None and old.offset:
        late = StageRun(SdpStage(None, 0, True, False, 0, False), mul=old.scale)
        yield (
            "order",
            "offset subtracted after the multiplication",
            lambda: reach.with_sdp(
                run, replace(sdp, x2=late, params=replace(sdp.params, converter=replace(old, scale=1)))
            ),
        )
    yield "bypass", "left out", make(offset=0, scale=1, shift=0)


def _with_converter(run: Run, sdp: SdpRun, new: dict[str, int]) -> Run:
    params = replace(sdp.params, converter=setting(**new)(sdp.params.converter))
    return reach.with_sdp(run, replace(sdp, params=params))


def _low_byte(value: int) -> int:
    return _low_bits(value, 8)


def _low_bits(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return ((value + half) & (2 * half - 1)) - half


def _of_converter(kind: str, evidence: Evidence, run: Run) -> Iterator[Variant]:
    for found, detail, make in _converter(evidence, run):
        if found == kind:
            yield from attempt(detail, make)


def _stages(evidence: Evidence, run: Run) -> Iterator[tuple[str, str, Callable[[], Run]]]:
    """Yield (kind, detail, run) of everything that may be wrong with X1, X2 and the registers of Y."""
    for name, part in reach.stages(run):
        old, title = part.stage, name.upper()
        yield "bypass", f"{title} left out", partial(reach.with_stage, run, name, None)
        yield from _registers(run, name, part)
        if isinstance(old, YStage):
            continue

        def make(name: str = name, part: StageRun = part, **new: object) -> Callable[[], Run]:
            return partial(_with_fields, run, name, part, new)

        if old.relu:
            yield "relu", f"ReLU of {title} left out", make(relu=False)
            early = make(relu=False)
            yield "relu", f"ReLU before {title} instead of after it", partial(_relu_first, early)
            yield "relu", f"ReLU of {title} after the output converter", partial(_relu_last, early)
        else:
            yield "relu", f"ReLU of {title} where none is asked for", make(relu=True)
        if old.mul_prelu:
            yield "prelu", f"PReLU of {title} multiplies positive numbers too", make(mul_prelu=False)
        elif old.mul:
            yield "prelu", f"{title} multiplies only negative numbers, as PReLU", make(mul_prelu=True)
        if old.alu is not None:
            yield "alu", f"ALU of {title} left out", make(alu=None)
            for op in AluOp:
                yield "alu", f"{op.value} instead of {old.alu.value} in {title}", make(alu=op)
            for shift in (0, old.alu_shift - 1, old.alu_shift + 1, old.alu_shift & 15, old.alu_shift & 31):
                yield "alu-shift", f"{shift} instead of {old.alu_shift} in {title}", make(alu_shift=shift)
        if old.mul:
            yield "mul", f"multiplier of {title} left out", make(mul=False)
        for shift in (0, old.mul_shift - 1, old.mul_shift + 1, old.mul_shift & 15, old.mul_shift & 31):
            yield "mul-shift", f"{shift} instead of {old.mul_shift} in {title}", make(mul_shift=shift)
    sdp = reach.sdp_of(run)
    if sdp is not None and (sdp.x1 or sdp.x2):
        yield "order", "X2 before X1", lambda: reach.with_sdp(run, replace(sdp, x1=sdp.x2, x2=sdp.x1))
        for first, second in (("x1", "x2"), ("x2", "x1")):
            part = getattr(sdp, first)
            if _works_twice(part) and getattr(sdp, second) is None:
                yield "order", f"{first.upper()} multiplies before its ALU", partial(_split, run, part)


def _registers(run: Run, name: str, part: StageRun) -> Iterator[tuple[str, str, Callable[[], Run]]]:
    for component in ("alu", "mul"):
        value = getattr(part, component)
        if value is None:
            continue
        where = f"{component.upper()} operand of {name.upper()}"
        for other, what in (
            (-value, "negated"),
            (0, "0"),
            (value & 0x7FFF, "unsigned"),
            (_low_byte(value), "its low byte alone"),
            (value & 0xFF, "its low byte alone, unsigned"),
        ):
            changed = setting(**{component: other})(part)
            yield (
                "register",
                f"{where} {what}: {other} instead of {value}",
                partial(reach.with_stage, run, name, changed),
            )
    if part.alu is not None and part.mul is not None:
        swapped = replace(part, alu=part.mul, mul=part.alu)
        yield "register", f"operands of {name.upper()} swapped", partial(reach.with_stage, run, name, swapped)


def _with_fields(run: Run, name: str, part: StageRun, new: dict[str, object]) -> Run:
    return reach.with_stage(run, name, replace(part, stage=setting(**new)(part.stage)))


def _relu_first(make: Callable[[], Run]) -> Run:
    run = make()
    walk = reach.source(run)
    if walk is None:
        raise InputError("engine must read a feature cube")
    return reach.with_source(run, replace(walk, twist=_positive))


def _relu_last(make: Callable[[], Run]) -> Run:
    run = make()
    return replace(run, values=(*run.values, _positive))


def _positive(cube: Cube) -> Cube:
    positive: Cube = np.maximum(cube, 0)
    return positive


def _works_twice(part: StageRun | None) -> bool:
    return part is not None and part.stage.alu is not None and part.stage.mul


def _split(run: Run, part: StageRun) -> Run:
    """Return a run whose multiplier works in X1 and whose ALU works in X2."""
    sdp = reach.sdp_of(run)
    assert isinstance(sdp, SdpRun)
    without_alu: Callable[[SdpStage | YStage], SdpStage | YStage] = setting(alu=None, relu=False)
    without_mul: Callable[[SdpStage | YStage], SdpStage | YStage] = setting(mul=False, mul_shift=0)
    mul = replace(part, stage=without_alu(part.stage), alu=None)
    alu = replace(part, stage=without_mul(part.stage), mul=None)
    return reach.with_sdp(run, replace(sdp, x1=mul, x2=alu))


def _of_stages(kind: str, evidence: Evidence, run: Run) -> Iterator[Variant]:
    for found, detail, make in _stages(evidence, run):
        if found == kind:
            yield from attempt(detail, make)


def _signs(evidence: Evidence, run: Run) -> Iterator[Variant]:
    sdp = reach.sdp_of(run)
    if sdp is not None and sdp is reach.first(run):
        yield Variant("input taken as unsigned", reach.with_sdp(run, replace(sdp, unsigned=True)))
    names = [name for name, part in reach.stages(run) if part.walk is not None]
    for chosen in [*([name] for name in names), *([names] if len(names) > 1 else [])]:
        whose = " and ".join(name.upper() for name in chosen)
        yield from attempt(f"operands of {whose} taken as unsigned", partial(_with_unsigned, run, chosen))


def _with_unsigned(run: Run, names: Sequence[str]) -> Run:
    for name, part in list(reach.stages(run)):
        if name in names:
            run = reach.with_stage(run, name, replace(part, unsigned=True))
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

CAUSES = (
    Cause("rounding", "wrong rounding", Family.ARITHMETIC, _rounding, reruns=True),
    Cause("saturation", "saturation missing", Family.ARITHMETIC, _saturation, reruns=True),
    Cause("saturation-symmetric", "symmetric saturation", Family.ARITHMETIC, _symmetric, reruns=True),
    Cause("compare", "maximum or minimum compares as unsigned", Family.ARITHMETIC, _compare, reruns=True),
    Cause("prelu-truncates", "PReLU shifts positive numbers too", Family.ARITHMETIC, _prelu, reruns=True),
    Cause("constant", "a constant added", Family.ARITHMETIC, _constants, reruns=True, cost_bits=9.0),
    Cause("sign", "wrong sign", Family.ARITHMETIC, _signs, reruns=True),
    *(
        Cause(f"converter-{kind}", about, Family.ARITHMETIC, partial(_of_converter, kind), reruns=True)
        for kind, about in _CONVERTER.items()
    ),
    *(
        Cause(f"stage-{kind}", about, Family.ARITHMETIC, partial(_of_stages, kind), reruns=True)
        for kind, about in _STAGES.items()
    ),
)
