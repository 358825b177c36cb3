"""Explanations of a whole run of a core: while it is in memory, or later from its record."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from dlhdl_tb.expect import PlayedLayer, started_layer
from dlhdl_tb.explain.causes import CAUSES
from dlhdl_tb.judge import packed_frame
from dlhdl_tb.network import INPUT
from dlhdl_tb.program import WEIGHT_BASE, Program
from dlhdl_tb.scenario import DlhdlScenario
from nvdla_tb.explain import Explanation, explain
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.record import LayerFacts, Record, RecordError
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.writers import SeenLayer
from nvdla_tb.judge.layer_id import Started


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
    return [explain(evidence, CAUSES) for evidence in islice(found, most)]


def seen_in(record: Record, scenario: DlhdlScenario) -> Seen:
    """Return the run that a record is of.

    Raises:
        RecordError: when it is not one of the scenario.
    """
    return record.seen([_started(entry, scenario.program, str(record.path)) for entry in record.layers])


def _started(entry: LayerFacts, program: Program, where: str) -> Started[PlayedLayer]:
    if entry.number is None or entry.frame is None or entry.number >= len(program.network.layers):
        raise RecordError(f"{where}: layer {entry.index}: number and frame must be those of a layer of the scenario")
    return started_layer(PlayedLayer(program, entry.number, entry.frame), entry.index)
