"""Files that a failure leaves in its folder: a record, the causes of wrong bytes, and a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np

from nvdla_tb.explain import Explanation, explain_run, record, write_page
from nvdla_tb.explain.cause_units import narrowed, units_of_fit
from nvdla_tb.explain.culprit import Culprit, around_first_bad, culprit
from nvdla_tb.explain.handovers import HandoverFile
from nvdla_tb.explain.interface import SideResult, judge_interface, unpacked
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.page import FILE_NAME
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.stages import StageResult, compare, told
from nvdla_tb.explain.suspect import suspects
from nvdla_tb.explain.tap import AR
from nvdla_tb.explain.text import bad_beats
from nvdla_tb.explain.units import Suspect, Unit, parts
from nvdla_tb.judge.detail import PollExpired
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import Program
from nvdla_tb.sim.answer import Judged
from nvdla_tb.sim.clocking import steps_of
from nvdla_tb.sim.read_back import Misheld
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.explained import Explained, Pointed, WavesView
from nvdla_tb.stimulus.result import Result


@dataclass(frozen=True)
class Inside:
    """What was seen of hand-overs inside the DUT.

    Attributes:
        handovers: What was seen of them, a line each, of each layer that is explained.
        culprit: The unit before the first wrong hand-over of the first layer, if one was found.
        interface: What the memory interface did with reads and writes, where its clients are named.
        misheld: Registers that hold what nobody wrote.
        signals: Of the last right and the first wrong hand-over of the first layer, by its name.
    """

    handovers: Sequence[list[str]] = ()
    culprit: Culprit | None = None
    interface: Sequence[SideResult] = ()
    misheld: Sequence[Misheld] = ()
    signals: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def suspect(self) -> Suspect | None:
        """The first that is at fault, on the way from memory and back to it."""
        if self.misheld:
            first, more = self.misheld[0], len(self.misheld) - 1
            because = f"{first}{f', and {more} more' if more else ''}"
            return Suspect(parts([Unit.CSB.value, first.register.unit]), because)
        sides = [side.suspect for side in self.interface]
        unit = None if self.culprit is None else self.culprit.suspect
        # Of the memory interface its own ports say more.
        at = len(sides) if unit is not None and unit.named == (Unit.MEMORY,) else 1
        return next((suspect for suspect in (*sides[:at], unit, *sides[at:]) if suspect is not None), None)

    @property
    def is_sure(self) -> bool:
        """Whether nothing else is suspected."""
        if self.culprit is not None and self.suspect is self.culprit.suspect:
            return self.culprit.is_sure
        return self.suspect is not None


NOT_WATCHED = Inside()


def explained(folder: Path, bench: Judged, ops: Program, request: Request, result: Result) -> Result:
    """Write record and page of a failed run, and return its result with why its bytes are wrong."""
    seen = Seen.of(bench.scoreboard, [Patch.whole(*place) for place in bench.alterations.places])
    record.save(folder / record.FILE_NAME, seen, bench.config, request.config)
    explanations = explain_run(seen, ops)
    inside = _inside(bench, seen, ops, explanations)
    if inside.culprit is not None and inside.culprit.is_sure and not inside.misheld:
        explanations = [narrowed(explanations[0], inside.culprit.suspect.named), *explanations[1:]]
    result = tell(folder, explanations, result, request, inside)
    assert result.explained is not None
    view = _view(bench, explanations, inside)
    return msgspec.structs.replace(result, explained=msgspec.structs.replace(result.explained, view=view))


def tell(
    folder: Path, explanations: Sequence[Explanation], result: Result, request: Request, inside: Inside = NOT_WATCHED
) -> Result:
    """Write the page of a failed run to its folder, and return its result with why its bytes are wrong.

    That follows from the explanations of its layers, and from what was seen of hand-overs inside.
    """
    # What is not whole waits for others.
    cleared = [Unit.MEMORY] if inside.interface and all(side.wrong is None for side in inside.interface) else []
    pointed = suspects(result.verdict, explanations, cleared)
    known = bool(explanations) and bool(explanations[0].causes) and not explanations[0].causes[0].symptom
    if inside.suspect is not None and (inside.is_sure or not known):
        # A cause says more than the place; that of the first bad hand-over is worth a line all the same.
        pointed = [*(pointed[:1] if known else ()), inside.suspect]
    handovers = inside.handovers or [[]] * len(explanations)
    why = Explained(
        [explanation.told(seen) for explanation, seen in zip(explanations, handovers, strict=True)],
        [Pointed(str(suspect), [unit.value for unit in dict.fromkeys(suspect.named)]) for suspect in pointed],
        [str(side) for side in inside.interface],
        blamed=[] if not explanations else sorted(unit.value for unit in _blamed(explanations[0])),
        cleared=[unit.value for unit in cleared],
        located=inside.is_sure,
    )
    result = msgspec.structs.replace(result, explained=why)
    kept = None if request.kept is None else Path(request.kept)
    write_page(folder / FILE_NAME, result, explanations, about=request.about, kept=kept)
    return result


def _blamed(explanation: Explanation) -> set[Unit]:
    """Return the units whose faults look like the best cause of a layer, or one that predicts the same bytes."""
    started = explanation.evidence.started
    assert started is not None
    return {unit for fit in explanation.equal for unit in units_of_fit(fit, started.engine)}


def _inside(bench: Judged, seen: Seen, ops: Program, explanations: Sequence[Explanation]) -> Inside:
    """Return what was seen of hand-overs of every layer that is explained."""
    if bench.watch is None:
        return NOT_WATCHED
    handovers, tapped = bench.watch.handovers, bench.watch.seen
    clients = handovers.readers or handovers.writers
    interface = judge_interface(handovers.readers, handovers.writers, tapped, cut=bench.cut) if clients else ()
    beats = {name: tap.beats for name, tap in tapped.items()}
    for stage in handovers.stages:
        if stage.packets:
            beats[stage.name] = unpacked(tapped[stage.name], tapped[AR.name].bits[0])
    results = compare(handovers.stages, beats, seen, ops)
    still = stands_still(bench.verdict.findings)
    offered = {name for name, tap in tapped.items() if tap.is_offered} if still else None
    handovers_seen: list[list[str]] = []
    culprits: list[Culprit | None] = []
    for explanation in explanations:
        started = explanation.evidence.started
        assert started is not None
        found = results[started.index]
        handovers_seen.append(told(found))
        culprits.append(culprit(handovers.stages, found, started.engine, offered))
    # Later layers may be wrong because the first is.
    is_first = bool(explanations) and not explanations[0].evidence.inherits
    if is_first and (before := _wrong_before(handovers, explanations[0], seen, results)) is not None:
        handovers_seen[0] = [before.suspect.because, *handovers_seen[0]]
        culprits[0] = before
    first = explanations[0].evidence.started if explanations else None
    around = [] if first is None else around_first_bad(results[first.index])
    return Inside(
        handovers_seen,
        culprits[0] if is_first else None,
        interface,
        bench.watch.misheld,
        {stage.name: bench.watch.signals_of(stage) for stage in around},
    )


def stands_still(findings: Sequence[Finding]) -> bool:
    """Return whether a run ended because something never came: in a hang, or with a poll that expired."""
    return any(finding.check is Check.HANG or isinstance(finding.detail, PollExpired) for finding in findings)


def _wrong_before(
    handovers: HandoverFile, first: Explanation, seen: Seen, results: Mapping[int, list[StageResult]]
) -> Culprit | None:
    """Return the unit of a wrong hand-over of a layer with right bytes, before the first with wrong ones.

    What says where a layer ends may be wrong in one, and harm the next.
    """
    assert first.evidence.started is not None
    for layer in seen.layers:
        started = layer.started
        if started.index >= first.evidence.started.index:
            return None
        wrong = [result for result in results[started.index] if result.wrong is not None and result.skipped is None]
        if wrong and (found := culprit(handovers.stages, wrong, started.engine)) is not None:
            because = f"in layer {started.index} ({started.engine}), whose bytes are right, {found.suspect.because}"
            return replace(found, suspect=replace(found.suspect, because=because))
    return None


def _view(bench: Judged, explanations: Sequence[Explanation], inside: Inside) -> WavesView | None:
    """Return what waves of the run should show, None when no write carried a wrong byte."""
    bad = [explanation for explanation in explanations if explanation.when]
    if not bad:
        return None
    beats = bad[0].evidence.beats
    assert beats is not None
    first, last = beats.cycle[np.flatnonzero(bad_beats(bad[0].evidence))[[0, -1]]].tolist()
    config, is_main = bench.config, beats.ram is Ram.MC
    return WavesView(
        beats.ram,
        data_bits=8 * (config.primary_memif_width_bytes if is_main else config.secondary_memif_width_bytes),
        address_bits=config.memif_address_width_bits,
        first=steps_of(first),
        last=steps_of(last),
        handovers=dict(inside.signals),
    )
