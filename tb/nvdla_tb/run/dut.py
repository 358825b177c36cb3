"""The device under test of a run: the order for its model, and a line of a page with RTL, revision, and the rest."""

from __future__ import annotations

import subprocess
from datetime import datetime
from functools import cache
from pathlib import Path

from nvdla_tb import __version__
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.systems import load_config, system_of
from nvdla_tb.stimulus.result import Dut


def build_spec(dut: Dut, *, waves: bool) -> BuildSpec:
    """Return the order for the model of a device.

    Raises:
        InputError: for a configuration or a combination that does not exist.
    """
    return BuildSpec(
        load_config(dut.config),
        simulator=dut.simulator,
        top=dut.top,
        filelist=None if dut.rtl is None else Path(dut.rtl),
        port_map=None if dut.port_map is None else Path(dut.port_map),
        debug=dut.debug,
        waves=waves,
        backend=dut.backend,
        coverage=dut.coverage,
    )


_PATIENCE_SECONDS = 10.0
_DIGITS = 12
"""Of a commit's name, as git shows them in large repositories."""


def about(dut: Dut) -> str:
    """Return the device under test, the time, and what a reader of its results must know."""
    place = "the embedded DUT" if dut.rtl is None else dut.rtl
    revision = None if dut.rtl is None else revision_of(Path(dut.rtl).parent)
    of_rtl = "" if revision is None else f" in a work tree of commit {revision}"
    date = datetime.now().strftime("%Y-%m-%d %H:%M")
    device = f"{place}{of_rtl}, {dut.top}, {Path(dut.config).stem}, {dut.simulator}"
    return "; ".join(
        text for text in (device, date, f"testbench {__version__}", system_of(dut.config).note(dut.rtl)) if text
    )


@cache
def revision_of(folder: Path) -> str | None:
    """Return the commit that is checked out in the work tree that a folder lies in, None when it lies in none.

    Nothing is said of files that were changed since: to compare them, git would run programs that the repository names,
    such as ``core.fsmonitor`` and filters, and RTL comes from strangers.
    """
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip()[:_DIGITS] or None if ran.returncode == 0 else None
