"""The memory that layers of the Deep Learning HDL processor find: weights, and the frame that each is played for."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np

from tb.dlhdl.expect import PlayedLayer
from tb.dlhdl.judge import packed_frame
from tb.dlhdl.network import INPUT
from tb.dlhdl.program import WEIGHT_BASE
from tb.dlhdl.scenario import DlhdlScenario
from tb.explain.memory import Patch
from tb.explain.seen import Seen, SeenLayer
from tb.explain.text import Explanation, explain


def loaded(scenario: DlhdlScenario) -> list[Patch]:
    """Return what lies in memory before the first frame: the instruction list, weights and biases."""
    program = scenario.program
    parts = zip(program.places, (program.instructions, program.conv_weights, program.fc_weights), strict=True)
    return [Patch(WEIGHT_BASE + place.offset, data, np.ones(len(data), dtype=np.bool_)) for place, data in parts]


def frames(scenario: DlhdlScenario, layers: Iterable[SeenLayer]) -> dict[int, Patch]:
    """Return the frames, each by the index of the first layer that is played for it."""
    found = {}
    for layer in layers:
        played = layer.started.layer
        if isinstance(played, PlayedLayer) and played.number == 0:
            data = packed_frame(scenario, played.frame)
            address = scenario.program.source_address(INPUT, played.frame)
            found[layer.started.index] = Patch(address, data, np.ones(len(data), dtype=np.bool_))
    return found


def explain_dlhdl(seen: Seen, scenario: DlhdlScenario, most: int) -> list[Explanation]:
    """Return explanations of the first layers that left wrong bytes.

    Args:
        seen: the run.
        scenario: what was played.
        most: of how many layers.
    """
    found = seen.evidence_in(loaded(scenario), frames(scenario, seen.layers))
    return [explain(evidence) for evidence in islice(found, most)]
