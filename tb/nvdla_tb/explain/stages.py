"""The first bad stage: what units hand over inside the RTL, compared with what the model computes there.

``nvdla_tb.explain.culprit`` names the unit that this points at.

Bytes that are written come in any order; all other values in the order that ``nvdla_tb.explain.handed`` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import Element, FeatureLayout, LinesLayout, PlanarLayout
from nvdla_tb.explain.buffer import with_operands
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.handed import counted, handed
from nvdla_tb.explain.handed_beats import Handed, NotComparable, Ring
from nvdla_tb.explain.handovers import Stage
from nvdla_tb.explain.loads import with_loads
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.tap import MOST_BITS, Handover
from nvdla_tb.explain.writers import SeenLayer
from nvdla_tb.nvdla.program.ops import Op

_FETCHED = ("converted", "packed")
"""What CDMA writes into the convolution buffer."""


@dataclass(frozen=True)
class StageResult:
    """The beats of one layer at a stage.

    Attributes:
        stage: the stage.
        beats: that passed.
        expected: beats that should have passed.
        wrong: the first that differs, in words, None when none does.
        skipped: why it was not compared, None when it was.
        finished: share of the layer's outputs that what has passed is enough for.
        cut: whether the layer was given up while it ran, so that what has not passed says nothing.
        misplaced: whether the first that differs has the right values, in another entry of the convolution buffer.
        refills: whether it fills entries of the convolution buffer that were used before.
    """

    stage: Stage
    beats: int
    expected: int
    wrong: str | None = None
    skipped: str | None = None
    finished: float = 0.0
    cut: bool = False
    misplaced: bool = False
    refills: bool = False

    @property
    def is_bad(self) -> bool:
        """Whether anything differs."""
        differs = self.beats > self.expected if self.cut else self.beats != self.expected
        return self.skipped is None and (self.wrong is not None or differs)

    @property
    def is_short(self) -> bool:
        """Whether what passed is right, and not all."""
        return self.skipped is None and self.wrong is None and self.beats < self.expected

    def __str__(self) -> str:
        """Return the result as one line."""
        name, passed = self.stage.name, f"{self.beats} {self.stage.kind.counts or 'beats'}"
        if self.skipped is not None:
            return f"{name}: not compared: {self.skipped}"
        if self.wrong is not None:
            return f"{name}: {self.wrong}"
        if self.is_bad:
            return f"{name}: {passed} instead of {self.expected}"
        return f"{name}: {passed}, {'right so far' if self.beats < self.expected else 'all right'}"


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
    seen, initial = with_loads(seen, ops)
    evidence = {e.started.index: e for e in with_operands(seen.every(initial)) if e.started is not None}
    for stage in (stage for stage in stages if not stage.kind.is_handshake):
        layers = [layer for layer in seen.layers if stage.is_passed_by(layer.started.engine)]
        rest = [beat for beat in beats_by_stage[stage.name] if stage.zeros or any(beat.data)]
        writers = _writers(rest, layers) if stage.kind.is_written else []
        skipped: str | None = None
        own: Sequence[Handover] = ()
        before = 0
        ring = Ring()
        for layer in layers:
            index = layer.started.index
            if stage.kind.is_written and any(_overlap(layer, other) for other in layers if other is not layer):
                result = StageResult(stage, 0, 0, skipped="other layers write there, too")
            elif stage.kind.is_written:
                own = [beat for beat, writer in zip(rest, writers, strict=True) if writer is layer]
                result = _written(stage, layer, own)
            elif skipped is not None:
                result = StageResult(stage, 0, 0, skipped=skipped)
            else:
                judge = _in_order if stage.kind.counts is None else _counted
                try:
                    result, count, after_it = judge(stage, evidence[index], rest, layer is layers[-1], ring)
                    # Only of the last layer are more beats known to be its own.
                    after = rest[count:] if layer is layers[-1] else []
                    is_other = result.wrong is not None and not result.misplaced
                    again = None
                    if is_other and own and _is_again(own, rest[: len(own)]):
                        again = judge(stage, evidence[index], rest[len(own) :], layer is layers[-1], Ring(ring.banks))
                    if again is not None and again[0].wrong is None:
                        # What does not fit this layer is all of the one before; what follows it does.
                        last = results[before][-1]
                        results[before][-1] = replace(last, wrong=_once_too_often(last, len(own)))
                        rest = rest[len(own) :]
                        result, count, after_it = again
                    elif result.wrong is None and _is_again(rest[:count], after):
                        result = replace(result, wrong=_once_too_often(result, len(after)))
                    own, before = ([] if result.is_bad or stage.kind.counts else rest[:count]), index
                    rest, ring = rest[count:], after_it
                except NotComparable as why:
                    result = StageResult(stage, 0, 0, skipped=str(why))
                    skipped = "it is not known where the layer before ends"
            results[index].append(replace(result, cut=layer.cut))
    return results


def _is_again(own: Sequence[Handover], after: Sequence[Handover]) -> bool:
    """Return whether what comes after the beats of a layer are the same ones, or the first of them, once more."""
    return 0 < len(after) <= len(own) and all(one.data == two.data for one, two in zip(own, after, strict=False))


def _once_too_often(result: StageResult, again: int) -> str:
    """Return what is said of a layer after whose beats so many of them come again."""
    which = "all" if again == result.expected else f"the first {again}"
    done = "fetched" if result.stage.value in _FETCHED else "handed over"
    return f"{result.expected} beats, all right, and then {which} of them again: {done} once too often"


def _overlap(one: SeenLayer, other: SeenLayer) -> bool:
    """Return whether the surfaces of two layers have an address in common."""
    return one.expected.address < other.expected.end and other.expected.address < one.expected.end


def _writers(beats: Iterable[Handover], layers: Sequence[SeenLayer]) -> list[SeenLayer | None]:
    """Return whose surface each beat goes to; what goes to none is of the layer of the beat before it."""
    writers: list[SeenLayer | None] = []
    last = layers[0] if layers else None
    for beat in beats:
        assert beat.address is not None
        inside = [layer for layer in layers if layer.expected.address <= beat.address < layer.expected.end]
        last = inside[-1] if inside else last
        writers.append(last)
    return writers


def _in_order(
    stage: Stage, evidence: Evidence, rest: Sequence[Handover], is_last: bool, ring: Ring
) -> tuple[StageResult, int, Ring]:
    """Return the result of a stage for a layer, how many of the beats are its own, and where the next one begins."""
    lanes = len(rest[0].data) * 8 // stage.element_bits if rest else _usual_lanes(stage, evidence)
    right = handed(stage, evidence, lanes)
    begin, refills, ring = ring.first_of(right), ring.is_refilled_by(right), ring.after(right)
    if not stage.zeros:
        right = right.without_zeros()
    beats = rest if is_last else rest[: len(right.values)]
    got = _elements([beat.data for beat in beats], stage.element_bits, lanes)
    unknown = _elements([beat.unknown or bytes(len(beat.data)) for beat in beats], stage.element_bits, lanes) != 0
    count = min(len(got), len(right.values))
    kept = np.int64(-1) if stage.element_bits == MOST_BITS else np.int64((1 << stage.element_bits) - 1)
    differs = (((got[:count] ^ right.values[:count]) & kept != 0) | unknown[:count]) & right.counts[:count]
    entries = [-1 if beat.address is None else beat.address for beat in beats[:count]]
    if begin is None and right.entries is not None and entries:
        begin = entries[0] - int(right.entries[0])
    stored = None if stage.address is None or begin is None else right.stored(begin)
    misplaced = np.zeros(count, dtype=np.bool_) if stored is None else stored[:count] != entries
    beside = _beside(stage, right, beats[:count])
    wrong = np.flatnonzero(differs.any(axis=1) | misplaced | beside.any(axis=1))
    text, only_misplaced = None, False
    if len(wrong):
        beat = int(wrong[0])
        only_misplaced = bool(misplaced[beat] and not differs[beat].any())
        lane = int(np.flatnonzero(differs[beat])[0]) if differs[beat].any() else 0
        value = "unknown bits" if unknown[beat, lane] else got[beat, lane]
        said = f"expected {right.values[beat, lane]}, got {value}"
        if stored is not None and only_misplaced:
            said = f"expected in entry {stored[beat]} of the buffer, got in {entries[beat]}"
        if not differs[beat].any() and not misplaced[beat]:
            number = int(np.flatnonzero(beside[beat])[0])
            name, value = list(stage.sides)[number], beats[beat].sides[number]
            said = f"expected {name} {right.sides[name][beat]}, got {'unknown bits' if value is None else value}"
        text = (
            f"first wrong at {right.place(beat, lane)} in beat {beat + 1} of {len(right.values)}, "
            f"cycle {beats[beat].cycle}: {said}"
        )
    total = len(right.values)
    finished = len(beats) / max(total, 1) if right.finished is None else right.finished[: len(beats)].max(initial=0.0)
    result = StageResult(
        stage, len(beats), total, text, finished=float(finished), misplaced=only_misplaced, refills=refills
    )
    return result, total, ring


def _beside(stage: Stage, right: Handed, beats: Sequence[Handover]) -> NDArray[np.bool_]:
    """Return which numbers beside the data differ, (beats, sides); those that the model does not know never do."""
    found = np.zeros((len(beats), len(stage.sides)), dtype=np.bool_)
    for number, name in enumerate(stage.sides):
        if name in right.sides:
            got = [beat.sides[number] for beat in beats]
            found[:, number] = [one is None or one != want for one, want in zip(got, right.sides[name], strict=False)]
    return found


def _counted(
    stage: Stage, evidence: Evidence, rest: Sequence[Handover], is_last: bool, ring: Ring
) -> tuple[StageResult, int, Ring]:
    """Return the result of a stage with numbers for a layer, and how many of the beats are its own."""
    expected = counted(stage.value, evidence)
    sums = np.cumsum([int.from_bytes(beat.data, "little") for beat in rest], dtype=np.int64)
    own = len(rest) if is_last else min(int(np.searchsorted(sums, expected)) + 1, len(rest)) if expected else 0
    total = int(sums[own - 1]) if own else 0
    return StageResult(stage, total, expected, finished=total / max(expected, 1)), own, ring


def _usual_lanes(stage: Stage, evidence: Evidence) -> int:
    """Return how many elements a beat would have had, when none passed."""
    layout = evidence.layout
    assert isinstance(layout, FeatureLayout | PlanarLayout | LinesLayout)
    if stage.kind.is_element and stage.value != "entered":
        return 1
    return stage.lanes(layout.config)[0] if stage.kind.in_stripes else evidence.walk.atom_elements


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
    return StageResult(stage, len(beats), int(expected.mask.sum()) // size, text)


def told(results: Sequence[StageResult]) -> list[str]:
    """Return the results of a layer as lines, and which stage is the first bad one."""
    bad = [result for result in results if result.is_bad]
    # A stage that the layer does not use says nothing.
    lines = [str(result) for result in results if result.beats or result.expected or result.skipped is not None]
    return [*lines, f"first bad stage: {bad[0].stage.name}" if bad else "no stage differs: look past the last one"]
