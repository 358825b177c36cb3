"""Failures played again to see where inside the first hand-over is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

from nvdla_tb.explain.handovers import load_handovers
from nvdla_tb.explain.page import FILE_NAME as PAGE_FILE
from nvdla_tb.explain.units import Unit
from nvdla_tb.run import folders
from nvdla_tb.run.answers import RESULT_FILE
from nvdla_tb.run.compile.runners import HANDOVERS_DIR
from nvdla_tb.run.jobs import Job, Setup, run_job, save_view
from nvdla_tb.run.systems import load_config
from nvdla_tb.stimulus.result import Dut, Result

_MOST_CYCLES = 600_000
"""Longer failures are not played again: watching takes half a minute for as many."""

_FOLDER = "inside"


def is_worth_it(result: Result, handovers: Path | None = None) -> bool:
    """Return whether playing a failure again may say where inside it arises.

    It may where hand-overs inside its engine are named, where the memory interface is suspected, and where no cause is
    known. ``handovers`` is the file that names the hand-overs of its device, None for the one that its kind has.
    """
    explained, path = result.explained, handovers or handovers_of(result.dut)
    if result.after is not None:
        # Alone, it passes.
        return False
    if explained is None or explained.was_watched or path is None or result.verdict.cycles > _MOST_CYCLES:
        return False
    known = any(layer.causes and not layer.symptom for layer in explained.layers)
    unknown = bool(result.verdict.wrong_bytes) and not known
    suspected = any(Unit.MEMORY.value in pointed.units for pointed in explained.units)
    return is_followed(result, path) or ((unknown or suspected) and bool(load_handovers(path).readers))


def is_followed(result: Result, handovers: Path | None = None) -> bool:
    """Return whether hand-overs are named inside the engine of a failure's first wrong layer."""
    wrong, path = result.verdict.wrong_bytes, handovers or handovers_of(result.dut)
    if path is None or not wrong or wrong[0].layer is None:
        return False
    engine = wrong[0].layer.engine
    return any(stage.is_passed_by(engine) and not stage.kind.is_written for stage in load_handovers(path).stages)


def handovers_of(dut: Dut) -> Path | None:
    """Return the file that names the hand-overs inside a device, or None when there is none of its kind."""
    suffix = "_embedded" if dut.rtl is None else ""
    path = HANDOVERS_DIR / f"{load_config(dut.config).name}{suffix}.toml"
    return path if path.is_file() else None


def watched(job: Job, result: Result, setup: Setup, work_dir: Path, handovers: Path | None = None) -> Result:
    """Play a failure again, and return it with what was seen of hand-overs inside.

    The folder of the failure gets the page of this run. Where the RTL lacks what the file of hand-overs names, the
    failure is returned as it is; see ``is_worth_it``.
    """
    again = folders.emptied(work_dir, _FOLDER)
    # The page of this run names the folder that it is moved to.
    watching = replace(job, stages=handovers or handovers_of(setup.dut), kept=job.kept or work_dir)
    seen = run_job(watching, replace(setup, waves=False), again)
    if seen.explained is not None and seen.explained.was_watched and seen.verdict.signature == result.verdict.signature:
        for name in (PAGE_FILE, RESULT_FILE):
            (again / name).replace(work_dir / name)
        result = msgspec.structs.replace(result, explained=seen.explained)
        # With the signals of hand-overs.
        save_view(result, work_dir)
    folders.remove(work_dir, _FOLDER)
    return result
