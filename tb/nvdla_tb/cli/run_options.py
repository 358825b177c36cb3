"""The options of commands that play scenarios."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from nvdla_models.limits import NAME_BYTES
from nvdla_models.reading import shown
from nvdla_tb.cli import numbers

_EXPLAIN_SECONDS = 300.0


def play_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of everything that plays, in a group, and return it."""
    group = parser.add_argument_group("running")
    group.add_argument(
        "--jobs", type=numbers.parallel, default=os.cpu_count() or 1, metavar="N", help="simulations in parallel"
    )
    group.add_argument(
        "--timeout",
        type=numbers.seconds,
        default=3600.0,
        metavar="SECONDS",
        help="wall-clock limit of one simulation (default: 3600)",
    )
    return group


def scenario_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options of commands that play the user's scenarios, and return their group."""
    group = play_options(parser)
    loud = group.add_mutually_exclusive_group()
    loud.add_argument("-v", "--verbose", action="store_true", help="print a line for each test, and the complete table")
    loud.add_argument("-q", "--quiet", action="store_true", help="print only failures and the last line")
    group.add_argument(
        "--isolate",
        action="store_true",
        help="one simulator process for every scenario (default: with the native back end they share one per job)",
    )
    group.add_argument(
        "--explain",
        type=numbers.budget,
        default=_EXPLAIN_SECONDS,
        metavar="SECONDS",
        help="time for playing failures again, for causes inside and waves, after the counts are printed "
        f"(default: {_EXPLAIN_SECONDS:g}; 0: none)",
    )
    plusarg_option(group)
    return group


def plusarg_option(group: argparse._ActionsContainer) -> None:
    """Add the option that names arguments of the simulator."""
    group.add_argument(
        "--plusarg",
        action="append",
        default=[],
        type=_plusarg,
        metavar="+NAME[=VALUE]",
        help="argument for the simulator; may be repeated",
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that play scenarios here and now."""
    group = scenario_options(parser)
    exact_option(group)
    group.add_argument("--stop-at-first", action="store_true", help="end a scenario soon after its first wrong byte")
    waves_option(group, "write waves next to each log", default=False)
    group.add_argument("--waves-from", metavar="cycle:N|layer:N", help="start of the waves (default: cycle:0)")
    group.add_argument(
        "--stages",
        type=Path,
        metavar="TOML",
        help="name the first wrong hand-over inside the device; with Verilator its signals must be visible "
        "(by a control file of the filelist, or --debug)",
    )
    group.add_argument(
        "--dump",
        type=Path,
        metavar="FOLDER",
        help="write what memory holds at each comparison of a golden result, and at the end, as .dat files",
    )
    group.add_argument("--json", type=output_file, metavar="FILE", help="also write the results to this file")
    group.add_argument("--performance", action="store_true", help="cycles, bounds and traffic of every layer")
    cycles_options(group)


def exact_option(group: argparse._ActionsContainer) -> None:
    """Add the option that compares FP16 results bit by bit."""
    group.add_argument("--exact", action="store_true", help="compare FP16 bit by bit, not by the published thresholds")


def waves_option(group: argparse._ActionsContainer, about: str, *, default: bool) -> None:
    """Add ``--waves`` and ``--no-waves``."""
    usual = "--waves" if default else "--no-waves"
    action = argparse.BooleanOptionalAction
    group.add_argument("--waves", action=action, default=default, help=f"{about} (default: {usual})")


def cycles_options(group: argparse._ActionsContainer) -> None:
    """Add the option that names an earlier run, and the one that says how much slower this one may be."""
    group.add_argument(
        "--cycles-against",
        metavar="RUN|FILE",
        help="fail when a layer or scenario takes more cycles than in this earlier run: its number, or its --json file",
    )
    slower_option(group)


def slower_option(group: argparse._ActionsContainer) -> None:
    """Add the option that says how much slower something may become."""
    group.add_argument(
        "--slower", type=numbers.increase, default=5.0, metavar="PERCENT", help="allowed increase (default: 5)"
    )


def _plusarg(text: str) -> str:
    if not text.startswith("+"):
        raise argparse.ArgumentTypeError(f"must begin with +, not be {shown(text)}")
    return text


def output_file(text: str) -> Path:
    """Return the file that an option names for results, which must not be lost for want of a folder.

    Raises:
        ArgumentTypeError: when its folder does not exist, or it is one.
    """
    path = Path(text)
    if os.path.isdir(path) or not os.path.isdir(path.parent) or len(os.fsencode(path.name)) > NAME_BYTES:
        raise argparse.ArgumentTypeError(f"must be a file in a folder that exists, not {shown(text)}")
    return path
