"""Causes in stage Y of SDP: operations, truncation, operand converters, lookup tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from models.converter import Converter
from models.lut import HybridLut
from models.sdp import AluOp, YStage
from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import reach
from tb.explain.causes.reach import setting
from tb.explain.causes.tables import lookups
from tb.explain.evidence import Evidence
from tb.explain.run import Run

Change = Callable[[YStage], YStage]


def _ways(old: YStage) -> Iterator[tuple[str, str, Change]]:
    """Yield (kind, detail, change) of everything that may be wrong."""
    if old.alu is not None:
        yield "alu", "ALU left out", setting(alu=None)
        for op in (AluOp.MAX, AluOp.MIN, AluOp.SUM):
            yield "alu", f"{op.value} instead of {old.alu.value}", setting(alu=op)
    if old.mul:
        yield "mul", "multiplier left out", setting(mul=False)
        prelu = "multiplies positive numbers too" if old.mul_prelu else "multiplies only negative numbers, as PReLU"
        yield "mul", prelu, setting(mul_prelu=not old.mul_prelu)
        for shift in (0, old.truncate - 1, old.truncate + 1, old.truncate & 31, old.truncate & 63):
            yield "truncate", f"{shift} instead of {old.truncate}", setting(truncate=shift)
    for name in ("alu_converter", "mul_converter"):
        converter: Converter | None = getattr(old, name)
        if converter is None:
            continue
        title = name.replace("_", " ")
        yield "converter", f"{title} left out", setting(**{name: None})
        for field, values in (
            ("offset", (0, -converter.offset)),
            ("scale", (1, -converter.scale)),
            ("shift", (0, converter.shift - 1, converter.shift + 1)),
        ):
            for value in values:
                detail = f"{field} of the {title} {value} instead of {getattr(converter, field)}"
                yield "converter", detail, partial(_with_converter, name, field, value)
    if old.lut is not None:
        yield "lut", "left out", setting(lut=None)
        for kind, detail, change in lookups(old.lut):
            yield f"lut-{kind}", detail, partial(_with_lut, change)


def _with_converter(name: str, field: str, value: int, stage: YStage) -> YStage:
    change: Change = setting(**{name: setting(**{field: value})(getattr(stage, name))})
    return change(stage)


def _with_lut(change: Callable[[HybridLut], HybridLut], stage: YStage) -> YStage:
    assert stage.lut is not None
    return replace(stage, lut=change(stage.lut))


def _changed(run: Run, change: Change) -> Run:
    sdp = reach.sdp_of(run)
    assert sdp is not None
    assert sdp.y is not None
    assert isinstance(sdp.y.stage, YStage)
    return reach.with_stage(run, "y", replace(sdp.y, stage=change(sdp.y.stage)))


def _of(kind: str, evidence: Evidence, run: Run) -> Iterator[Variant]:
    sdp = reach.sdp_of(run)
    if sdp is None or sdp.y is None or not isinstance(sdp.y.stage, YStage):
        return
    for found, detail, change in _ways(sdp.y.stage):
        if found == kind:
            yield from attempt(detail, partial(_changed, run, change))


_KINDS = {
    "alu": "Y: wrong ALU operation",
    "mul": "Y: wrong multiplication",
    "truncate": "Y: wrong truncation after the multiplier",
    "converter": "Y: wrong operand converter",
    "lut": "Y: lookup",
    "lut-priority": "Y: wrong priority of tables",
    "lut-index": "Y: wrong index of a table",
    "lut-entries": "Y: wrong entries of a table",
    "lut-slope": "Y: wrong slope of a table",
}

CAUSES = tuple(
    Cause(f"y-{kind}", about, Family.ARITHMETIC, partial(_of, kind), reruns=True) for kind, about in _KINDS.items()
)
