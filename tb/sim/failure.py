"""Files that a failed run leaves in its folder: its record, the causes of its wrong bytes, and a page about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tb.explain import Explanation, explain_run, record, write_page
from tb.explain.page import FILE_NAME
from tb.explain.seen import Seen
from tb.explain.stages import first_bad, judge
from tb.explain.waves import View, write_save_files
from tb.judge.text import complaints
from tb.sim.bench import Bench
from tb.sim.clocking import steps_of
from tb.sim.memory_port import MemoryPortMonitor
from tb.stimulus.exchange import Explained, Request
from tb.stimulus.scenario import Scenario


def explained(folder: Path, bench: Bench, scenario: Scenario, request: Request) -> Explained:
    """Write record and page of a failed run, and return why its bytes are wrong.

    Args:
        folder: of the run.
        bench: after the run.
        scenario: scenario that was played.
        request: the launcher's, which names configuration and commands.
    """
    seen = Seen.of(bench.scoreboard)
    record.save(folder / record.FILE_NAME, seen, bench.config, request.config)
    explanations = explain_run(seen, scenario.ops)
    stages = _stages(bench, seen, scenario, explanations)
    _save_view(folder, bench, explanations)
    name = request.test or folder.name
    why = complaints(bench.verdict)
    kept = None if request.kept is None else Path(request.kept)
    rerun, waves = request.rerun, request.rerun_waves
    write_page(folder / FILE_NAME, explanations, name, why, rerun, waves, about=request.about, kept=kept)
    return Explained(
        [line for explanation in explanations for line in explanation.lines()] + stages,
        [[fit.name for fit in explanation.causes] for explanation in explanations],
        [[fit.name for fit in explanation.equal] for explanation in explanations],
        [explanation.headline for explanation in explanations],
        [bool(explanation.causes) and explanation.causes[0].symptom for explanation in explanations],
    )


def _stages(bench: Bench, seen: Seen, scenario: Scenario, explanations: Sequence[Explanation]) -> list[str]:
    """Return the first bad stage of every layer that is explained, when stages were watched."""
    if bench.watch is None:
        return []
    findings = judge(bench.watch.stages, bench.watch.seen, seen, scenario.ops)
    lines = []
    for explanation in explanations:
        started = explanation.evidence.started
        assert started is not None
        lines.append(f"{started.name}: stages")
        lines += [f"  {line}" for line in first_bad(findings[started.index])]
    return lines


def _save_view(folder: Path, bench: Bench, explanations: Sequence[Explanation]) -> None:
    """Write save files that open the waves of the run, if it has any, at the first wrong write."""
    waves = [path for path in sorted(folder.glob("waves.*")) if path.suffix in (".fst", ".vcd")]
    bad = [explanation for explanation in explanations if explanation.when is not None]
    if not waves or not bad:
        return
    beats, when = bad[0].evidence.beats, bad[0].when
    assert beats is not None
    assert when is not None
    monitor = bench.monitors[beats.ram]
    assert isinstance(monitor, MemoryPortMonitor)
    write_save_files(
        View(
            waves[0],
            beats.ram,
            data_bits=len(monitor.bus.wdata),
            address_bits=len(monitor.bus.awaddr),
            first=steps_of(when.first_cycle),
            last=steps_of(when.last_cycle),
        )
    )
