"""Explanations of a run from its folder, of whichever system it is."""

from __future__ import annotations

import os
from pathlib import Path

from nvdla_tb.explain import MOST_LAYERS, Explanation, record
from nvdla_tb.explain.record import RecordError
from nvdla_tb.explain.runs import own_config
from nvdla_tb.run.answers import RESULT_FILE, left_in
from nvdla_tb.run.systems import system_of


def explain_folder(folder: Path, config_name: str | None = None, most: int = MOST_LAYERS) -> list[Explanation]:
    """Return explanations of the first layers that left wrong bytes in a failed run.

    Args:
        folder: of the run.
        config_name: name or path of the configuration, None for that of the bundle or the run.
        most: of how many layers.

    Raises:
        RecordError: when the folder holds no record of a failed run.
        InputError: when its scenario or its configuration cannot be read.
    """
    path = folder / record.FILE_NAME
    # Of a name that no file can have these say no, where those of a Path raise.
    is_there, has_result = os.path.lexists(path), os.path.isfile(folder / RESULT_FILE)
    left = left_in(folder) if has_result and not is_there else None
    if left is not None:
        raise RecordError(
            f"{folder} must be of a run that wrote wrong bytes, not of {left.identity} ({left.ending.value})"
        )
    found, own = record.read_record(path), own_config(folder)
    name = config_name or (found.config if own is None else str(own))
    system = system_of(name)
    return system.explain(found, folder / record.SCENARIO_FOLDER, system.load_config(name), most)
