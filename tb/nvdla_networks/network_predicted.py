"""Predicted cycles of networks beside those played, as text and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nvdla_networks.network_report import LayerLine
from nvdla_networks.prediction import Prediction
from nvdla_tb.report.summary import aligned

CLOSE = 0.1
"""A prediction that is off by at most this part of the cycles played is close."""


def prediction_lines(layers: Iterable[LayerLine]) -> list[str]:
    """Return a table of what was predicted of layers and what was played, and what they take together."""
    pairs = [(line, line.prediction) for line in layers if line.prediction is not None]
    if not pairs:
        return []
    played = any(line.cycles is not None for line, _ in pairs)
    what_if = pairs[0][1].what_if
    head = [
        "layer",
        "bound",
        "cycles of it",
        "predicted",
        *(["played", "off"] if played else []),
        *filter(None, [what_if]),
    ]
    rows = [_row(line, prediction, played=played) for line, prediction in pairs]
    return [aligned([head, *rows], left=1), *_summary(pairs)]


def _row(line: LayerLine, prediction: Prediction, *, played: bool) -> list[str]:
    name, least = prediction.work.bound
    row = [line.name, name, str(least), _text(prediction.cycles)]
    if played:
        off = None if line.cycles is None else prediction.error(line.cycles)
        row += [_text(line.cycles), "-" if off is None else f"{off:+.1%}"]
    return row + ([_text(prediction.otherwise)] if prediction.what_if else [])


def _text(cycles: int | None) -> str:
    return "-" if cycles is None else str(cycles)


def _summary(pairs: Sequence[tuple[LayerLine, Prediction]]) -> list[str]:
    known = [prediction for _, prediction in pairs if prediction.cycles is not None]
    if not known:
        return ["predicted: nothing; only cycles of nv_small's sizes were measured"]
    total = sum(prediction.cycles or 0 for prediction in known)
    lines = [f"predicted: {total} cycles in {len(known)} layers"]
    errors = [error for line, p in pairs if line.cycles is not None and (error := p.error(line.cycles)) is not None]
    if errors:
        close = sum(abs(error) <= CLOSE for error in errors)
        lines.append(f"within {CLOSE:.0%} of the cycles played: {close} of {len(errors)} layers")
    if known[0].what_if:
        other = sum(prediction.otherwise or 0 for prediction in known)
        lines.append(f"{known[0].what_if}: {other} cycles, {total / max(other, 1):.2f} times as fast")
    return lines


def plain_predictions(layers: Iterable[LayerLine]) -> list[dict[str, Any]]:
    """Return what was predicted as plain data, for files."""
    return [
        {
            "number": line.number,
            "layer": line.name,
            "bounds": dict(line.prediction.work.bounds),
            "predicted": line.prediction.cycles,
            "what_if": line.prediction.what_if,
            "otherwise": line.prediction.otherwise,
            "played": line.cycles,
        }
        for line in layers
        if line.prediction is not None
    ]
