"""Explanations of a whole run: while it is in memory, or later from its folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.expect import PlayedLayer
from dlhdl_tb.judge import packed_frame
from dlhdl_tb.network import INPUT
from dlhdl_tb.program import WEIGHT_BASE
from dlhdl_tb.scenario import DlhdlScenario
from dlhdl_tb.scenario import read as read_dlhdl
from nvdla_tb.explain import record
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.page import page
from nvdla_tb.explain.seen import Seen, SeenLayer, loaded
from nvdla_tb.explain.text import Explanation, explain
from nvdla_tb.explain.waves import GTKWAVE_SUFFIX, SURFER_SUFFIX
from nvdla_tb.nvdla.program.ops import Op
from nvdla_tb.paths import COMMAND
from nvdla_tb.stimulus.trace import read
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
    return doubting([explain(evidence) for evidence in islice(seen.evidence(list(loaded(ops))), most)])


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
    path: Path,
    explanations: Sequence[Explanation],
    name: str,
    complaints: Sequence[str],
    rerun: str | None,
    with_waves: str | None,
    *,
    about: str = "",
    kept: Path | None = None,
) -> None:
    """Write a page about a failed run.

    Args:
        path: the file, in the folder of the run.
        explanations: explanations of its layers.
        name: identity of the run.
        complaints: why it failed.
        rerun: the command that repeats it, None when it is not known.
        with_waves: the same with waves, None when there is none.
        about: device under test, in one line.
        kept: the folder that the run will lie in when it is not that of the page.
    """
    opened = []
    for suffix, command in ((GTKWAVE_SUFFIX, "gtkwave"), (SURFER_SUFFIX, "surfer --command-file")):
        saved = path.with_name(f"waves{suffix}")
        if saved.is_file():
            opened.append(f"{command} {saved.name}")
    again = (("Run it again", rerun), ("Run it again with waves", with_waves))
    commands = [(what, command) for what, command in again if command is not None]
    if explanations:
        folder = shlex.quote(str(kept or path.parent))
        commands.append(("Explain it on the terminal", f"{COMMAND} explain {folder}"))
    if opened:
        commands.append(("Open the waves at the first wrong write, in this folder", "\n".join(opened)))
    with writing(path):
        path.write_text(page(name, complaints, explanations, commands, about), encoding="utf-8")


def explain_folder(folder: Path, config_name: str | None = None, most: int = MOST_LAYERS) -> list[Explanation]:
    """Return explanations of the first layers that left wrong bytes in a failed run.

    Args:
        folder: of the run.
        config_name: name or path of the configuration, None for that of the bundle or the run.
        most: of how many layers.

    Raises:
        RecordError: when the folder holds no record of a failed run.
        TraceError: when its scenario cannot be read.
    """
    own = own_config(folder)
    seen, config = record.load(folder / record.FILE_NAME, config_name or (None if own is None else str(own)))
    if isinstance(config, DlhdlConfig):
        return explain_dlhdl(seen, read_dlhdl(folder / record.SCENARIO_FOLDER, config), most)
    return explain_run(seen, read(folder / record.SCENARIO_FOLDER, config).ops, most)


def own_config(folder: Path) -> Path | None:
    """Return the configuration that a bundle brings, None when that of its run is a built-in one."""
    own = folder / OWN_CONFIG
    # Path.glob raises for a name that is too long.
    return next(own.glob("*.toml"), None) if os.path.isdir(own) else None


def loaded_weights(scenario: DlhdlScenario) -> list[Patch]:
    """Return what lies in memory before the first frame: the instruction list, weights and biases."""
    program = scenario.program
    parts = zip(program.places, (program.instructions, program.conv_weights, program.fc_weights), strict=True)
    return [Patch(WEIGHT_BASE + place.offset, data, np.ones(len(data), dtype=np.bool_)) for place, data in parts]


def with_frames(seen: Seen, scenario: DlhdlScenario) -> Seen:
    """Return the record with each frame given to the first layer that is played for it."""

    def given(layer: SeenLayer) -> SeenLayer:
        played = layer.started.layer
        if not isinstance(played, PlayedLayer) or played.number:
            return layer
        data = packed_frame(scenario, played.frame)
        address = scenario.program.source_address(INPUT, played.frame)
        return replace(layer, given=(Patch(address, data, np.ones(len(data), dtype=np.bool_)),))

    return replace(seen, layers=tuple(map(given, seen.layers)))


def explain_dlhdl(seen: Seen, scenario: DlhdlScenario, most: int) -> list[Explanation]:
    """Return explanations of the first layers that left wrong bytes.

    Args:
        seen: the run.
        scenario: what was played.
        most: of how many layers.
    """
    found = with_frames(seen, scenario).evidence(loaded_weights(scenario))
    return [explain(evidence) for evidence in islice(found, most)]
