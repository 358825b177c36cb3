"""``trace``: play traces of the public format."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from models.config import HwConfig
from models.errors import InputError
from tb.cli import trace_model
from tb.cli.dut import add_dut_options, build_dut, dut_arguments
from tb.cli.playing import add_run_options, check_run_options, play_and_report
from tb.dlhdl import deployment
from tb.places import COMMAND
from tb.run.task import trace_jobs
from tb.stimulus.trace import find_traces

HELP = "play traces of the public format and judge every byte and CRC"
EXAMPLE = "python -m tb trace traces/sdp_* --rtl my_filelist.f"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="trace folder, .cfg, measured .npz, or folder of them"
    )
    parser.add_argument(
        "--model-only", action="store_true", help="no simulator: compare golden results with the reference model"
    )
    add_dut_options(parser)
    add_run_options(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    deployment.refuse(args.paths)
    if args.model_only:
        return trace_model.main(args)
    config = HwConfig.load(args.config)
    options, paths = dut_arguments(args), find_traces(args.paths)
    jobs = trace_jobs(paths, config, [f"{COMMAND} trace {shlex.quote(str(path))} {options}" for path in paths])
    check_different([job.identity for job in jobs], paths)
    check_run_options(args)
    built = build_dut(args, config, waves=args.waves)
    return play_and_report(args, jobs, built, "trace")


def check_different(names: Sequence[str], paths: Sequence[Path]) -> None:
    """Check that traces can be told apart by their names, which their results and folders have.

    Raises:
        InputError: for two of one name.
    """
    found: dict[str, Path] = {}
    for name, path in zip(names, paths, strict=True):
        if name in found:
            raise InputError(f"traces must have different names, not both {name}: {found[name]} and {path}")
        found[name] = path
