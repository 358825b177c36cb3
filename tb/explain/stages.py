"""The first bad stage: what units hand over inside the RTL, compared with what the model computes there.

A TOML file names the hand-overs, in the order in which data pass them:

    [[stage]]
    name = "CACC to SDP"
    engines = ["CONV"]            # whose layers pass it: CONV, SDP, PDP or CDP
    value = "sums"                # sums of CACC, entered (what SDP takes) or written (bytes to memory)
    valid = "conv.sdp_valid"      # paths from the RTL's top
    ready = "conv.sdp_ready"
    data = "conv.sdp_data"
    element_bits = 32             # elements one behind the other from bit 0; not for written
    address = "sdp.wr_req_addr"   # for written alone

Elements come surface by surface, line by line, column by column, whole surfaces or a part of their channels a beat;
bytes that are written come in any order.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tb.explain.evidence import Evidence
from tb.explain.seen import Seen, SeenLayer
from tb.layers import ConvLayer, SdpLayer
from tb.memory import Ram
from tb.predictor.conv import convolve
from tb.predictor.cubes import read_patterns
from tb.program.ops import Op

ENGINES = ("CONV", "SDP", "PDP", "CDP")
VALUES = ("sums", "entered", "written")


class StageError(ValueError):
    """A file of stages, or a stage, that cannot be used; the message names it and the rule."""


@dataclass(frozen=True)
class Stage:
    """One hand-over; see the module for the fields."""

    name: str
    engines: tuple[str, ...]
    value: str
    valid: str
    ready: str
    data: str
    element_bits: int = 8
    address: str | None = None

    def __post_init__(self) -> None:
        for engine in self.engines:
            if engine not in ENGINES:
                raise StageError(f"{self.name}: engines must be of {', '.join(ENGINES)}, not {engine}")
        if self.value not in VALUES:
            raise StageError(f"{self.name}: value must be one of {', '.join(VALUES)}, not {self.value}")
        if (self.value == "written") != (self.address is not None):
            raise StageError(f"{self.name}: address must be given for written, and for nothing else")
        if self.element_bits not in (8, 16, 32):
            raise StageError(f"{self.name}: element_bits must be 8, 16 or 32, not {self.element_bits}")


@dataclass(frozen=True)
class Handover:
    """One beat of a stage.

    Attributes:
        cycle: of the handshake.
        data: as bytes, bit 0 first.
        address: where it is written, None for what is not written.
    """

    cycle: int
    data: bytes
    address: int | None = None


def load_stages(path: Path) -> tuple[Stage, ...]:
    """Return the stages of a file.

    Raises:
        StageError: when it cannot be read, or a key is missing, unknown or wrong.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StageError(f"{path}: cannot be read: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise StageError(f"{path}: {error}") from error
    if set(raw) != {"stage"}:
        raise StageError(f"{path}: the file must hold tables [[stage]] alone, not {', '.join(raw) or 'nothing'}")
    return tuple(_stage(path, entry) for entry in raw["stage"])


def _stage(path: Path, entry: dict[str, Any]) -> Stage:
    needed = {"name", "engines", "value", "valid", "ready", "data"}
    for name in sorted(needed - set(entry)):
        raise StageError(f"{path}: a stage must have the key {name}")
    for name in sorted(set(entry) - needed - {"element_bits", "address"}):
        raise StageError(f"{path}: a stage has no key {name}")
    return Stage(**{**entry, "engines": tuple(entry["engines"])})


@dataclass(frozen=True)
class Finding:
    """What passed a stage for one layer.

    Attributes:
        stage: its name.
        layer: name of the layer.
        beats: that passed.
        expected: beats that should have passed.
        wrong: the first that differs, in words, None when none does.
    """

    stage: str
    layer: str
    beats: int
    expected: int
    wrong: str | None

    @property
    def is_bad(self) -> bool:
        """Whether anything differs."""
        return self.wrong is not None or self.beats != self.expected

    def __str__(self) -> str:
        """Return the finding as one line."""
        if self.wrong is not None:
            return f"{self.stage}: {self.wrong}"
        if self.is_bad:
            return f"{self.stage}: {self.beats} beats instead of {self.expected}"
        return f"{self.stage}: {self.beats} beats, all right"


def judge(
    stages: Sequence[Stage], seen: Mapping[str, Sequence[Handover]], run: Seen, ops: Iterable[Op]
) -> dict[int, list[Finding]]:
    """Compare what passed each stage with the model.

    Args:
        stages: in the order in which data pass them.
        seen: by the names of the stages.
        run: its layers.
        ops: what was played.

    Returns:
        Findings for each layer's index, in the order of the stages.
    """
    findings: dict[int, list[Finding]] = {layer.started.index: [] for layer in run.layers}
    evidence = {e.started.index: e for e in run.every(ops) if e.started is not None}
    for stage in stages:
        layers = [layer for layer in run.layers if layer.started.engine in stage.engines]
        rest = list(seen[stage.name])
        for number, layer in enumerate(layers):
            found = evidence[layer.started.index]
            if stage.value == "written":
                own = [beat for beat in rest if beat.address is not None and _belongs(beat.address, layer, layers)]
                findings[layer.started.index].append(_written(stage, layer, own))
                continue
            values = _values(stage, found)
            beat_elements = len(rest[0].data) * 8 // stage.element_bits if rest else values.shape[0]
            count = values.size // beat_elements
            last = number == len(layers) - 1
            findings[layer.started.index].append(_in_order(stage, layer, values, rest if last else rest[:count]))
            rest = rest[count:]
    return findings


def _belongs(address: int, layer: SeenLayer, layers: Sequence[SeenLayer]) -> bool:
    """Return whether an address is in the surface of a layer; what is in none belongs to the first layer."""
    owners = [other for other in layers if other.expected.address <= address < other.expected.end]
    return (owners[-1] if owners else layers[0]) is layer


def _values(stage: Stage, evidence: Evidence) -> NDArray[Any]:
    """Return what should pass a stage, (C, H, W) with padding channels."""
    assert evidence.started is not None
    layer = evidence.started.layer

    def read(ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        return evidence.memory.read(address, nbytes).data

    if isinstance(layer, ConvLayer):
        return convolve(layer, read)
    if isinstance(layer, SdpLayer) and stage.value == "entered":
        return read_patterns(layer.src, read)
    raise StageError(
        f"{stage.name}: value {stage.value} must be of a layer of CONV or SDP, not {evidence.started.engine}"
    )


def _in_order(stage: Stage, layer: SeenLayer, values: NDArray[Any], beats: Sequence[Handover]) -> Finding:
    dtype = np.dtype(f"<i{stage.element_bits // 8}")
    lanes = len(beats[0].data) // dtype.itemsize if beats else values.shape[0]
    channels, height, width = values.shape
    if channels % lanes:
        raise StageError(f"{stage.name}: a beat must hold a part of {channels} channels, not {lanes}")
    ordered = values.reshape(-1, lanes, height, width).transpose(0, 2, 3, 1).reshape(-1, lanes).astype(dtype)
    got = np.frombuffer(b"".join(beat.data for beat in beats), dtype=dtype).reshape(-1, lanes)
    count = min(len(got), len(ordered))
    wrong = np.flatnonzero((got[:count] != ordered[:count]).any(axis=1))
    text = None
    if len(wrong):
        beat = int(wrong[0])
        lane = int(np.flatnonzero(got[beat] != ordered[beat])[0])
        surface, h, w = np.unravel_index(beat, (channels // lanes, height, width))
        text = (
            f"first wrong at c={int(surface) * lanes + lane} h={h} w={w} in beat {beat + 1} of {len(ordered)}, "
            f"cycle {beats[beat].cycle}: expected {ordered[beat, lane]}, got {got[beat, lane]}"
        )
    return Finding(stage.name, layer.started.name, len(beats), len(ordered), text)


def _written(stage: Stage, layer: SeenLayer, beats: Sequence[Handover]) -> Finding:
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
        if (np.frombuffer(beat.data, dtype=np.uint8) != expected.data[first : first + size])[mask].any():
            want = expected.data[first : first + size].tobytes().hex(" ")
            place = layer.layout.element_at(first)
            element = "" if place is None else f", from c={place.c} h={place.h} w={place.w}"
            text = f"first wrong {where}{element}: expected {want}, got {beat.data.hex(' ')}"
            break
    return Finding(stage.name, layer.started.name, len(beats), int(expected.mask.sum()) // size, text)


def first_bad(findings: Sequence[Finding]) -> list[str]:
    """Return the findings of a layer as lines, and which stage is the first bad one."""
    bad = [finding for finding in findings if finding.is_bad]
    lines = [str(finding) for finding in findings]
    return [*lines, f"first bad stage: {bad[0].stage}" if bad else "no stage differs: look behind the last one"]
