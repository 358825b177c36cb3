"""The device under test of a run, as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from tb.run.compile.spec import BuildSpec
from tb.run.systems import load_config


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
    """

    config: str
    simulator: str
    rtl: str | None = None
    top: str = "NV_nvdla"
    port_map: str | None = None
    debug: bool = False
    backend: str = "coroutine"
    coverage: str | None = None

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
