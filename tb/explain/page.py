"""A page about one failed run, in one file: what is wrong where, when and why, with pictures and commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tb.explain.evidence import Evidence
from tb.explain.picture import SurfacePicture, pictures
from tb.explain.text import Explanation
from tb.explain.timeline import timeline
from tb.judge.beats import offsets_from
from tb.markup import render

FILE_NAME = "failure.html"
"""Name of the page in the folder of a failed run."""

_CAUSES = 8
_ELEMENTS = 12


@dataclass(frozen=True, eq=False)
class Failure:
    """A failed run.

    Attributes:
        name: identity, as ``TEST.SEED``.
        complaints: why it failed.
        explanations: explanations of its layers.
        commands: commands to type, each with its purpose.
        about: device under test: RTL, configuration, simulator, date, revision.
    """

    name: str
    complaints: Sequence[str]
    explanations: Sequence[Explanation]
    commands: Sequence[tuple[str, str]]
    about: str = ""


def page(failure: Failure) -> str:
    """Return the page, complete in itself."""
    return render(
        "failure.html",
        title=f"{failure.name}: {failure.about}" if failure.about else failure.name,
        failure=failure,
        layers=[_layer(explanation) for explanation in failure.explanations],
    )


def _layer(explanation: Explanation) -> dict[str, Any]:
    evidence, when = explanation.evidence, explanation.when
    return {
        "title": f"{evidence.name}: {int(np.count_nonzero(evidence.wrong))} wrong bytes",
        "headline": explanation.headline,
        "causes": explanation.causes[:_CAUSES],
        "reasons": [] if explanation.causes else explanation.reasons(),
        "where": explanation.where,
        "when": None if when is None else when.lines(),
        "timeline": timeline(evidence),
        "pictures": [{"text": _heading(picture), "images": picture.images} for picture in pictures(evidence)],
        "elements": list(_elements(evidence)),
    }


def _heading(picture: SurfacePicture) -> str:
    note = f", one pixel for {picture.step} x {picture.step} elements" if picture.step > 1 else ""
    return f"surface {picture.number}: {picture.wrong} wrong elements, {picture.channels} channels{note}"


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
