"""Explanations of a whole run, and its page."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from nvdla_tb.explain.loads import with_loads
from nvdla_tb.explain.page import page
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.text import Explanation, explain
from nvdla_tb.explain.waves import GTKWAVE_SUFFIX, SURFER_SUFFIX
from nvdla_tb.judge.text import complaints
from nvdla_tb.nvdla.program.ops import Op
from nvdla_tb.paths import COMMAND
from nvdla_tb.stimulus.result import Result
from nvdla_tb.writing import writing

MOST_LAYERS = 3
"""Layers of a run that are explained unless more are asked for: what follows is mostly of the same cause."""

OWN_CONFIG = "config"
"""Name of the folder with the configuration that the bundle of a failure brings: the file keeps the name it had."""


def explain_run(seen: Seen, ops: Iterable[Op], most: int = MOST_LAYERS) -> list[Explanation]:
    """Return explanations of the first layers that left wrong bytes.

    Args:
        seen: the run.
        ops: operations that were played.
        most: of how many layers.
    """
    seen, initial = with_loads(seen, ops)
    return doubting([explain(evidence) for evidence in islice(seen.evidence(initial), most)])


def doubting(explanations: Sequence[Explanation]) -> list[Explanation]:
    """Return explanations of one run, in which no two faults at once are the cause of one layer alone.

    What two faults explain, a third one may explain as well: another wrong layer of the engine must have one of them.
    """
    return [
        replace(one, diagnosis=replace(one.diagnosis, doubted=True))
        if any(_speaks_against(other, one) for other in explanations)
        else one
        for one in explanations
    ]


def _speaks_against(other: Explanation, one: Explanation) -> bool:
    pair, found = one.diagnosis.probable, other.diagnosis.probable
    if other is one or pair is None or len(pair.causes) < 2 or other.evidence.inherits:
        return False
    started = [explanation.evidence.started for explanation in (one, other)]
    if any(layer is None for layer in started) or len({layer.engine for layer in started if layer is not None}) > 1:
        return False
    names = set() if found is None else {cause.name for cause in found.causes}
    return names.isdisjoint(cause.name for cause in pair.causes)


def write_page(
    path: Path, result: Result, explanations: Sequence[Explanation] = (), *, about: str = "", kept: Path | None = None
) -> None:
    """Write a page about a failed run.

    Args:
        path: the file, in the folder of the run.
        result: how it ended.
        explanations: explanations of its layers.
        about: device under test, in one line.
        kept: the folder that the run will lie in when it is not that of the page.
    """
    opened = []
    for suffix, command in ((GTKWAVE_SUFFIX, "gtkwave"), (SURFER_SUFFIX, "surfer --command-file")):
        saved = path.with_name(f"waves{suffix}")
        if saved.is_file():
            opened.append(f"{command} {saved.name}")
    again = (("Run it again", result.rerun), ("Run it again with waves", result.rerun_waves))
    commands = [(what, command) for what, command in again if command]
    if explanations:
        folder = shlex.quote(str(kept or path.parent))
        commands.append(("Explain it on the terminal", f"{COMMAND} explain {folder}"))
    if opened:
        commands.append(("Open the waves at the first wrong write, in this folder", "\n".join(opened)))
    found = complaints(result.verdict)
    with writing(path):
        text = page(
            result.identity, explanations, complaints=found, why=result.explained, commands=commands, about=about
        )
        path.write_text(text, encoding="utf-8")


def own_config(folder: Path) -> Path | None:
    """Return the configuration that a bundle brings, None when that of its run is a built-in one."""
    own = folder / OWN_CONFIG
    # Path.glob raises for a name that is too long.
    return next(own.glob("*.toml"), None) if os.path.isdir(own) else None
