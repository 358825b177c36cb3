"""Causes in stage Y of SDP: operations, truncation, operand converters, lookup tables."""

from __future__ import annotations

from models.converter import Converter
from models.sdp import AluOp, YStage
from tb.explain.cause import Kinds, of_kinds
from tb.explain.causes import reach
from tb.explain.causes.tables import lookups
from tb.explain.run import Run


def _ways(run: Run) -> Kinds:
    """Yield everything that may be wrong."""
    for _, part in reach.stages(run):
        old, stage = part.value.stage, part.part("stage")
        if not isinstance(old, YStage):
            continue
        if old.alu is not None:
            yield "alu", "ALU left out", stage.other(alu=None)
            for op in (AluOp.MAX, AluOp.MIN, AluOp.SUM):
                yield "alu", f"{op.value} instead of {old.alu.value}", stage.other(alu=op)
        if old.mul:
            yield "mul", "multiplier left out", stage.other(mul=False)
            prelu = "multiplies positive numbers too" if old.mul_prelu else "multiplies only negative numbers, as PReLU"
            yield "mul", prelu, stage.other(mul_prelu=not old.mul_prelu)
            for shift in (0, old.truncate - 1, old.truncate + 1, old.truncate & 31, old.truncate & 63):
                yield "truncate", f"{shift} instead of {old.truncate}", stage.other(truncate=shift)
        for name in ("alu_converter", "mul_converter"):
            converter: Converter | None = getattr(old, name)
            if converter is None:
                continue
            title, shift = name.replace("_", " "), converter.shift
            yield "converter", f"{title} left out", stage.other(**{name: None})
            numbers = {
                "offset": (0, -converter.offset),
                "scale": (1, -converter.scale),
                "shift": (0, shift - 1, shift + 1),
            }
            for detail, make in reach.others(stage.part(name), f" of the {title}", numbers):
                yield "converter", detail, make
        if old.lut is not None:
            yield "lut", "left out", stage.other(lut=None)
            for kind, detail, make in lookups(stage.part("lut")):
                yield f"lut-{kind}", detail, make


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

CAUSES = tuple(of_kinds("y", _KINDS, _ways))
