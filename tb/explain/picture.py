"""Pictures of a surface for a page: expected, got and difference, as PNG inside the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tb.explain.evidence import Evidence
from tb.explain.walk import Cube

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
        expected: expected values.
        got: values that were found.
        difference: where it differs and which way.
        step: elements along W and H that share a pixel.
        channels: how many are side by side.
    """

    number: int
    wrong: int
    expected: Pixels
    got: Pixels
    difference: Pixels
    step: int
    channels: int

    @property
    def images(self) -> tuple[tuple[str, str], ...]:
        """The name and the address of each picture, for a page."""
        named = (("expected", self.expected), ("got", self.got), ("difference", self.difference))
        return tuple((name, data_url(pixels)) for name, pixels in named)


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
        yield SurfacePicture(
            number,
            int(per_surface[number]),
            _mosaic(_coloured(expected[part, shown, shown], scale)),
            _mosaic(np.where(lost[..., np.newaxis], _MISSING, _coloured(got[part, shown, shown], scale))),
            _mosaic(_differences(evidence, part, step, got)),
            step,
            lanes,
        )


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
