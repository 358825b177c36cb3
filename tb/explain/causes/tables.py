"""Causes in what CDP computes: window, converters, lookup tables; the tables of SDP's Y likewise."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from models.cdp import LOCAL_SIZES
from models.lut import HybridLut, LutChoice, LutTable, Slope
from models.sdp import YStage
from tb.explain.cause import Cause, Kinds, Way, of_kinds
from tb.explain.causes import reach
from tb.explain.causes.arithmetic import rules
from tb.explain.causes.reach import Part
from tb.explain.engines import CdpRun
from tb.explain.evidence import Evidence
from tb.explain.run import Run


def _ways(run: Run) -> Kinds:
    """Yield everything that may be wrong with CDP."""
    for cdp in reach.engines(run, CdpRun):
        params, old = cdp.part("params"), cdp.value.params
        for size in (*LOCAL_SIZES, None):
            detail = f"{size or 'no'} channels instead of {old.local_size or 'no'}"
            yield "window", detail, params.other(local_size=size)
        detail = "left out" if old.multiply else "where none is asked for"
        yield "multiply", detail, params.other(multiply=not old.multiply)
        for end in ("input_converter", "output_converter"):
            converter = params.part(end)
            offset, scale, shift = converter.value.offset, converter.value.scale, converter.value.shift
            numbers = {
                "offset": (0, -offset, offset + 1, offset - 1),
                "scale": (1, -scale, scale & 0x7FFF),
                "shift": (0, shift - 1, shift + 1),
            }
            for detail, make in reach.others(converter, f" of the {end.replace('_', ' ')}", numbers):
                yield "converter", detail, make
        yield from lookups(params.part("lut"))


def lookups(lut: Part[HybridLut]) -> Kinds:
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


def _reach(run: Run) -> int:
    """Return how far the window of an integer normalisation reaches to each side, 0 where there is none."""
    for cdp in reach.engines(run, CdpRun):
        if cdp.value.params.local_size is not None and not cdp.value.params.is_float:
            return cdp.value.params.local_size // 2
    return 0


def _neighbours(evidence: Evidence, run: Run) -> Iterator[Way]:
    half = _reach(run)
    for distance in range(1, half + 1):
        for which, lost in (
            ("before and after", (-distance, distance)),
            ("before", (-distance,)),
            ("after", (distance,)),
        ):
            yield Way(f"channel {distance} {which}", rules(run, left_out=frozenset(lost)))
    if half:
        yield Way("the channel itself", rules(run, left_out=frozenset((0,))))


def _instead(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield windows in which a neighbour takes the place of one next to it, or of the one on the other side."""
    half = _reach(run)
    for distance in range(-half, half + 1) if half else ():
        for other in dict.fromkeys((distance - 1, distance + 1, -distance)):
            if abs(other) <= half and other != distance:
                yield Way(f"{_channel(other)} instead of {_channel(distance)}", rules(run, instead=(distance, other)))


def _channel(distance: int) -> str:
    if not distance:
        return "the channel itself"
    return f"channel {abs(distance)} {'after' if distance > 0 else 'before'}"


def _interpolation(evidence: Evidence, run: Run) -> Iterator[Way]:
    stages = [part.value.stage for _, part in reach.stages(run)]
    looks_up = any(isinstance(stage, YStage) and stage.lut is not None for stage in stages)
    if looks_up or any(reach.engines(run, CdpRun)):
        yield Way("the entry below alone", rules(run, interpolates=False))


def _padding(evidence: Evidence, run: Run) -> Iterator[Way]:
    for cdp in reach.engines(run, CdpRun):
        yield Way("channels of the last atom take part", cdp.other(channels=cdp.value.src.shape[0]))
        if cdp.value.channels > 1:
            yield Way("the last channel takes no part", cdp.other(channels=cdp.value.channels - 1))


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
    *of_kinds("lut", _KINDS, _ways),
    Cause("lut-interpolation", "lookup: no interpolation", _interpolation, reruns=True),
    Cause("lut-neighbour", "normalisation: a neighbour is not summed", _neighbours, reruns=True),
    Cause("lut-instead", "normalisation: a neighbour is summed twice", _instead, reruns=True),
    Cause("lut-padding", "normalisation: wrong number of channels", _padding, reruns=True),
)
