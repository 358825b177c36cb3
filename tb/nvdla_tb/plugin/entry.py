"""What every pytest run loads: the options, and the rest of the plugin for a run that wants it.

An environment with the testbench has this module in all its pytest runs, so it imports little besides pytest.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run.simulators import SIMULATORS

if TYPE_CHECKING:
    from nvdla_tb.plugin.dut import PlayedDut

DUT: pytest.StashKey[PlayedDut] = pytest.StashKey()
"""Key under which the run keeps the device under test."""

OF_DEVICE = {
    "rtl": "--rtl",
    "nvdla_config": "--config",
    "nvdla_top": "--top",
    "nvdla_port_map": "--port-map",
    "nvdla_sim": "--sim",
    "nvdla_backend": "--backend",
}
"""Options that select the device, with their names on the command line; each enables the plugin."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; ``add_dut_options`` of the commands says what they mean and what is built in."""
    group = parser.getgroup("nvdla", f"NVDLA testbench (defaults: those of {PROJECT_FILE}, if there is one)")
    group.addoption("--rtl", metavar="FILELIST", help="run plans and cocotb tests on the RTL of this filelist")
    group.addoption(
        "--nvdla", action="store_true", help="run them on the DUT of the project file, or on the built-in stand-in"
    )
    group.addoption("--nvdla-config", metavar="NAME|FILE", help="configuration of the RTL: built-in name or TOML file")
    group.addoption("--nvdla-top", metavar="MODULE", help="top module")
    group.addoption("--nvdla-port-map", metavar="TOML", help="TOML file with port names that differ")
    group.addoption("--nvdla-sim", choices=tuple(SIMULATORS), help="simulator")
    group.addoption(
        "--nvdla-backend",
        choices=("native", "coroutine"),
        help="agents compiled into the model, or in Python (default: native with Verilator)",
    )
    group.addoption(
        "--nvdla-seed",
        action="append",
        type=int,
        metavar="N",
        help="of scenarios (default: the plan's); repeatable",
    )
    group.addoption(
        "--nvdla-timeout",
        type=float,
        default=3600.0,
        metavar="SECONDS",
        help="wall-clock limit of each item (default: 3600)",
    )
    group.addoption(
        "--nvdla-plusarg", action="append", metavar="+NAME[=VALUE]", help="argument for the simulator; may be repeated"
    )
    group.addoption("--nvdla-waves", action="store_true", help="write waves beside every log")


def pytest_configure(config: pytest.Config) -> None:
    """Load the rest for a run with an option that wants it, and for one in a project."""
    start = config.invocation_params.dir
    in_project = any((folder / PROJECT_FILE).is_file() for folder in (start, *start.parents))
    if in_project or any(config.getoption(name) for name in ("nvdla", *OF_DEVICE)):
        config.pluginmanager.import_plugin("nvdla_tb.plugin.collect")


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> str | None:
    """Name the missing option in a run that collects nothing of modules that use the testbench."""
    if items or DUT in config.stash or "nvdla_tb.api" not in sys.modules:
        return None
    return f"nvdla_tb: tests need a DUT: give --rtl FILELIST, or --nvdla for the built-in one, or add {PROJECT_FILE}"


@pytest.fixture(scope="session")
def nvdla_dut(pytestconfig: pytest.Config) -> PlayedDut:
    """Return the device under test, built when it is first used; see ``nvdla_tb.plugin.dut.PlayedDut``."""
    if DUT not in pytestconfig.stash:
        pytest.fail(f"nvdla_dut needs one of the options --rtl and --nvdla, or {PROJECT_FILE}", pytrace=False)
    return pytestconfig.stash[DUT]
