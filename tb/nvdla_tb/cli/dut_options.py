"""The options that select a device under test; and those of readers of a store of results."""

from __future__ import annotations

import argparse
from pathlib import Path

from nvdla_tb.paths import PROJECT_FILE
from nvdla_tb.run import folders, project
from nvdla_tb.run.choices import BACKENDS, BUILDS
from nvdla_tb.run.simulators import DEFAULT_SIMULATOR, SIMULATORS

BUILD_ROOT = folders.RESULTS
DEFAULT_CONFIG = "nv_small"
DEFAULT_TOP = "NV_nvdla"
DEFAULT_RESULTS = BUILD_ROOT / "regress"


def add_dut_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which RTL to build and how."""
    group = device_options(parser)
    group.add_argument(
        "--backend",
        choices=BACKENDS,
        help="agents compiled into the model, or in Python (default: native with Verilator, coroutine with others)",
    )
    group.add_argument(
        "--debug", action="store_true", help="make all signals visible to tests (slower; default: top ports)"
    )
    build_option(group)


def device_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options that say which RTL it is, and in which simulator, in a group, and return it."""
    own = project.current()
    config, sim = own.config or DEFAULT_CONFIG, own.sim or DEFAULT_SIMULATOR
    group = parser.add_argument_group("device under test", f"defaults: those of {PROJECT_FILE}, if there is one")
    group.add_argument("--config", default=config, metavar="NAME|FILE", help=f"configuration (default: {config})")
    group.add_argument("--sim", default=sim, choices=tuple(SIMULATORS), help=f"simulator (default: {sim})")
    rtl_options(group, "the embedded DUT")
    group.add_argument(
        "--port-map", type=Path, default=own.port_map, metavar="TOML", help="TOML file with port names that differ"
    )
    return group


def rtl_options(group: argparse._ActionsContainer, otherwise: str) -> None:
    """Add the options that say which RTL it is; ``otherwise`` is what is taken without a filelist."""
    own = project.current()
    top = own.top or DEFAULT_TOP
    about = f"filelist of your RTL (default: {own.rtl or otherwise})"
    group.add_argument("--rtl", type=Path, default=own.rtl, metavar="FILELIST", help=about.replace("%", "%%"))
    group.add_argument("--top", default=top, metavar="MODULE", help=f"top module (default: {top})")


def build_option(group: argparse._ActionsContainer) -> None:
    """Add the option that says how the model is compiled."""
    group.add_argument(
        "--build",
        choices=BUILDS,
        help="quick to compile, or optimised for this processor by a profile, which plays up to twice as fast "
        "(default: optimised as soon as it was built)",
    )


def add_device_options(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the options that say whose results are meant; ``default`` says whose when neither is given."""
    parser.add_argument("--config", metavar="NAME|FILE", help=f"configuration of the results (default: {default})")
    parser.add_argument(
        "--rtl", type=Path, metavar="FILELIST", help="your RTL that they are of (default: the embedded DUT)"
    )


def add_results_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the store is."""
    parser.add_argument(
        "--results",
        type=Path,
        default=DEFAULT_RESULTS,
        metavar="DIR",
        help=f"folder of the store and of the artifacts of failures (default: {DEFAULT_RESULTS})",
    )


_REPORTS = "runs"


def add_reports_option(parser: argparse._ActionsContainer) -> None:
    """Add the option that says where reports, logs and the store of a command go that plays here and now."""
    usual = f"{BUILD_ROOT / _REPORTS}, and the store in {DEFAULT_RESULTS}"
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help=f"folder of reports, logs and the store (default: {usual})"
    )


def reports_folder(args: argparse.Namespace) -> Path:
    """Return the folder of the reports of commands that play here and now."""
    return getattr(args, "results", None) or BUILD_ROOT / _REPORTS
