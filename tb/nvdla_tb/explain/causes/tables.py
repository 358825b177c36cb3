"""Causes in what CDP and stage Y of SDP compute: windows, operations, converters, lookup tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nvdla_models.cdp import LOCAL_SIZES
from nvdla_models.converter import Converter
from nvdla_models.lut import HybridLut, LutChoice, LutTable, Slope
from nvdla_models.sdp import AluOp, YStage
from nvdla_tb.explain.cause import Kinds, of_kinds
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.causes.arithmetic import rules
from nvdla_tb.explain.causes.reach import Part
from nvdla_tb.explain.engines import CdpRun, Run


def _ways(run: Run) -> Kinds:
    """Yield everything that may be wrong with CDP, and with lookups anywhere."""
    for cdp in reach.engines(run, CdpRun):
        params, old = cdp.part("params"), cdp.value.params
        for size in (*LOCAL_SIZES, None):
            detail = f"{size or 'no'} channels instead of {old.local_size or 'no'}"
            yield "window", detail, params.other(local_size=size)
        detail = "left out" if old.multiply else "where none is asked for"
        yield "multiply", detail, params.other(multiply=not old.multiply)
        for end in ("input_converter", "output_converter"):
            converter = params.part(end)
            offset, scale = converter.value.offset, converter.value.scale
            numbers = reach.converter_numbers(converter.value)
            numbers["offset"] += (offset + 1, offset - 1)
            numbers["scale"] += (scale & 0x7FFF,)
            for detail, make in reach.others(converter, f" of the {end.replace('_', ' ')}", numbers):
                yield "converter", detail, make
        yield from _lookups(params.part("lut"))
        yield from _of_windows(cdp)
    stages = [part.value.stage for _, part in reach.stages(run)]
    looks_up = any(isinstance(stage, YStage) and stage.lut is not None for stage in stages)
    if looks_up or any(reach.engines(run, CdpRun)):
        yield "interpolation", "the entry below alone", rules(run, interpolates=False)


def _lookups(lut: Part[HybridLut]) -> Kinds:
    """Yield everything that may be wrong with the tables of CDP or of SDP's Y."""
    for name in ("underflow_priority", "overflow_priority", "hybrid_priority"):
        choice = LutChoice(1 - getattr(lut.value, name))
        yield "priority", f"{name.removesuffix('_priority')}: {choice.name}", lut.other(**{name: choice})
    for table in ("le", "lo"):
        for kind, detail, make in _table(lut.part(table)):
            yield kind, f"{table.upper()}: {detail}", make


_ENTRIES: tuple[tuple[str, str, Callable[[NDArray[np.int16]], NDArray[np.int16]]], ...] = (
    ("index", "one entry too far", lambda entries: np.roll(entries, -1)),
    ("index", "one entry too early", lambda entries: np.roll(entries, 1)),
    ("index", "read backwards", lambda entries: entries[::-1]),
    ("entries", "all 0", np.zeros_like),
    ("entries", "low bytes alone", lambda entries: entries.view(np.int8)[::2].astype(np.int16)),
    ("entries", "bytes swapped", lambda entries: entries.byteswap()),
)


def _table(table: Part[LutTable]) -> Kinds:
    """Yield everything that may be wrong with one table."""
    old = table.value
    for kind, detail, change in _ENTRIES:
        yield kind, detail, table.other(entries=np.ascontiguousarray(change(old.entries)))
    numbers = {
        "start": (0, old.start - 1, old.start + 1, -old.start),
        "end": (old.end - 1, old.end + 1, 0),
        "index_select": (old.index_select - 1, old.index_select + 1, 0),
        "index_offset": (old.index_offset - 1, old.index_offset + 1, 0),
    }
    for detail, make in reach.others(table, "", numbers):
        yield "index", detail, make
    if old.exponent:
        yield "index", "linear instead of exponential", table.other(exponent=False)
    for side in ("underflow", "overflow"):
        slope: Slope = getattr(old, side)
        for other, what in (
            (Slope(), "slope left out"),
            (Slope(slope.scale, 0), "shift of the slope left out"),
            (Slope(-slope.scale, slope.shift) if abs(slope.scale) < 1 << 15 else Slope(), "slope negated"),
            (Slope(slope.scale, -slope.shift) if slope.shift > -16 else Slope(), "shift of the slope negated"),
        ):
            yield "slope", f"{side}, {what}", table.other(**{side: other})
    yield "slope", "underflow and overflow swapped", table.other(underflow=old.overflow, overflow=old.underflow)


def _of_windows(cdp: Part[CdpRun]) -> Kinds:
    """Yield everything that may be wrong with the channels that are summed; of integers the sums of neighbours, too."""
    yield "padding", "channels of the last atom take part", cdp.other(channels=cdp.value.src.shape[0])
    if cdp.value.channels > 1:
        yield "padding", "the last channel takes no part", cdp.other(channels=cdp.value.channels - 1)
    if cdp.value.params.local_size is None or cdp.value.params.is_float:
        return
    half, other_rules = cdp.value.params.local_size // 2, partial(rules, cdp.run)
    for distance in range(1, half + 1):
        for which, lost in (
            ("before and after", (-distance, distance)),
            ("before", (-distance,)),
            ("after", (distance,)),
        ):
            yield "neighbour", f"channel {distance} {which}", other_rules(left_out=frozenset(lost))
    if half:
        yield "neighbour", "the channel itself", other_rules(left_out=frozenset((0,)))
    # A neighbour takes the place of one next to it, or of the one on the other side.
    for distance in range(-half, half + 1) if half else ():
        for other in dict.fromkeys((distance - 1, distance + 1, -distance)):
            if abs(other) <= half and other != distance:
                detail = f"{_channel(other)} instead of {_channel(distance)}"
                yield "instead", detail, other_rules(instead=(distance, other))


def _channel(distance: int) -> str:
    if not distance:
        return "the channel itself"
    return f"channel {abs(distance)} {'after' if distance > 0 else 'before'}"


def _stage_y(run: Run) -> Kinds:
    """Yield everything that may be wrong with stage Y of SDP."""
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
            title = name.replace("_", " ")
            yield "converter", f"{title} left out", stage.other(**{name: None})
            numbers = reach.converter_numbers(converter)
            for detail, make in reach.others(stage.part(name), f" of the {title}", numbers):
                yield "converter", detail, make
        if old.lut is not None:
            yield "lut", "left out", stage.other(lut=None)
            for kind, detail, make in _lookups(stage.part("lut")):
                yield f"lut-{kind}", detail, make


_KINDS = {
    "window": "normalisation: wrong window",
    "multiply": "normalisation: multiplication",
    "converter": "normalisation: wrong converter",
    "priority": "lookup: wrong priority of tables",
    "index": "lookup: wrong index",
    "entries": "lookup: wrong entries",
    "slope": "lookup: wrong slope",
    "interpolation": "lookup: no interpolation",
    "neighbour": "normalisation: a neighbour is not summed",
    "instead": "normalisation: a neighbour is summed twice",
    "padding": "normalisation: wrong number of channels",
}

CAUSES = tuple(of_kinds("lut", _KINDS, _ways))

_Y_KINDS = {
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

Y_CAUSES = tuple(of_kinds("y", _Y_KINDS, _stage_y))
