"""The subject of a page in one line: RTL with its revision, configuration, simulator, date, version of the bench."""

from __future__ import annotations

import subprocess
from datetime import datetime
from functools import cache
from pathlib import Path

from tb import __version__
from tb.run.dut import Dut
from tb.run.systems import note

_PATIENCE_SECONDS = 10.0


def about(dut: Dut) -> str:
    """Return the device under test, the time, and what a reader of its results must know."""
    place = "the embedded DUT" if dut.rtl is None else dut.rtl
    revision = None if dut.rtl is None else revision_of(Path(dut.rtl).parent)
    of_rtl = "" if revision is None else f" at revision {revision}"
    date = datetime.now().strftime("%Y-%m-%d %H:%M")
    device = f"{place}{of_rtl}, {dut.top}, {Path(dut.config).stem}, {dut.simulator}"
    return "; ".join(text for text in (device, date, f"testbench {__version__}", note(dut.config, dut.rtl)) if text)


@cache
def revision_of(folder: Path) -> str | None:
    """Return git's description of the work tree that a folder lies in, None when it lies in none.

    A name that ends with ``-dirty`` says that files were changed since.
    """
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--tags"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() or None if ran.returncode == 0 else None
