"""The device under test of a run, as plain data, and as a line of a page: RTL with its revision, and the rest."""

from __future__ import annotations

import subprocess
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from nvdla_tb import __version__
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.systems import load_config, system_of


class Device(NamedTuple):
    """The device that results are of, however it was simulated: a configuration, and the user's filelist or None."""

    config: str
    rtl: str | None

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.config} on {self.rtl or 'the embedded DUT'}"


class Dut(msgspec.Struct, frozen=True):
    """The device under test: the options that select it, paths absolute.

    Attributes:
        config: Name or TOML file of the configuration.
        simulator: ``verilator`` or ``icarus``.
        rtl: The user's filelist, or None for the embedded DUT.
        top: The RTL's top module.
        port_map: TOML of port differences, or None.
        debug: Whether all signals are visible.
        backend: ``native`` or ``coroutine``; runs stored before there was a choice had the latter.
        coverage: What is counted of the RTL's code: ``line``, ``toggle``, ``both``, or None.
        evidence: Digest of what its results are evidence of, see ``evidence``; empty when they are of nothing.
    """

    config: str
    simulator: str
    rtl: str | None = None
    top: str = "NV_nvdla"
    port_map: str | None = None
    debug: bool = False
    backend: str = "coroutine"
    coverage: str | None = None
    evidence: str = ""

    @property
    def device(self) -> Device:
        """The device that results are of."""
        return Device(self.config, self.rtl)

    def build_spec(self, *, waves: bool) -> BuildSpec:
        """Return the order for the model.

        Raises:
            InputError: for a configuration or a combination that does not exist.
        """
        return BuildSpec(
            load_config(self.config),
            simulator=self.simulator,
            top=self.top,
            filelist=None if self.rtl is None else Path(self.rtl),
            port_map=None if self.port_map is None else Path(self.port_map),
            debug=self.debug,
            waves=waves,
            backend=self.backend,
            coverage=self.coverage,
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
