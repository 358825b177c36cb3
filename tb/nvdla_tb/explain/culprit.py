"""The unit that hand-overs point at: the one before the first wrong hand-over, or the one that stopped."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from nvdla_tb.explain.handovers import Stage
from nvdla_tb.explain.stages import StageResult
from nvdla_tb.explain.units import Suspect, following, parts


def around_first_bad(results: Sequence[StageResult]) -> list[Stage]:
    """Return the last right hand-over of a layer and its first wrong one, as far as there are such."""
    compared = [result for result in results if result.skipped is None and (result.beats or result.expected)]
    bad = next((number for number, result in enumerate(compared) if result.is_bad), len(compared))
    return [result.stage for result in compared[max(0, bad - 1) : bad + 1]]


@dataclass(frozen=True)
class Culprit:
    """The unit whose hand-over is the first that is wrong.

    Attributes:
        suspect: The unit, and what it handed over.
        is_sure: Whether all that it is made of is known to be right; else units before it are suspected as well.
    """

    suspect: Suspect
    is_sure: bool = True


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
    if offered is not None and any(result.is_short for result in results):
        first_wrong = next((result for result in results if result.is_bad and not result.is_short), None)
        if first_wrong is None:
            asked = [stage for stage in stages if stage.kind.is_handshake and stage.name in offered]
            if asked:
                units = dict.fromkeys(unit for stage in asked for unit in stage.unit)
                because = f"{' and '.join(stage.name for stage in asked)}: asked for, and never done"
                return Culprit(Suspect(parts(units), because))
            return _stopped(results, engine, offered)
        # Units before it may be short as those after it stopped.
        results = [result for result in results if not result.is_short]
    bad = next((number for number, result in enumerate(results) if result.is_bad), None)
    if bad is None:
        compared = [result.stage for result in results if result.skipped is None]
        if not compared:
            return None
        because = f"{compared[-1].name}: all that is handed over is right"
        return Culprit(following(compared[-1].unit[-1], engine, because))
    first = results[bad].stage
    cleared = {value for result in results[:bad] if result.skipped is None for value in result.stage.kind.made_of}
    # What was right when it was loaded may have been overwritten too early.
    unsure = [result.stage for result in results[:bad] if result.skipped is not None or result.refills]
    before = [unit for stage in unsure if stage.value not in cleared for unit in stage.unit]
    # Halves of one unit side by side.
    beside = [
        other.stage
        for other in results[bad + 1 :]
        if other.is_bad and first.kind.in_stripes and other.stage.value == first.value
    ]
    units = dict.fromkeys([*before, *first.unit, *(unit for stage in beside for unit in stage.unit)])
    suspect = Suspect(parts(units), f"the first bad hand-over, {results[bad]}")
    return Culprit(suspect, is_sure=not before)


def _stopped(results: Sequence[StageResult], engine: str, offered: Container[str]) -> Culprit | None:
    """Return the unit that stopped: it got more than it handed on, and nobody after it refused what it had.

    Units before it are short as well, as their data were not taken any more.
    """
    by_value: dict[str, list[StageResult]] = {}
    for result in results:
        if result.skipped is None:
            by_value.setdefault(result.stage.value, []).append(result)
    sums, products, elements = (by_value.get(value, []) for value in ("sums", "products", "elements"))
    if not (sums and products and elements):
        return _stopped_inside(results, engine, offered)
    out = sums[-1]
    last = out.stage
    if not out.is_short and (found := _stopped_inside(results, engine, offered)) is not None:
        return found
    if not out.is_short or last.name in offered:
        refused = f"{last.name}: {out.beats} of {out.expected} beats, and the next is not taken"
        because = refused if last.name in offered else f"{last.name}: all that is handed over is right"
        return Culprit(following(last.unit[-1], engine, because))
    because = f"{last.name}: {out.beats} of {out.expected} beats, all right, and no more comes"
    # MAC cells without kernels multiply nothing.
    if out.finished < min((product.finished for product in products if product.expected), default=0.0):
        return Culprit(Suspect(parts(last.unit), because))
    for product, element in zip(products, elements, strict=False):
        if product.beats < element.beats:
            because = f"{product.stage.name}: {product.beats} beats, after {element.beats} atomic operations"
            return Culprit(Suspect(parts(product.stage.unit), because))
    element = elements[0]
    stage = element.stage
    because = f"{stage.name}: {element.beats} of {element.expected} beats, and no more comes"
    partly = [result.stage for result in results if result.skipped is not None or result.is_bad]
    loading = [before for before in partly if before.kind.is_loaded]
    units = [name for before in loading for name in before.unit]
    if any(before.kind.counts is None for before in loading):
        # CDMA waits where CSC neither frees the buffer nor lets it be flushed.
        units += stage.unit[-1:]
    elif not loading and any(credit.finished < out.finished for credit in by_value.get("credits", [])):
        units += last.unit
    elif not loading:
        # A layer before may have lost credits, which CSC lacks now.
        units += (*stage.unit[-1:], *last.unit)
    return Culprit(Suspect(parts(dict.fromkeys(units)), because))


def _stopped_inside(results: Sequence[StageResult], engine: str, offered: Container[str]) -> Culprit | None:
    """Return the unit of SDP, PDP or CDP that stopped: it takes no more, or hands on no more of what it took."""
    compared = [result for result in results if result.skipped is None and result.expected]
    operands = [result for result in compared if result.stage.value.endswith("-operands")]
    chain = [
        result
        for result in compared
        if result not in operands and (result.stage.kind.is_element or result.stage.kind.is_written)
    ]
    waiting = [number for number, result in enumerate(chain) if result.stage.name in offered]
    first = next((result for result in chain[waiting[-1] + 1 if waiting else 0 :] if result.is_short), None)
    if first is None:
        if not waiting:
            return None
        last = chain[waiting[-1]]
        because = f"{last.stage.name}: {last.beats} of {last.expected} beats, and the next is not taken"
        return Culprit(following(last.stage.unit[-1], engine, because))
    stage = first.stage.value.partition("-")[0]
    for result in operands:
        # A stage takes no element without its operands.
        if result.stage.value.startswith(stage) and result.is_short and result.stage.name not in offered:
            first = result if result.beats <= first.beats else first
    because = f"{first.stage.name}: {first.beats} of {first.expected} beats, all right, and no more comes"
    return Culprit(Suspect(parts(first.stage.unit), because))
