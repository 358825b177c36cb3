"""``plan``: the test plan, feature by feature, with the latest results and what is covered."""

from __future__ import annotations

import argparse
import os

from nvdla_models.reading import shown
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import STORE, dut_of, existing_store
from nvdla_tb.cli.dut_options import add_results_option, device_options
from nvdla_tb.cli.run_options import plusarg_option
from nvdla_tb.counting import counted
from nvdla_tb.coverage.model import model_of
from nvdla_tb.coverage.status import Hits, item_status, totals
from nvdla_tb.report.features_table import feature_status, lines, random_endings
from nvdla_tb.report.summary import counts_line
from nvdla_tb.run.dut import about
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.evidence import evidence_of
from nvdla_tb.run.regress.features import FEATURES, load_feature_plan
from nvdla_tb.run.regress.store import Latest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("--level", metavar="LEVEL", help="only what this level plays (default: all)")
    plusarg_option(device_options(parser))
    # How it is played does not matter.
    parser.set_defaults(backend=None, debug=False)
    parser.add_argument(
        "--run", type=numbers.ordinal, metavar="RUN", help="one run, whatever it is of (default: all runs of this DUT)"
    )
    add_results_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    config, heading, latest, hits = _of_dut(args) if args.run is None else _of_run(args)
    print("\n".join(heading))
    plan = load_feature_plan(FEATURES, model_of(config))
    features = plan.up_to(args.level) if args.level else list(plan.features)
    statuses = feature_status(plan, features, latest, hits)
    print("\n".join(lines(statuses)))
    if plan.aimless:
        print(f"HOLE: no feature has {', '.join(plan.aimless)}")
    drawn = random_endings(latest)
    if drawn:
        print(f"random scenarios: {counts_line(drawn)}")
    holes = sum(bool(status.holes) for status in statuses)
    covered = totals(item_status(plan.model, hits))
    named, bins = counted(len(statuses), "feature"), counted(covered.reachable, "bin")
    points, crosses = counted(covered.points, "point"), counted(covered.crosses, "cross", "crosses")
    print(
        f"{named}, {sum(not status.holes for status in statuses)} without holes, {holes} with; "
        f"coverage {covered.percent:.1f} % of {bins} in {points} and {crosses}"
    )
    return 0


_Shown = tuple[str, list[str], Latest, Hits]
"""Configuration, heading, results and coverage."""


def _of_dut(args: argparse.Namespace) -> _Shown:
    """Return what is known of the device that the options select, as it is now."""
    dut = dut_of(args)
    heading = [f"DUT: {about(dut)}"]
    try:
        evidence = evidence_of(dut, args.plusarg)
    except LaunchError as error:
        # What cannot be read has played nothing.
        return dut.config, [*heading, f"no result can be of it: {error}"], {}, {}
    if not os.path.isfile(args.results / STORE):
        return dut.config, heading, {}, {}
    with existing_store(args.results) as store:
        runs = store.runs_with(evidence)
        others = len([run for run in store.runs() if store.device(run) == dut.device]) - len(runs)
        if others > 0:
            what = "of other content, options or simulators, or of another testbench"
            heading.append(f"not shown: {counted(others, 'run')} of {dut.device} {what}")
        return dut.config, heading, store.latest(*runs), store.coverage(*runs)


def _of_run(args: argparse.Namespace) -> _Shown:
    """Return what one run has shown of what it is of."""
    with existing_store(args.results) as store:
        run = store.run(args.run)
        of = run.read_about() or [str(store.device(run))]
        heading = [f"run {run.id}: {shown(line)}" for line in of]
        return store.device(run).config, heading, store.latest(run), store.coverage(run)
