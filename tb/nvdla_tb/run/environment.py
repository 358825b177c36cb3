"""What results depend on besides the device, as lines of a report: machine, tools and variables."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib.metadata import version

from nvdla_tb.counting import counted
from nvdla_tb.run.compile.toolchain import tool_versions
from nvdla_tb.run.errors import ToolError

_VARIABLES = ("NVDLA_", "COCOTB_", "VERILATOR_")
"""How the names of variables begin that decide what is played, or how."""


def environment_of(simulators: frozenset[str]) -> list[str]:
    """Return the environment of this process, a line each; the simulators are those of what is played."""
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)}
    return [f"folder: {os.getcwd()}", *_tools(simulators), *(f"{name}={value}" for name, value in found.items())]


@cache
def _tools(simulators: frozenset[str]) -> tuple[str, ...]:
    """Return machine and versions, which are the same as long as the process lives."""
    versions = {"Python": platform.python_version(), "numpy": version("numpy")}
    for simulator in sorted(simulators):
        try:
            versions |= tool_versions(simulator)
        except ToolError as error:
            versions[simulator] = str(error)
    machine = f"machine: {platform.platform()}, {counted(os.cpu_count() or 1, 'processor')}"
    return (machine, *(f"{name}: {text}" for name, text in versions.items()))
