"""The first bad stage: what units hand over inside the RTL, compared with what the model computes there.

Bytes that are written come in any order; all other values in the order that ``tb.explain.handed`` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.layout import Element
from models.layout.dlhdl import ModuleDataLayout
from tb.explain.counted import counted
from tb.explain.evidence import Evidence
from tb.explain.handed import KINDS, Kind, NotComparable, Operations, handed
from tb.explain.seen import Seen, SeenLayer
from tb.explain.tap import MOST_BITS, Handover, StageError, Tap
from tb.nvdla.engines import ENGINES
from tb.nvdla.program.ops import Op

MOST_OUTPUTS = 1 << 26
MOST_CELLS = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Stage(Tap):
    """One hand-over; see ``tb.explain.handovers`` for the fields."""

    unit: tuple[str, ...]
    engines: tuple[str, ...]
    value: str
    stripe: tuple[int, int] | None = None
    cells: tuple[int, int] | None = None
    zeros: bool = True
    across_lines: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        known = [engine.name for engine in ENGINES]
        for name in self.engines:
            if name not in known:
                raise StageError(f"{self.name}: engines must be of {', '.join(known)}, not {name}")
        if self.value not in KINDS:
            raise StageError(f"{self.name}: value must be one of {', '.join(KINDS)}, not {self.value}")
        if self.kind.is_written != (self.address is not None):
            raise StageError(f"{self.name}: address must be given for written, and for nothing else")
        if self.kind.in_stripes != (self.stripe is not None) or (self.cells is not None and not self.kind.in_stripes):
            raise StageError(
                f"{self.name}: stripe must be given, and cells may be, for kernels, elements and products alone"
            )
        if not self.data:
            raise StageError(f"{self.name}: data must name a signal or more")
        if self.stripe is not None and not 1 <= self.stripe[0] <= self.stripe[1] <= MOST_OUTPUTS:
            raise StageError(
                f"{self.name}: stripe must be the shortest and the longest, 1 to {MOST_OUTPUTS}, not {self.stripe}"
            )
        if self.cells is not None and not (self.cells[0] >= 0 and 1 <= self.cells[1] <= MOST_CELLS - self.cells[0]):
            raise StageError(f"{self.name}: cells must be the first and how many, below {MOST_CELLS}, not {self.cells}")

    @property
    def kind(self) -> Kind:
        """The kind of what passes it."""
        return KINDS[self.value]

    @property
    def operations(self) -> Operations | None:
        """How atomic operations are arranged, for values that belong to them."""
        if self.stripe is None:
            return None
        first, count = self.cells or (0, None)
        return Operations(*self.stripe, first, count, self.across_lines)


@dataclass(frozen=True)
class StageResult:
    """The beats of one layer at a stage.

    Attributes:
        stage: its name.
        layer: name of the layer.
        beats: that passed.
        expected: beats that should have passed.
        wrong: the first that differs, in words, None when none does.
        skipped: why it was not compared, None when it was.
        finished: share of the layer's outputs that what has passed is enough for.
        counts: what ``beats`` and ``expected`` are numbers of.
    """

    stage: str
    layer: str
    beats: int
    expected: int
    wrong: str | None
    skipped: str | None = None
    finished: float = 0.0
    counts: str = "beats"

    @property
    def is_bad(self) -> bool:
        """Whether anything differs."""
        return self.skipped is None and (self.wrong is not None or self.beats != self.expected)

    @property
    def is_short(self) -> bool:
        """Whether what passed is right, and not all."""
        return self.skipped is None and self.wrong is None and self.beats < self.expected

    def __str__(self) -> str:
        """Return the result as one line."""
        if self.skipped is not None:
            return f"{self.stage}: not compared: {self.skipped}"
        if self.wrong is not None:
            return f"{self.stage}: {self.wrong}"
        if self.is_bad:
            return f"{self.stage}: {self.beats} {self.counts} instead of {self.expected}"
        return f"{self.stage}: {self.beats} {self.counts}, all right"


def compare(
    stages: Sequence[Stage], beats_by_stage: Mapping[str, Sequence[Handover]], seen: Seen, ops: Iterable[Op]
) -> dict[int, list[StageResult]]:
    """Compare what passed each stage with the model.

    Args:
        stages: in the order in which data pass them.
        beats_by_stage: what passed, by the names of the stages.
        seen: the run and its layers.
        ops: operations that were played.

    Returns:
        Results for each layer's index, in the order of the stages.
    """
    results: dict[int, list[StageResult]] = {layer.started.index: [] for layer in seen.layers}
    evidence = {e.started.index: e for e in seen.every(ops) if e.started is not None}
    for stage in stages:
        layers = [layer for layer in seen.layers if _passes(stage, layer.started.engine)]
        rest = [beat for beat in beats_by_stage[stage.name] if stage.zeros or any(beat.data)]
        skipped: str | None = None
        for number, layer in enumerate(layers):
            name = layer.started.name
            if stage.kind.is_written:
                own = [beat for beat in rest if beat.address is not None and _belongs(beat.address, layer, layers)]
                results[layer.started.index].append(_written(stage, layer, own))
                continue
            if skipped is None:
                try:
                    judge = _in_order if stage.kind.counts is None else _counted
                    result, count = judge(stage, evidence[layer.started.index], rest, number == len(layers) - 1)
                except NotComparable as why:
                    skipped = str(why)
                else:
                    results[layer.started.index].append(result)
                    rest = rest[count:]
                    continue
            results[layer.started.index].append(StageResult(stage.name, name, 0, 0, None, skipped))
            skipped = "it is not known where the layer before ends"
    return results


def _passes(stage: Stage, engine: str) -> bool:
    """Return whether layers of an engine pass a stage; what is pooled on the fly is written by PDP."""
    parts = engine.split("-")
    return parts[-1 if stage.kind.is_written else 0] in stage.engines


def _belongs(address: int, layer: SeenLayer, layers: Sequence[SeenLayer]) -> bool:
    """Return whether an address is in the surface of a layer; what is in none belongs to the first layer."""
    owners = [other for other in layers if other.expected.address <= address < other.expected.end]
    return (owners[-1] if owners else layers[0]) is layer


def _in_order(stage: Stage, evidence: Evidence, rest: Sequence[Handover], is_last: bool) -> tuple[StageResult, int]:
    """Return the result of a stage for a layer, and how many of the beats are its own."""
    assert evidence.started is not None
    lanes = len(rest[0].data) * 8 // stage.element_bits if rest else _usual_lanes(stage, evidence)
    right = handed(stage.value, evidence, lanes, stage.operations)
    if not stage.zeros:
        right = right.without_zeros()
    beats = rest if is_last else rest[: len(right.values)]
    got = _elements([beat.data for beat in beats], stage.element_bits, lanes)
    unknown = _elements([beat.unknown or bytes(len(beat.data)) for beat in beats], stage.element_bits, lanes) != 0
    count = min(len(got), len(right.values))
    kept = np.int64(-1) if stage.element_bits == MOST_BITS else np.int64((1 << stage.element_bits) - 1)
    differs = (((got[:count] ^ right.values[:count]) & kept != 0) | unknown[:count]) & right.counts[:count]
    wrong = np.flatnonzero(differs.any(axis=1))
    text = None
    if len(wrong):
        beat = int(wrong[0])
        lane = int(np.flatnonzero(differs[beat])[0])
        value = "unknown bits" if unknown[beat, lane] else got[beat, lane]
        text = (
            f"first wrong at {right.place(beat, lane)} in beat {beat + 1} of {len(right.values)}, "
            f"cycle {beats[beat].cycle}: expected {right.values[beat, lane]}, got {value}"
        )
    total = len(right.values)
    finished = len(beats) / max(total, 1) if right.finished is None else right.finished[: len(beats)].max(initial=0.0)
    result = StageResult(stage.name, evidence.started.name, len(beats), total, text, None, float(finished))
    return result, total


def _counted(stage: Stage, evidence: Evidence, rest: Sequence[Handover], is_last: bool) -> tuple[StageResult, int]:
    """Return the result of a stage with numbers for a layer, and how many of the beats are its own."""
    assert evidence.started is not None
    assert stage.kind.counts is not None
    expected = counted(stage.value, evidence)
    sums = np.cumsum([int.from_bytes(beat.data, "little") for beat in rest], dtype=np.int64)
    own = len(rest) if is_last else min(int(np.searchsorted(sums, expected)) + 1, len(rest))
    total = int(sums[own - 1]) if own else 0
    name, share = evidence.started.name, total / expected
    return StageResult(stage.name, name, total, expected, None, finished=share, counts=stage.kind.counts), own


def _usual_lanes(stage: Stage, evidence: Evidence) -> int:
    """Return how many elements a beat would have had, when none passed."""
    layout = evidence.layout
    assert not isinstance(layout, ModuleDataLayout)
    operations = stage.operations
    return evidence.walk.atom_elements if operations is None else operations.lanes(stage.value, layout.config)[0]


def _elements(beats: Sequence[bytes], bits: int, lanes: int) -> NDArray[np.int64]:
    """Return the signed elements of beats, (beats, lanes)."""
    if not beats:
        return np.zeros((0, lanes), dtype=np.int64)
    raw = np.frombuffer(b"".join(beats), dtype=np.uint8).reshape(len(beats), -1)
    single = np.unpackbits(raw, axis=1, bitorder="little")[:, : lanes * bits].reshape(len(beats), lanes, bits)
    weights = np.left_shift(np.int64(1), np.arange(bits, dtype=np.int64))
    weights[-1] = -weights[-1]
    return single.astype(np.int64) @ weights


def _written(stage: Stage, layer: SeenLayer, beats: Sequence[Handover]) -> StageResult:
    expected = layer.expected
    size = len(beats[0].data) if beats else 1
    text = None
    for number, beat in enumerate(beats, start=1):
        assert beat.address is not None
        first = beat.address - expected.address
        inside = 0 <= first <= len(expected.data) - size and bool(expected.mask[first : first + size].any())
        where = f"in beat {number}, cycle {beat.cycle}, address {beat.address:#x}"
        if not inside:
            text = f"first wrong {where}: the layer writes nothing there"
            break
        mask = expected.mask[first : first + size]
        differs = np.frombuffer(beat.data, dtype=np.uint8) != expected.data[first : first + size]
        if beat.unknown:
            differs |= np.frombuffer(beat.unknown, dtype=np.uint8) != 0
        if differs[mask].any():
            want = expected.data[first : first + size].tobytes().hex(" ")
            place = layer.layout.element_at(first)
            element = "" if not isinstance(place, Element) else f", from c={place.c} h={place.h} w={place.w}"
            text = f"first wrong {where}{element}: expected {want}, got {beat.data.hex(' ')}"
            break
    return StageResult(stage.name, layer.started.name, len(beats), int(expected.mask.sum()) // size, text)
