"""``unreachable``: which toggles of the RTL need not be reached, by synthesis."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_score.instantiated import design_of
from nvdla_score.netlist import synthesise
from nvdla_score.unreachable import Fate, exclusions, fates
from nvdla_score.yosys import read_source
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut_options import BUILD_ROOT, rtl_options
from nvdla_tb.run import folders
from nvdla_tb.run.compile.filelist import parse
from nvdla_tb.run.space import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    about = "file for `regress --code-exclusions` (default: sim_build/unreachable/unreachable.toml)"
    parser.add_argument("--output", type=Path, metavar="TOML", help=about)
    rtl_options(parser, "none, so it must be given")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code.

    Raises:
        InputError: without RTL.
        BuildError: when a tool cannot read the RTL, or Yosys is not installed.
    """
    if args.rtl is None:
        raise InputError("--rtl must name your RTL: the embedded device computes with `real`, which is not synthesised")
    files = parse(args.rtl)
    work = folders.made(BUILD_ROOT, "unreachable")
    with Console().waiting("synthesising, a minute or two"):
        design = design_of(files, args.top, work / "design.log")
        netlist = synthesise(files, {path: read_source(path) for path in design.files}, args.top, work)
    found = fates(netlist, args.top)
    output = args.output or work / "unreachable.toml"
    write_whole(output, "\n".join(exclusions(found)) + "\n")
    counts = Counter(fate for known in found.values() for fate in known.values())
    print(f"{counts.total()} bits of signals in {len(found)} modules")
    for fate in Fate:
        print(f"{counts[fate]:8} {fate.value}")
    print(f"written: {output}")
    return 0
