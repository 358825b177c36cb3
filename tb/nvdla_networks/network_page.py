"""Page of a network: layers with their verdicts and cycles, and the first wrong one with its causes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import ceil, log10
from typing import Any

from nvdla_models.config import HwConfig
from nvdla_networks.layers import HostStep
from nvdla_networks.network_lines import accuracy_lines, image_lines, share_lines
from nvdla_networks.network_report import LayerLine, LayerVerdict, Outcome, Report, said
from nvdla_networks.network_text import classes
from nvdla_tb.explain import Explanation
from nvdla_tb.explain.page import pictures
from nvdla_tb.markup import render

KINDS = {
    LayerVerdict.MODEL: "other",
    LayerVerdict.EQUAL: "good",
    LayerVerdict.WITHIN: "good",
    LayerVerdict.WRONG: "bad",
    LayerVerdict.UNFINISHED: "bad",
    LayerVerdict.NOT_RUN: "other",
}
VERDICTS = {each: each.value for each in LayerVerdict} | {LayerVerdict.MODEL: Outcome.COMPUTED.value}
_OUTCOMES = {Outcome.PASSED: "good", Outcome.FAILED: "bad", Outcome.COMPUTED: "other"}

_BOX_HEIGHT, _STEP, _CHARACTER = 26, 40, 7
_MOST_LABEL = 60
_MOST_CLASSES = 5

_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 620, 20, 300
_NAME_WIDTH, _BAR_WIDTH, _ROW = 70, 930, 24


def network_page(report: Report, config: HwConfig, explanations: Sequence[Explanation]) -> str:
    """Return the page, complete in itself, with the first of the explanations of wrong layers."""
    first = explanations[:1]
    shown = [
        {"text": f"surface {picture.number}: {picture.wrong} wrong elements", "images": picture.images}
        for explanation in first
        for picture in pictures(explanation.evidence)
    ]
    return render(
        "network.html",
        title=report.name,
        report=report,
        cycles=None if report.result is None else report.result.verdict.cycles,
        first_wrong=report.first_wrong,
        explanations=first,
        pictures=shown,
        kinds=KINDS,
        verdicts=VERDICTS,
        predicted=any(line.prediction is not None for line in report.layers),
        graph=_graph(report),
        roofline=_roofline(report.layers, config),
        timeline=_timeline(report.layers),
        classes=lambda values: classes(values, _MOST_CLASSES),
        said=said,
        outcome=_OUTCOMES[report.outcome],
        images=image_lines(report),
        accuracy=accuracy_lines(report),
        share=share_lines(report),
    )


def _graph(report: Report) -> dict[str, Any]:
    """Return where boxes and flows stand: layers below each other, flows that pass others by on the right."""
    boxes = []
    lines = iter(report.layers)
    for number, step in enumerate(report.steps):
        box = _box(next(lines)) if step is None else _host_box(step)
        boxes.append({"x": 10, "y": 10 + _STEP * number, "height": _BOX_HEIGHT, **box})
    wide = 16 + _CHARACTER * max((len(str(box["text"])) for box in boxes), default=0)
    middle, side = 10 + wide / 2, 10 + wide
    paths = []
    widest = 0
    for source, target in report.flows:
        start = 10 + _STEP * source + _BOX_HEIGHT
        end = 10 + _STEP * target
        if target == source + 1:
            paths.append(f"M {middle} {start} V {end}")
            continue
        bend = 20 + min(8 * (target - source), 200)
        widest = max(widest, bend)
        top, bottom = start - _BOX_HEIGHT / 2, end + _BOX_HEIGHT / 2
        paths.append(f"M {side} {top} C {side + bend} {top} {side + bend} {bottom} {side} {bottom}")
    return {
        "width": 20 + wide + widest,
        "height": 20 + _STEP * len(boxes),
        "wide": wide,
        "boxes": boxes,
        "flows": paths,
    }


def _box(line: LayerLine) -> dict[str, str]:
    return {
        "kind": KINDS[line.verdict],
        "text": f"{line.number}  {_shortened(line.name)}  {'x'.join(map(str, line.shape))}",
        "title": f"{line.name}: {VERDICTS[line.verdict]}, {line.judged_bytes} bytes",
    }


def _host_box(step: HostStep) -> dict[str, str]:
    nodes = step.nodes or ("moves cubes",)
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return {"kind": "host", "text": f"host: {_shortened(nodes[0])}{more}", "title": "host: " + ", ".join(nodes)}


def _shortened(name: str) -> str:
    """Return a name without its middle where it is long: names of one network begin alike, and end with operators."""
    half = _MOST_LABEL // 2
    return name if len(name) <= _MOST_LABEL else f"{name[:half]}…{name[-half:]}"


def _roofline(layers: Sequence[LayerLine], config: HwConfig) -> dict[str, Any] | None:
    """Return roof and points on logarithmic axes, or None when no layer multiplies."""
    points = []
    for line in layers:
        if line.performance is None or not line.performance.measured.work.macs:
            continue
        measured = line.performance.measured
        nbytes = sum(measured.work.read_bytes.values()) + sum(measured.work.written_bytes.values())
        points.append((measured.work.macs / nbytes, measured.work.macs / measured.cycles, line))
    if not points:
        return None
    peak = max(line.performance.measured.work.mac_peak for _, _, line in points if line.performance is not None)
    width = config.primary_memif_width_bytes
    ridge = peak / width
    most_x = 10 ** ceil(log10(max(*(x for x, _, _ in points), 10 * ridge)))
    least_x = 10 ** (ceil(log10(min(*(x for x, _, _ in points), ridge / 10))) - 1)
    most_y = 10 ** ceil(log10(peak))
    least_y = 10 ** (ceil(log10(min(*(y for _, y, _ in points), least_x * width))) - 1)

    def x_of(value: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * log10(value / least_x) / log10(most_x / least_x), 1)

    def y_of(value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * log10(value / least_y) / log10(most_y / least_y), 1)

    grid = []
    value = least_x
    while value <= most_x * 1.01:
        grid.append({"path": f"M {x_of(value)} {_TOP} V {_BOTTOM}", "x": x_of(value), "y": 318, "text": f"{value:g}"})
        value *= 10
    value = least_y
    while value <= most_y * 1.01:
        grid.append({"path": f"M {_LEFT} {y_of(value)} H {_RIGHT}", "x": 4, "y": y_of(value), "text": f"{value:g}"})
        value *= 10
    return {
        "grid": grid,
        "roof": f"M {x_of(least_x)} {y_of(least_x * width)} L {x_of(ridge)} {y_of(peak)} H {x_of(most_x)}",
        "points": [
            {"x": x_of(x), "y": y_of(y), "title": f"{line.number} {line.name}: {x:.3g} a byte, {y:.3g} a cycle"}
            for x, y, line in points
        ],
    }


def _timeline(layers: Sequence[LayerLine]) -> dict[str, Any] | None:
    """Return a row for each register group of each unit that ends layers, or None when nothing has run."""
    ran = [(line, line.facts) for line in layers if line.facts is not None]
    if not ran:
        return None
    first = min(times.enabled for _, times in ran)
    last = max(times.ended or times.begun for _, times in ran)
    scale = _BAR_WIDTH / max(last - first, 1)
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line, times in ran:
        ended = last if times.ended is None else times.ended
        bars = rows[f"{times.unit} {times.group}"]
        title = f"{line.number} {line.name}: {times.begun} to {times.ended or 'no end'}"
        for kind, start, end in (("waits", times.enabled, times.begun), ("runs", times.begun, ended)):
            if end > start:
                wrong = " bad" if kind == "runs" and KINDS[line.verdict] == "bad" else ""
                place = {
                    "x": round(_NAME_WIDTH + (start - first) * scale, 2),
                    "width": round(max((end - start) * scale, 0.5), 2),
                }
                bars.append({"kind": kind + wrong, "title": title, **place})
    names = sorted(rows)
    return {
        "first": first,
        "last": last,
        "height": _ROW * len(names) + 4,
        "rows": [{"name": name, "y": 2 + _ROW * n, "bars": rows[name]} for n, name in enumerate(names)],
    }
