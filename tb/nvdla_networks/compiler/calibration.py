"""How far each value reaches over samples: all of it, all but outliers, or where integers lose least information."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

import numpy as np

from nvdla_networks.compiler.equalise import Channels
from nvdla_networks.compiler.graph import Floats, Graph, Interval
from nvdla_networks.compiler.interpret import values_of

_BINS = 2048
_OUTLIERS = 1e-4
"""Part of all elements that a percentile leaves out, half of it at either end."""

_LEVELS = 128
"""Magnitudes of INT8, by which entropy counts for all integers."""

_STEP = 16
"""Bins from one threshold that entropy tries to the next."""


class Calibration(Enum):
    """What the integers of a value must hold."""

    RANGE = "range"
    PERCENTILE = "percentile"
    ENTROPY = "entropy"


def reached(graph: Graph, samples: Iterable[Mapping[str, Floats]], calibration: Calibration) -> dict[str, Interval]:
    """Return the least and the most of each value over all samples, 0 among them.

    Source: percentile and entropy as onnxruntime and TensorRT calibrate.
    """
    samples = list(samples)
    reach = dict.fromkeys(graph.shapes, (0.0, 0.0))
    for sample in samples:
        for name, value in values_of(graph, sample).items():
            least, most = reach[name]
            reach[name] = min(least, float(value.min())), max(most, float(value.max()))
    if calibration is Calibration.RANGE:
        return reach
    counts = {name: np.zeros(_BINS) for name in reach}
    for sample in samples:
        for name, value in values_of(graph, sample).items():
            magnitudes = np.abs(value) if calibration is Calibration.ENTROPY else value
            counts[name] += np.histogram(magnitudes, _BINS, _edges(reach[name], calibration))[0]
    return {name: _within(reach[name], counts[name], calibration) for name in reach}


def channels_seen(graph: Graph, samples: Sequence[Mapping[str, Floats]]) -> dict[str, Channels]:
    """Return what the channels of each value reach over all samples."""
    most = {name: np.zeros(shape[0]) for name, shape in graph.shapes.items()}
    squares = dict(most)
    for sample in samples:
        for name, value in values_of(graph, sample).items():
            most[name] = np.maximum(most[name], np.abs(value).max(axis=(1, 2)))
            squares[name] = squares[name] + (value**2).mean(axis=(1, 2))
    return {
        name: Channels(most[name], squares[name] / max(len(samples), 1), len(samples) * height * width)
        for name, (_, height, width) in graph.shapes.items()
    }


def _edges(reach: Interval, calibration: Calibration) -> Interval:
    """Return the ends of a histogram."""
    return reach if calibration is Calibration.PERCENTILE else (0.0, max(-reach[0], reach[1]))


def _within(reach: Interval, counts: Floats, calibration: Calibration) -> Interval:
    least, most = _edges(reach, calibration)
    edges = np.linspace(least, most, _BINS + 1)
    if counts.sum() < _BINS or least == most:
        # So few elements have no distribution.
        return reach
    if calibration is Calibration.PERCENTILE:
        below = np.cumsum(counts) / counts.sum()
        first, last = np.searchsorted(below, (_OUTLIERS / 2, 1 - _OUTLIERS / 2), side="right")
        return min(float(edges[first]), 0.0), max(float(edges[min(last, _BINS - 1) + 1]), 0.0)
    # Zeros of a ReLU are exact with any threshold.
    counts[0] = counts[1]
    tried = range(_LEVELS, _BINS + 1, _STEP)
    bound = float(edges[min(tried, key=lambda bins: _lost(counts, bins))])
    return max(reach[0], -bound), min(reach[1], bound)


def _lost(counts: Floats, bins: int) -> float:
    """Return the information that is lost where all beyond some bins is clipped, and these become magnitudes."""
    kept = counts[:bins].copy()
    if not kept.any():
        return math.inf
    groups = np.arange(bins) * _LEVELS // bins
    sums, filled = np.bincount(groups, kept, _LEVELS), np.bincount(groups, kept > 0, _LEVELS)
    spread = np.where(kept > 0, (sums / np.maximum(filled, 1))[groups], 0.0)
    kept[-1] += counts[bins:].sum()
    seen = kept > 0
    real, coded = kept[seen] / kept.sum(), spread[seen] / spread.sum()
    return float((real * np.log(real / np.maximum(coded, np.finfo(float).tiny))).sum())
