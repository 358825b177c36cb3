"""``replay``: play a failure bundle again, say why it fails, and whether it fails the same way."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from nvdla_tb.cli import numbers
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut import MODELS
from nvdla_tb.cli.dut_options import add_reports_option, reports_folder
from nvdla_tb.cli.run_options import plusarg_option, waves_option
from nvdla_tb.report import failures
from nvdla_tb.run import folders
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.inside import is_worth_it, watched
from nvdla_tb.run.jobs import Setup, run_job
from nvdla_tb.run.regress import bundle
from nvdla_tb.run.regress.named import Named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="folder that a failure left behind")
    parser.add_argument("--rtl", type=Path, metavar="FILELIST", help="the RTL to build, on this machine")
    plusarg_option(parser)
    waves_option(parser, "write waves", default=False)
    add_reports_option(parser)
    parser.add_argument(
        "--timeout", type=numbers.seconds, default=3600.0, metavar="SECONDS", help="of the simulation (default: 3600)"
    )


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out; the exit code is 0 when the failure is reproduced."""
    found = bundle.load(args.bundle).on(args.rtl)
    job = found.job()
    found.check_named(Named(args.rtl, args.plusarg), args.command_line)
    dut = msgspec.structs.replace(found.dut, coverage=None)
    console = Console()
    built = build(build_spec(dut, waves=args.waves), MODELS, console)
    console.clear()
    work_dir = folders.emptied(reports_folder(args), "replay", folders.folder_name(found.task.key))
    setup = Setup(built, dut, args.timeout, waves=args.waves)
    result = run_job(job, setup, work_dir)
    if is_worth_it(result):
        with console.waiting("looking inside"):
            result = watched(job, result, setup, work_dir)
    print(f"{found.task.key}: {result.ending.value}")
    if text := failures.told([result]):
        print(text)
    print(f"folder: {work_dir}")
    different = bundle.differences(found.result, result)
    print("reproduced" if not different else "not reproduced:\n" + "\n".join(f"  {line}" for line in different))
    return 1 if different else 0
