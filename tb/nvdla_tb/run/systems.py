"""The systems that the bench plays: what they need of a launcher that differs."""

from __future__ import annotations

from pathlib import Path

from dlhdl_tb.config import DlhdlConfig, is_dlhdl
from dlhdl_tb.scenario import DlhdlScenario, save
from dlhdl_tb.scenario import read as read_dlhdl
from nvdla_models.config import HwConfig
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import read, write

AnyConfig = HwConfig | DlhdlConfig
AnyScenario = Scenario | DlhdlScenario

_STAND_IN = "the embedded stand-in proves the bench, not the vendor's arithmetic"
_OWN_BOUND = "the bound of single is the bench's own, as none is published"

ENTRY_ENVIRONMENT = {
    # Rewriting asserts costs more than all the rest of the start, and nothing here shows them.
    "COCOTB_REWRITE_ASSERTION_FILES": "",
    # Simulations run side by side; threads of one would only take processors from another.
    "OPENBLAS_NUM_THREADS": "1",
}
"""Variables of simulators that run a test of an entry module."""


def load_config(name_or_path: str) -> AnyConfig:
    """Return the configuration of a device, of whichever system it is.

    Raises:
        InputError: for a name or file that is none.
    """
    return DlhdlConfig.load(name_or_path) if is_dlhdl(name_or_path) else HwConfig.load(name_or_path)


def entry_module(config: AnyConfig) -> str:
    """Return the module of the cocotb tests that the launcher starts."""
    return "dlhdl_tb.sim.entry" if isinstance(config, DlhdlConfig) else "nvdla_tb.sim.entry"


def save_scenario(scenario: AnyScenario, folder: Path) -> None:
    """Write a scenario where the simulator's side of its system reads it."""
    if isinstance(scenario, DlhdlScenario):
        save(scenario, folder)
    else:
        write(scenario, folder)


def read_scenario(folder: Path, config: AnyConfig) -> AnyScenario:
    """Return the scenario that ``save_scenario`` wrote.

    Raises:
        InputError: for a folder that holds none.
    """
    return read_dlhdl(folder, config) if isinstance(config, DlhdlConfig) else read(folder, config)


def note(config: str, rtl: str | None) -> str:
    """Return what a reader of results must know of a device; empty for most.

    Args:
        config: name or file of its configuration.
        rtl: the user's filelist, or None for an embedded device.
    """
    if not is_dlhdl(config):
        return ""
    return "; ".join(text for text in (_STAND_IN if rtl is None else "", _OWN_BOUND) if text)
