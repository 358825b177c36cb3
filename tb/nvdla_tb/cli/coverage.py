"""``coverage``: what the runs of a store have covered together, and what they have not."""

from __future__ import annotations

import argparse

from nvdla_models.errors import InputError
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import check_device, existing_store, wanted_device
from nvdla_tb.cli.dut_options import add_device_options, add_results_option
from nvdla_tb.cli.run_options import output_file
from nvdla_tb.coverage.model import model_of
from nvdla_tb.coverage.status import text
from nvdla_tb.report.page_coverage import coverage_page
from nvdla_tb.run.regress.store import Run, Store
from nvdla_tb.run.space import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "runs", nargs="*", type=numbers.ordinal, metavar="RUN", help="run numbers (default: the newest)"
    )
    parser.add_argument(
        "--all", action="store_true", help="every run of the same configuration, RTL, options and testbench"
    )
    add_device_options(parser, "that of the run")
    parser.add_argument("--excluded", action="store_true", help="print what cannot be reached, with reasons")
    parser.add_argument("--html", type=output_file, metavar="FILE", help="also write a page to this file")
    add_results_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    with existing_store(args.results) as store:
        runs = _chosen(store, args)
        device = store.device(runs[0])
        hits = store.coverage(*runs)
    model = model_of(device.config)
    rtl = f" on {device.rtl}" if device.rtl else ""
    title = f"Coverage of {model.config.name}{rtl} in {', '.join(f'run {run.id}' for run in runs)}"
    print(f"{title}\n{text(model, hits, excluded=args.excluded)}")
    if args.html:
        write_whole(args.html, coverage_page(title, model, hits))
        print(f"page: {args.html}")
    return 0


def _chosen(store: Store, args: argparse.Namespace) -> list[Run]:
    """Return the runs that the options name, all of one device.

    Raises:
        InputError: for runs of several devices, of another one than was asked for, or none at all.
    """
    if args.all and args.runs:
        raise InputError(f"--all must not come with numbers of runs, here {', '.join(map(str, args.runs))}")
    named = [store.run(number) for number in args.runs]
    device = wanted_device(args) or store.device(named[0] if named else store.run())
    for run in named:
        check_device(store, run, device)
        if store.evidence(run) != store.evidence(named[0]):
            why = f"{device}, its options or the testbench was another then"
            raise InputError(f"run {run.id} cannot be merged with run {named[0].id}: {why}")
    if named:
        return named
    runs = store.runs_of(device)
    if not runs:
        raise InputError(f"{args.results} holds no run of {device}")
    return store.runs_with(store.evidence(runs[-1])) or runs[-1:] if args.all else runs[-1:]
