"""What a failed run leaves in its folder: what was seen, why its bytes are wrong, and a page about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from models.config import HwConfig
from tb.explain import explain_run, record, write_page
from tb.explain.page import FILE_NAME
from tb.explain.seen import Seen
from tb.scenario import Scenario
from tb.scoreboard import Scoreboard


def explained(folder: Path, scoreboard: Scoreboard, scenario: Scenario, config: HwConfig) -> dict[str, Any]:
    """Write record and page of a failed run, and return what its result gets besides.

    ``NVDLA_CONFIG`` names the configuration, ``NVDLA_RERUN`` may hold the command that repeats the run.

    Args:
        folder: of the run.
        scoreboard: after the run.
        scenario: what was played.
        config: of the bench.

    Returns:
        The explanation as lines, and the names of the probable causes of each layer, best first.
    """
    seen = Seen.of(scoreboard)
    record.save(folder / record.FILE_NAME, seen, config, os.environ["NVDLA_CONFIG"])
    explanations = explain_run(seen, scenario.ops)
    complaints, rerun = scoreboard.verdict.complaints(), os.environ.get("NVDLA_RERUN")
    write_page(folder / FILE_NAME, explanations, folder.name, complaints, rerun)
    return {
        "explanation": [line for explanation in explanations for line in explanation.lines()],
        "rerun": rerun,
        "causes": [[fit.name for fit in explanation.causes] for explanation in explanations],
    }
