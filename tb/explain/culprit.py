"""The unit that a layer's hand-overs point at: the one before the first that is wrong, or the one that stopped."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from tb.explain.region import Region
from tb.explain.stages import Stage, StageResult
from tb.explain.units import Suspect, following, parts


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


def culprit(
    stages: Sequence[Stage], results: Sequence[StageResult], engine: str, offered: Container[str] | None = None
) -> Culprit | None:
    """Return the unit before the first hand-over of a wrong layer that is wrong; None when none was compared.

    Args:
        stages: All of the file.
        results: Of the layer.
        engine: That of the layer, as it is called in messages.
        offered: Of a hang, the stages at which a beat is offered and not taken.
    """
    stage_of = {stage.name: stage for stage in stages}
    if offered is not None and any(result.is_short for result in results):
        first_wrong = next((result for result in results if result.is_bad and not result.is_short), None)
        if first_wrong is None:
            return _stopped([(stage_of[result.stage], result) for result in results], engine, offered)
        # Units before it may be short as those after it stopped.
        results = [result for result in results if not result.is_short]
    bad = next((number for number, result in enumerate(results) if result.is_bad), None)
    if bad is None:
        compared = [stage_of[result.stage] for result in results if result.skipped is None]
        if not compared:
            return None
        because = f"{compared[-1].name}: all that is handed over is right"
        return Culprit(following(compared[-1].unit[-1], engine, because), Region.AFTER, is_sure=True)
    first = stage_of[results[bad].stage]
    right = [stage_of[result.stage].kind for result in results[:bad] if result.skipped is None]
    cleared = {value for kind in right for value in kind.made_of}
    skipped = [stage_of[result.stage] for result in results[:bad] if result.skipped is not None]
    before = [unit for stage in skipped if stage.value not in cleared for unit in stage.unit]
    # Halves of one unit side by side.
    beside = [stage_of[r.stage] for r in results[bad + 1 :] if r.is_bad and stage_of[r.stage].value == first.value]
    units = dict.fromkeys([*before, *first.unit, *(unit for stage in beside for unit in stage.unit)])
    suspect = Suspect(parts(units), f"the first bad hand-over, {results[bad]}")
    return Culprit(suspect, first.kind.region, is_sure=not before)


def _stopped(found: Sequence[tuple[Stage, StageResult]], engine: str, offered: Container[str]) -> Culprit | None:
    """Return the unit that stopped: it got more than it handed on, and nobody after it refused what it had.

    Units before it are short as well, as their data were not taken any more.

    Args:
        found: Each stage with what passed it, in the order of the data.
        engine: That of the layer.
        offered: Stages at which a beat is offered and not taken.
    """
    by_value: dict[str, list[tuple[Stage, StageResult]]] = {}
    for stage, result in found:
        if result.skipped is None:
            by_value.setdefault(stage.value, []).append((stage, result))
    sums, products, elements = (by_value.get(value, []) for value in ("sums", "products", "elements"))
    if not (sums and products and elements):
        return None
    last, out = sums[-1]
    if not out.is_short or last.name in offered:
        refused = f"{last.name}: {out.beats} of {out.expected} beats, and the next is not taken"
        because = refused if last.name in offered else f"{last.name}: all that is handed over is right"
        return Culprit(following(last.unit[-1], engine, because), Region.AFTER, is_sure=True)
    because = f"{last.name}: {out.beats} of {out.expected} beats, all right, and no more comes"
    # MAC cells without kernels multiply nothing.
    if out.finished < min((result.finished for _, result in products if result.expected), default=0.0):
        return Culprit(Suspect(parts(last.unit), because), Region.SUMS, is_sure=True)
    for (stage, product), (_, element) in zip(products, elements, strict=False):
        if product.beats < element.beats:
            because = f"{stage.name}: {product.beats} beats, after {element.beats} atomic operations"
            return Culprit(Suspect(parts(stage.unit), because), Region.PRODUCTS, is_sure=True)
    stage, element = elements[0]
    because = f"{stage.name}: {element.beats} of {element.expected} beats, and no more comes"
    loading = [(before, result) for before, result in found if before.kind.is_loaded and not _is_whole(result)]
    units = [name for before, _ in loading for name in before.unit]
    if any(before.kind.counts is None for before, _ in loading):
        # CDMA waits where CSC neither frees the buffer nor lets it be flushed.
        units += stage.unit[-1:]
    elif not loading and any(result.finished < out.finished for _, result in by_value.get("credits", [])):
        units += last.unit
    elif not loading:
        # A layer before may have lost credits, which CSC lacks now.
        units += (*stage.unit[-1:], *last.unit)
    return Culprit(Suspect(parts(dict.fromkeys(units)), because), Region.OPERANDS, is_sure=True)


def _is_whole(result: StageResult) -> bool:
    return result.skipped is None and not result.is_bad
