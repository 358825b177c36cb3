"""A page about one failed run, in one file: what is wrong where, when and why, with pictures and commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from tb.explain.evidence import Evidence
from tb.explain.picture import SurfacePicture, data_url, pictures
from tb.explain.text import Explanation
from tb.explain.timeline import timeline

FILE_NAME = "failure.html"
"""Name of the page in the folder of a failed run."""

_CAUSES = 8
_ELEMENTS = 12

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: #222 }
h1 { font-size: 1.5rem; margin-bottom: .2rem } h2 { margin-top: 2.4rem; border-top: 1px solid #ddd; padding-top: 1rem }
h2, h3 { font-size: 1.15rem } h3 { font-size: 1rem; margin: 1.4rem 0 .4rem }
.cause { font-size: 1.1rem; border-left: 4px solid #b3261e; padding: .2rem .8rem; background: #fbf1f0 }
.none { border-color: #8a6100; background: #fbf6e8 }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid #e4e4e0; vertical-align: top }
td.number, th.number { text-align: right }
.bar { background: #eceae4; width: 9rem; height: .7rem; border-radius: 2px; margin-top: .4rem }
.bar i { display: block; height: 100%; background: #b3261e; border-radius: 2px }
.surface { display: grid; grid-template-columns: 6rem 1fr; gap: .35rem .8rem; align-items: center; margin: .8rem 0 }
.surface span { color: #666; font-size: .85rem; text-align: right }
.surface b { grid-column: 2; font-weight: 600 }
.surface img { image-rendering: pixelated; width: 100%; border: 1px solid #ccc }
.timeline { width: 100% } .timeline text { font: 12px system-ui, sans-serif; fill: #666 }
.axis { fill: none; stroke: #999 } .right { fill: #8fa3b8 } .wrong { fill: #c43428 }
.key i { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; vertical-align: -.1rem }
pre { background: #f6f6f4; padding: .8rem 1rem; overflow-x: auto } ul { padding-left: 1.2rem; margin: .3rem 0 }
"""


@dataclass(frozen=True, eq=False)
class Failure:
    """A failed run.

    Attributes:
        name: what identifies it, as ``TEST.SEED``.
        complaints: why it failed.
        explanations: of its layers.
        commands: what to type, each with what it does.
        about: what was tested: RTL, configuration, simulator, date, revision.
    """

    name: str
    complaints: Sequence[str]
    explanations: Sequence[Explanation]
    commands: Sequence[tuple[str, str]]
    about: str = ""


def page(failure: Failure) -> str:
    """Return the page, complete in itself."""
    parts = [f"<h1>{escape(failure.name)} failed</h1>"]
    if failure.about:
        parts.append(f"<p>{escape(failure.about)}</p>")
    if failure.complaints:
        parts.append(_list(failure.complaints))
    for explanation in failure.explanations:
        parts += _layer(explanation)
    if not failure.explanations:
        parts.append('<p class="cause none">No layer left wrong bytes in a feature cube.</p>')
    if failure.commands:
        parts.append("<h2>Commands</h2>")
        parts += [f"<h3>{escape(what)}</h3><pre>{escape(command)}</pre>" for what, command in failure.commands]
    title = escape(f"{failure.name}: {failure.about}" if failure.about else failure.name)
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    body = "\n".join(parts)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _layer(explanation: Explanation) -> Iterator[str]:
    evidence = explanation.evidence
    wrong = int(np.count_nonzero(evidence.wrong))
    yield f"<h2>{escape(evidence.name)}: {wrong} wrong bytes</h2>"
    known = "cause" if explanation.causes else "cause none"
    yield f'<p class="{known}">{escape(explanation.headline)}</p>'
    if explanation.causes:
        yield "<h3>Why</h3>" + _causes(explanation)
    else:
        yield "<h3>Why</h3>" + _list(explanation.reasons())
    yield "<h3>Where</h3>" + _list(explanation.where.lines())
    if explanation.when is not None:
        yield "<h3>When</h3>" + _list(explanation.when.lines()) + timeline(evidence)
    shown = list(pictures(evidence))
    if shown:
        yield "<h3>Surfaces, channels of an atom side by side</h3>" + _KEY
        yield from (_picture(picture) for picture in shown)
    yield "<h3>First wrong elements</h3>" + _elements(evidence)


_KEY = (
    '<p class="key">Difference:<i style="background:#c43428"></i>too large<i style="background:#285cbe"></i>too small'
    '<i style="background:#f5be28"></i>never written</p>'
)


def _causes(explanation: Explanation) -> str:
    rows = [
        f'<tr><td class="number">{number}</td><td>{escape(fit.text)}</td>'
        f'<td><div class="bar"><i style="width:{100 * fit.share:.1f}%"></i></div></td>'
        f'<td class="number">{fit.explained} of {fit.wrong}</td><td class="number">{fit.contradicted}</td></tr>'
        for number, fit in enumerate(explanation.causes[:_CAUSES], start=1)
    ]
    heads = '<th></th><th>cause</th><th></th><th class="number">explains</th><th class="number">contradicts</th>'
    return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


def _picture(picture: SurfacePicture) -> str:
    note = f", one pixel for {picture.step} x {picture.step} elements" if picture.step > 1 else ""
    lines = "".join(
        f'<span>{name}</span><img alt="{name}" src="{data_url(image)}">'
        for name, image in (
            ("expected", picture.expected),
            ("got", picture.got),
            ("difference", picture.difference),
        )
    )
    text = f"surface {picture.number}: {picture.wrong} wrong elements, {picture.channels} channels{note}"
    return f'<div class="surface"><b>{text}</b>{lines}</div>'


def _elements(evidence: Evidence) -> str:
    walk = evidence.walk
    wrong, got = walk.any_byte(evidence.bad), walk.read_patch(evidence.got)
    missing = walk.any_byte(evidence.expected.mask & ~evidence.got.mask)
    rows = []
    for c, h, w in np.argwhere(wrong)[:_ELEMENTS].tolist():
        address = evidence.expected.address + walk.offset(c, h, w)
        value = "never written" if missing[c, h, w] else str(got[c, h, w])
        cells = [
            str(c),
            str(h),
            str(w),
            f"{address:#x}",
            str(evidence.cube[c, h, w]),
            value,
            _written(evidence, address),
        ]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    heads = "".join(f"<th>{name}</th>" for name in ("c", "h", "w", "address", "expected", "got", "written"))
    return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


def _written(evidence: Evidence, address: int) -> str:
    """Return when the byte at an address was last written, in words."""
    beats = evidence.beats
    if beats is None or not len(beats):
        return "-"
    lane = address - beats.address.astype(np.int64)
    inside = (lane >= 0) & (lane < beats.data.shape[1])
    hits = np.flatnonzero(inside)
    hits = hits[beats.strobe[hits, lane[hits]]]
    if not len(hits):
        return "-"
    last = int(hits[-1])
    return f"cycle {int(beats.cycle[last])}, id {int(beats.axi_id[last])}"


def _list(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
