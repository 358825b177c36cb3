"""A page about one failed run, in one file: what is wrong where, when and why, with pictures and commands."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.text import Explanation, bad_beats
from nvdla_tb.explain.walk import Cube
from nvdla_tb.judge.beats import offsets_from
from nvdla_tb.markup import render
from nvdla_tb.stimulus.explained import Explained

FILE_NAME = "failure.html"
"""Name of the page in the folder of a failed run."""

_CAUSES = 8
_ELEMENTS = 12


def page(
    name: str,
    explanations: Sequence[Explanation],
    *,
    complaints: Sequence[str] = (),
    why: Explained | None = None,
    commands: Sequence[tuple[str, str]] = (),
    about: str = "",
) -> str:
    """Return the page of a failed run, complete in itself.

    Args:
        name: identity, as ``TEST.SEED``.
        explanations: explanations of its layers.
        complaints: why it failed.
        why: what else is known of the reason: units, and hand-overs of the layers.
        commands: commands to type, each with its purpose.
        about: device under test: RTL, configuration, simulator, date, revision.
    """
    why = why or Explained([explanation.told() for explanation in explanations])
    handovers = {layer.name: layer.handovers for layer in why.layers}
    return render(
        "failure.html",
        title=f"{name}: {about}" if about else name,
        name=name,
        complaints=complaints,
        why=why,
        layers=[_layer(explanation, handovers.get(explanation.evidence.name, [])) for explanation in explanations],
        commands=commands,
        about=about,
    )


def _layer(explanation: Explanation, handovers: Sequence[str]) -> dict[str, Any]:
    evidence = explanation.evidence
    return {
        "title": f"{evidence.name}: {evidence.wrong_bytes} wrong bytes",
        "headline": explanation.headline,
        "causes": explanation.causes[:_CAUSES],
        "reasons": [] if explanation.causes else explanation.reasons(),
        "handovers": handovers,
        "where": explanation.where,
        "when": explanation.when,
        "timeline": timeline(evidence),
        "pictures": [{"text": picture.heading, "images": picture.images} for picture in pictures(evidence)],
        "elements": list(_elements(evidence)),
    }


def _elements(evidence: Evidence) -> Iterator[tuple[str, ...]]:
    walk = evidence.walk
    got = walk.read_patch(evidence.got)
    for c, h, w in np.argwhere(evidence.bad_elements)[:_ELEMENTS].tolist():
        address = evidence.expected.address + walk.offset(c, h, w)
        value = "never written" if evidence.missing_elements[c, h, w] else str(got[c, h, w])
        written = _written(evidence, address)
        yield str(c), str(h), str(w), f"{address:#x}", str(evidence.cube[c, h, w]), value, written


def _written(evidence: Evidence, address: int) -> str:
    """Return when the byte at an address was last written, in words."""
    beats = evidence.beats
    if beats is None or not len(beats):
        return "-"
    lane = -offsets_from(beats.address, address)
    inside = (lane >= 0) & (lane < beats.data.shape[1])
    hits = np.flatnonzero(inside)
    hits = hits[beats.strobe[hits, lane[hits]]]
    if not len(hits):
        return "-"
    last = int(hits[-1])
    return f"cycle {int(beats.cycle[last])}, id {int(beats.axi_id[last])}"


Pixels = NDArray[np.uint8]
"""(height, width, 4), red, green, blue and opacity."""

MOST_SURFACES = 6
"""Surfaces that are shown, those with most wrong elements."""

_MOST_PIXELS = 720
_GAP = 1
_MISSING = (245, 190, 40, 255)
_EQUAL = (128, 128, 128, 48)
"""Of an element that is right: grey on a light page and on a dark one."""

_STOPS = np.array(
    [(24, 30, 60, 255), (38, 95, 140, 255), (70, 160, 150, 255), (170, 210, 130, 255), (252, 246, 200, 255)],
    dtype=np.float64,
)


@dataclass(frozen=True, eq=False)
class SurfacePicture:
    """Three pictures of one surface, its channels side by side.

    Attributes:
        number: number of the surface.
        wrong: elements of it that are wrong.
        pixels: ``expected`` values, those ``got``, and the ``difference``: where they differ and which way.
        step: elements along W and H that share a pixel.
        channels: how many are side by side.
    """

    number: int
    wrong: int
    pixels: Mapping[str, Pixels]
    step: int
    channels: int

    @property
    def heading(self) -> str:
        """What it is of, in words."""
        note = f", one pixel for {self.step} x {self.step} elements" if self.step > 1 else ""
        return f"surface {self.number}: {self.wrong} wrong elements, {self.channels} channels{note}"

    @property
    def images(self) -> tuple[tuple[str, str], ...]:
        """The name and the address of each picture, for a page."""
        return tuple((name, data_url(pixels)) for name, pixels in self.pixels.items())


def pictures(evidence: Evidence) -> Iterator[SurfacePicture]:
    """Yield the surfaces with most wrong elements, in their order."""
    walk = evidence.walk
    got, expected = walk.read_patch(evidence.got), evidence.cube
    wrong = evidence.bad_elements
    lanes = walk.atom_elements
    per_surface = wrong.reshape(-1, lanes, *wrong.shape[1:]).sum(axis=(1, 2, 3))
    scale = _scale(expected)
    for number in sorted(np.argsort(-per_surface, kind="stable")[:MOST_SURFACES].tolist()):
        if not per_surface[number]:
            continue
        part = slice(number * lanes, (number + 1) * lanes)
        step = max(1, -(-max(wrong.shape[1], wrong.shape[2] * lanes + _GAP * (lanes - 1)) // _MOST_PIXELS))
        shown = slice(None, None, step)
        lost = evidence.missing_elements[part, shown, shown]
        missing = lost[..., np.newaxis]
        pixels = {
            "expected": _mosaic(_coloured(expected[part, shown, shown], scale)),
            "got": _mosaic(np.where(missing, _MISSING, _coloured(got[part, shown, shown], scale))),
            "difference": _mosaic(_differences(evidence, part, step, got)),
        }
        yield SurfacePicture(number, int(per_surface[number]), pixels, step, lanes)


def _scale(cube: Cube) -> tuple[float, float]:
    values = cube[np.isfinite(cube)].astype(np.float64) if cube.dtype.kind == "f" else cube
    return float(values.min(initial=0)), float(values.max(initial=1))


def _coloured(cube: Cube, scale: tuple[float, float]) -> Pixels:
    """Return (C, H, W, 4) from dark for the smallest value to light for the largest."""
    low, high = scale
    part = (np.nan_to_num(cube.astype(np.float64), nan=high, posinf=high, neginf=low) - low) / max(high - low, 1e-9)
    place = np.clip(part, 0.0, 1.0) * (len(_STOPS) - 1)
    first = np.minimum(place.astype(np.int64), len(_STOPS) - 2)
    rest = (place - first)[..., np.newaxis]
    coloured: Pixels = (_STOPS[first] * (1 - rest) + _STOPS[first + 1] * rest).astype(np.uint8)
    return coloured


def _differences(evidence: Evidence, part: slice, step: int, got: Cube) -> Pixels:
    """Return (C, H, W, 4): too large red, too small blue, missing yellow; any wrong element colours its pixel."""
    wrong = _pooled(evidence.bad_elements[part], step)
    lost = _pooled(evidence.missing_elements[part], step)
    shown = slice(None, None, step)
    above = got[part, shown, shown].astype(np.float64) > evidence.cube[part, shown, shown].astype(np.float64)
    image = np.full((*wrong.shape, 4), _EQUAL, dtype=np.uint8)
    image[wrong & above] = (196, 52, 40, 255)
    image[wrong & ~above] = (40, 92, 190, 255)
    image[lost] = _MISSING
    return image


def _pooled(mask: NDArray[np.bool_], step: int) -> NDArray[np.bool_]:
    channels, height, width = mask.shape
    padded = np.pad(mask, ((0, 0), (0, -height % step), (0, -width % step)))
    blocks = padded.reshape(channels, -(-height // step), step, -(-width // step), step)
    pooled: NDArray[np.bool_] = np.logical_or.reduce(blocks, axis=(2, 4))
    return pooled


def _mosaic(tiles: NDArray[np.generic]) -> Pixels:
    """Return channels (C, H, W, 4) side by side, transparent between them."""
    count, height, width, _ = tiles.shape
    image = np.zeros((height, count * (width + _GAP) - _GAP, 4), dtype=np.uint8)
    for number in range(count):
        image[:, number * (width + _GAP) : number * (width + _GAP) + width] = tiles[number]
    return image


def data_url(pixels: Pixels) -> str:
    """Return an image as the address of a PNG that holds it."""
    png = io.BytesIO()
    Image.fromarray(pixels).save(png, "PNG")
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode('ascii')}"


_MOST_POINTS = 1500
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 900, 240, 110, 34, 12


def timeline(evidence: Evidence) -> str:
    """Return the timeline, or nothing when only memory is known."""
    beats = evidence.beats
    if beats is None or not len(beats):
        return ""
    bad = bad_beats(evidence)
    first, lowest = beats.cycle.min(), beats.address.min()
    cycle, address = (beats.cycle - first).astype(np.float64), (beats.address - lowest).astype(np.float64)
    cycles, nbytes = max(cycle.max(), 1.0), max(address.max(), 1.0)
    x = _LEFT + cycle / cycles * (_WIDTH - _LEFT - 12)
    y = _HEIGHT - _BOTTOM - address / nbytes * (_HEIGHT - _BOTTOM - _TOP)
    size = max(1.5, min(5.0, 700 / len(beats)))
    return render(
        "timeline.html",
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        top=_TOP,
        floor=_HEIGHT - _BOTTOM,
        marks=[
            (kind, _dots(x[which], y[which], size)) for kind, which in (("right", ~bad), ("wrong", bad)) if which.any()
        ],
        low=f"{int(lowest):#x}",
        high=f"{int(lowest) + int(nbytes):#x}",
        first=f"cycle {int(first)}",
        last=f"cycle {int(first) + int(cycles)}",
    )


def _dots(x: NDArray[np.float64], y: NDArray[np.float64], size: float) -> str:
    """Return squares around points, evenly chosen when there are too many."""
    step = -(-len(x) // _MOST_POINTS)
    return "".join(
        f"M{at - size / 2:.1f} {height - size / 2:.1f}h{size:.1f}v{size:.1f}h-{size:.1f}z"
        for at, height in zip(x[::step].tolist(), y[::step].tolist(), strict=True)
    )
