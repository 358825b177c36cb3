"""Options that print something and exit: versions, and the script of a shell's completion."""

from __future__ import annotations

import argparse
import platform
import shutil
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from nvdla_models.reading import shown
from nvdla_tb import __version__
from nvdla_tb.cli.commands import completion
from nvdla_tb.run.compile.toolchain import tool_versions
from nvdla_tb.run.simulators import DEFAULT_SIMULATOR, SIMULATORS

COMPLETION = "--print-completion"
SHELLS = ("bash", "zsh", "fish")


class Version(argparse.Action):
    """Prints versions: those of the packages and programs that commands of this environment run."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        """Take what ``add_argument`` is given."""
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Print them and exit."""
        programs = {name: text for name, text in tool_versions(DEFAULT_SIMULATOR).items() if name != "cocotb"}
        for name, simulator in SIMULATORS.items():
            if simulator.program is not None and shutil.which(simulator.program):
                programs[name] = tool_versions(name)[name]
        used = {
            "Python": platform.python_version(),
            **{name: version(name) for name in ("cocotb", "numpy")},
            **programs,
        }
        print(f"nvdla-testbench {__version__}")
        print("\n".join(f"{name}: {shown(text)}" for name, text in used.items()))
        parser.exit()


class Completion(argparse.Action):
    """Prints the script with which a shell completes commands."""

    def __init__(self, option_strings: Sequence[str], dest: str, metavar: str, help: str | None = None) -> None:
        """Take what ``add_argument`` is given."""
        suppressed = argparse.SUPPRESS
        super().__init__(option_strings, suppressed, default=suppressed, choices=SHELLS, metavar=metavar, help=help)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Print it and exit."""
        print(completion().script(values))
        parser.exit()
