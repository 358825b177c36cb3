"""The first bad stage: what units hand over inside the RTL, compared with what the model computes there.

A TOML file names the hand-overs, in the order in which data pass them:

    [[stage]]
    name = "CACC to SDP"
    unit = "CACC"                 # at fault when this is the first that is wrong
    engines = ["CONV"]            # whose layers pass it, names of ``tb.nvdla.engines``
    value = "sums"                # what passes it, see KINDS of ``tb.explain.handed``
    valid = "conv.sdp_valid"      # paths from the RTL's top
    ready = "conv.sdp_ready"      # may be left out: every valid beat is taken
    data = "conv.sdp_data"        # or a list of paths, from bit 0 up
    across_lines = true           # for these: stripes of images do not end with a line; may be left out
    delay = 3                     # may be left out: cycles by which the data come after valid
    zeros = false                 # may be left out: beats of zeros alone are not compared, nor counted
    mask = "conv.sdp_mask"        # may be left out: a bit an element, 0 for one that counts as 0
    element_bits = 32             # elements one after the other from bit 0; not for written
    stripe = [8, 16]              # for kernels, elements and products: outputs of the shortest and longest stripes
    cells = [0, 4]                # for these: first MAC cell and number; may be left out: all of them
    address = "sdp.wr_req_addr"   # for written alone

Bytes that are written come in any order; all other values in the order that ``tb.explain.handed`` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.errors import InputError
from models.layout import Element
from models.layout.dlhdl import ModuleDataLayout
from models.reading import read_toml, shown
from tb.explain.evidence import Evidence
from tb.explain.handed import KINDS, Kind, NotComparable, Operations, handed
from tb.explain.region import Region
from tb.explain.seen import Seen, SeenLayer
from tb.explain.units import Suspect, following, units_named
from tb.nvdla.engines import ENGINES
from tb.nvdla.program.ops import Op
from tb.plain_data import converted

MOST_BITS = 64
MOST_OUTPUTS = 1 << 26
MOST_CELLS = 1 << 10
MOST_DELAY = 1000

_OR = " or "
"""Between the names of several units that a file gives for one hand-over."""


class StageError(InputError):
    """A file of stages, or a stage, that cannot be used; the message names it and the rule."""


@dataclass(frozen=True)
class Stage:
    """One hand-over; see the module for the fields."""

    name: str
    unit: str
    engines: tuple[str, ...]
    value: str
    valid: str
    data: tuple[str, ...]
    ready: str | None = None
    element_bits: int = 8
    stripe: tuple[int, int] | None = None
    cells: tuple[int, int] | None = None
    mask: tuple[str, ...] = ()
    address: str | None = None
    delay: int = 0
    zeros: bool = True
    across_lines: bool = False

    def __post_init__(self) -> None:
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
        if not 0 <= self.delay <= MOST_DELAY:
            raise StageError(f"{self.name}: delay must be 0 to {MOST_DELAY} cycles, not {self.delay}")
        if not 1 <= self.element_bits <= MOST_BITS:
            raise StageError(f"{self.name}: element_bits must be 1 to {MOST_BITS}, not {self.element_bits}")
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
class Handover:
    """One beat of a stage.

    Attributes:
        cycle: cycle of the handshake.
        data: as bytes, bit 0 first.
        address: where it is written, None for what is not written.
        unknown: which bits are neither 0 nor 1, as bytes; empty for none.
    """

    cycle: int
    data: bytes
    address: int | None = None
    unknown: bytes = b""


def load_stages(path: Path) -> tuple[Stage, ...]:
    """Return the stages of a file.

    Raises:
        StageError: when it cannot be read, or a key is missing, unknown or wrong.
    """
    raw = read_toml(path, StageError)
    if set(raw) != {"stage"}:
        raise StageError(f"{path}: the file must hold tables [[stage]] alone, not {', '.join(raw) or 'nothing'}")
    if not isinstance(raw["stage"], list):
        raise StageError(f"{path}: stage must be tables [[stage]], not {shown(raw['stage'])}")
    return tuple(_stage(path, entry, number) for number, entry in enumerate(raw["stage"]))


def _stage(path: Path, entry: object, number: int) -> Stage:
    where = f"{path}: stage[{number}]"
    if not isinstance(entry, dict):
        raise StageError(f"{where} must be a table, not {shown(entry)}")
    needed = {field.name for field in fields(Stage) if field.default is MISSING}
    for name in sorted(needed - set(entry)):
        raise StageError(f"{path}: a stage must have the key {name}")
    for name in sorted(set(entry) - {field.name for field in fields(Stage)}):
        raise StageError(f"{path}: a stage has no key {name}")
    lists = {key: [value] for key in ("engines", "data", "mask") if isinstance(value := entry.get(key), str)}
    return converted({**entry, **lists}, Stage, where, StageError)


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
    """

    stage: str
    layer: str
    beats: int
    expected: int
    wrong: str | None
    skipped: str | None = None

    @property
    def is_bad(self) -> bool:
        """Whether anything differs."""
        return self.skipped is None and (self.wrong is not None or self.beats != self.expected)

    def __str__(self) -> str:
        """Return the result as one line."""
        if self.skipped is not None:
            return f"{self.stage}: not compared: {self.skipped}"
        if self.wrong is not None:
            return f"{self.stage}: {self.wrong}"
        if self.is_bad:
            return f"{self.stage}: {self.beats} beats instead of {self.expected}"
        return f"{self.stage}: {self.beats} beats, all right"


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
                    result, count = _in_order(stage, evidence[layer.started.index], rest, number == len(layers) - 1)
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
    return StageResult(stage.name, evidence.started.name, len(beats), len(right.values), text), len(right.values)


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


def told(results: Sequence[StageResult]) -> list[str]:
    """Return the results of a layer as lines, and which stage is the first bad one."""
    bad = [result for result in results if result.is_bad]
    lines = [str(result) for result in results]
    return [*lines, f"first bad stage: {bad[0].stage}" if bad else "no stage differs: look past the last one"]


@dataclass(frozen=True)
class Culprit:
    """The unit whose hand-over is the first that is wrong.

    Attributes:
        suspect: The unit, and what it handed over.
        region: Where that is.
        is_sure: Whether all that it is made of was compared; else units before it are suspected as well.
    """

    suspect: Suspect
    region: Region
    is_sure: bool


def culprit(stages: Sequence[Stage], results: Sequence[StageResult], engine: str) -> Culprit | None:
    """Return the unit before the first hand-over of a wrong layer that is wrong; None when none was compared.

    Args:
        stages: All of the file.
        results: Of the layer.
        engine: That of the layer, as it is called in messages.
    """
    stage_of = {stage.name: stage for stage in stages}
    bad = next((number for number, result in enumerate(results) if result.is_bad), None)
    if bad is None:
        compared = [stage_of[result.stage] for result in results if result.skipped is None]
        if not compared:
            return None
        because = f"{compared[-1].name}: all that is handed over is right"
        return Culprit(following(compared[-1].unit, engine, because), Region.AFTER, is_sure=True)
    first = stage_of[results[bad].stage]
    right = [stage_of[result.stage].kind for result in results[:bad] if result.skipped is None]
    cleared = {value for kind in right for value in kind.made_of}
    skipped = [stage_of[result.stage] for result in results[:bad] if result.skipped is not None]
    before = [stage.unit for stage in skipped if stage.value not in cleared]
    # Halves of one unit side by side.
    beside = [stage_of[r.stage] for r in results[bad + 1 :] if r.is_bad and stage_of[r.stage].value == first.value]
    units = list(dict.fromkeys([*before, first.unit, *(stage.unit for stage in beside)]))
    named = units_named(*(name for unit in units for name in unit.split(_OR)))
    suspect = Suspect(_OR.join(units), f"the first bad hand-over, {results[bad]}", named)
    return Culprit(suspect, first.kind.region, is_sure=not before)
