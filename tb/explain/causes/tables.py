"""Causes in what CDP computes: window, converters, lookup tables; the tables of SDP's Y likewise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from models.cdp import LOCAL_SIZES, CdpParams
from models.converter import Converter
from models.lut import HybridLut, LutChoice, LutTable, Slope
from models.sdp import YStage
from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import reach
from tb.explain.causes.reach import setting
from tb.explain.engines import CdpRun
from tb.explain.evidence import Evidence
from tb.explain.run import Run

Change = Callable[[CdpParams], CdpParams]


def _ways(old: CdpParams) -> Iterator[tuple[str, str, Change]]:
    """Yield (kind, detail, change) of everything that may be wrong."""
    for size in (*LOCAL_SIZES, None):
        yield "window", f"{size or 'no'} channels instead of {old.local_size or 'no'}", setting(local_size=size)
    yield "multiply", "left out" if old.multiply else "where none is asked for", setting(multiply=not old.multiply)
    for end in ("input_converter", "output_converter"):
        yield from _converters(end, getattr(old, end))
    for kind, detail, change in lookups(old.lut):
        yield kind, detail, _lut(change)


def lookups(old: HybridLut) -> Iterator[tuple[str, str, Callable[[HybridLut], HybridLut]]]:
    """Yield (kind, detail, change) of everything that may be wrong with the tables of CDP or of SDP's Y."""
    for name in ("underflow_priority", "overflow_priority", "hybrid_priority"):
        choice = LutChoice(1 - getattr(old, name))
        yield "priority", f"{name.removesuffix('_priority')}: {choice.name}", setting(**{name: choice})
    for table in ("le", "lo"):
        for kind, detail, change in _tables(getattr(old, table)):
            yield kind, f"{table.upper()}: {detail}", partial(_with_table, table, change)


def _with_table(name: str, change: Callable[[LutTable], LutTable], lut: HybridLut) -> HybridLut:
    return setting(**{name: change(getattr(lut, name))})(lut)


def _lut(change: Callable[[HybridLut], HybridLut]) -> Change:
    return lambda params: replace(params, lut=change(params.lut))


def _converters(end: str, old: Converter) -> Iterator[tuple[str, str, Change]]:
    title = end.replace("_", " ")
    for name, values in (
        ("offset", (0, -old.offset, old.offset + 1, old.offset - 1)),
        ("scale", (1, -old.scale, old.scale & 0x7FFF)),
        ("shift", (0, old.shift - 1, old.shift + 1)),
    ):
        for value in values:
            detail = f"{name} of the {title} {value} instead of {getattr(old, name)}"
            yield "converter", detail, partial(_with_converter, end, name, value)


def _with_converter(end: str, name: str, value: int, params: CdpParams) -> CdpParams:
    converter: Converter = setting(**{name: value})(getattr(params, end))
    return setting(**{end: converter})(params)


def _tables(old: LutTable) -> Iterator[tuple[str, str, Callable[[LutTable], LutTable]]]:
    """Yield (kind, detail, change) of everything that may be wrong with one table."""

    def entries(change: Callable[[NDArray[np.int16]], NDArray[np.int16]]) -> Callable[[LutTable], LutTable]:
        return lambda table: replace(table, entries=np.ascontiguousarray(change(table.entries)))

    yield "index", "one entry too far", entries(lambda e: np.roll(e, -1))
    yield "index", "one entry too early", entries(lambda e: np.roll(e, 1))
    yield "index", "read backwards", entries(lambda e: e[::-1])
    yield "entries", "all 0", entries(np.zeros_like)
    yield "entries", "low bytes alone", entries(lambda e: e.view(np.int8)[::2].astype(np.int16))
    yield "entries", "bytes swapped", entries(lambda e: e.byteswap())
    for name, values in (
        ("start", (0, old.start - 1, old.start + 1, -old.start)),
        ("end", (old.end - 1, old.end + 1, 0)),
        ("index_select", (old.index_select - 1, old.index_select + 1, 0)),
        ("index_offset", (old.index_offset - 1, old.index_offset + 1, 0)),
    ):
        for value in values:
            yield "index", f"{name} {value} instead of {getattr(old, name)}", setting(**{name: value})
    if old.exponent:
        yield "index", "linear instead of exponential", setting(exponent=False)
    for side in ("underflow", "overflow"):
        slope: Slope = getattr(old, side)
        for other, what in (
            (Slope(), "slope left out"),
            (Slope(slope.scale, 0), "shift of the slope left out"),
            (Slope(-slope.scale, slope.shift) if abs(slope.scale) < 1 << 15 else Slope(), "slope negated"),
            (Slope(slope.scale, -slope.shift) if slope.shift > -16 else Slope(), "shift of the slope negated"),
        ):
            yield "slope", f"{side}, {what}", setting(**{side: other})
    yield "slope", "underflow and overflow swapped", setting(underflow=old.overflow, overflow=old.underflow)


def _with_params(run: Run, engine: CdpRun, change: Change) -> Run:
    return replace(run, engine=replace(engine, params=change(engine.params)))


def _of(kind: str, evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine = run.engine
    if not isinstance(engine, CdpRun):
        return
    for found, detail, change in _ways(engine.params):
        if found == kind:
            yield from attempt(detail, partial(_with_params, run, engine, change))


def _neighbours(evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine = run.engine
    if not isinstance(engine, CdpRun) or engine.params.local_size is None or engine.params.is_float:
        return
    for distance in range(1, engine.params.local_size // 2 + 1):
        for which, lost in (
            ("before and after", (-distance, distance)),
            ("before", (-distance,)),
            ("after", (distance,)),
        ):
            rules = replace(run.rules, left_out=frozenset(lost))
            yield Variant(f"channel {distance} {which}", replace(run, rules=rules))
    yield Variant("the channel itself", replace(run, rules=replace(run.rules, left_out=frozenset((0,)))))


def _instead(evidence: Evidence, run: Run) -> Iterator[Variant]:
    """Yield windows in which a neighbour takes the place of one next to it, or of the one on the other side."""
    engine = run.engine
    if not isinstance(engine, CdpRun) or engine.params.local_size is None or engine.params.is_float:
        return
    half = engine.params.local_size // 2
    for distance in range(-half, half + 1):
        for other in dict.fromkeys((distance - 1, distance + 1, -distance)):
            if abs(other) <= half and other != distance:
                rules = replace(run.rules, instead=(distance, other))
                yield Variant(f"{_channel(other)} instead of {_channel(distance)}", replace(run, rules=rules))


def _channel(distance: int) -> str:
    if not distance:
        return "the channel itself"
    return f"channel {abs(distance)} {'after' if distance > 0 else 'before'}"


def _interpolation(evidence: Evidence, run: Run) -> Iterator[Variant]:
    sdp = reach.sdp_of(run)
    looks_up = sdp is not None and sdp.y is not None and isinstance(sdp.y.stage, YStage) and sdp.y.stage.lut is not None
    if isinstance(run.engine, CdpRun) or looks_up:
        yield Variant("the entry below alone", replace(run, rules=replace(run.rules, interpolates=False)))


def _padding(evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine = run.engine
    if isinstance(engine, CdpRun):
        padded = engine.src.shape[0]
        yield Variant("channels of the last atom take part", replace(run, engine=replace(engine, channels=padded)))
        if engine.channels > 1:
            fewer = replace(engine, channels=engine.channels - 1)
            yield Variant("the last channel takes no part", replace(run, engine=fewer))


_KINDS = {
    "window": "normalisation: wrong window",
    "multiply": "normalisation: multiplication",
    "converter": "normalisation: wrong converter",
    "priority": "lookup: wrong priority of tables",
    "index": "lookup: wrong index",
    "entries": "lookup: wrong entries",
    "slope": "lookup: wrong slope",
}

CAUSES = (
    *(
        Cause(f"lut-{kind}", about, Family.ARITHMETIC, partial(_of, kind), reruns=True)
        for kind, about in _KINDS.items()
    ),
    Cause("lut-interpolation", "lookup: no interpolation", Family.ARITHMETIC, _interpolation, reruns=True),
    Cause("lut-neighbour", "normalisation: a neighbour is not summed", Family.ARITHMETIC, _neighbours, reruns=True),
    Cause("lut-instead", "normalisation: a neighbour is summed twice", Family.ARITHMETIC, _instead, reruns=True),
    Cause("lut-padding", "normalisation: wrong number of channels", Family.ARITHMETIC, _padding, reruns=True),
)
