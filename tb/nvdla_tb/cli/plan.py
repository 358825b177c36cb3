"""``plan``: the test plan, feature by feature, with the latest results and what is covered."""

from __future__ import annotations

import argparse
import os

from nvdla_models.config import HwConfig
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import (
    DEFAULT_CONFIG,
    STORE,
    add_device_options,
    add_results_option,
    check_device,
    device_of,
    existing_store,
    wanted_device,
)
from nvdla_tb.coverage.status import Hits, item_status, totals
from nvdla_tb.report.features_table import RANDOM, Latest, feature_status, lines
from nvdla_tb.report.summary import counts_line
from nvdla_tb.run.dut import Device
from nvdla_tb.run.regress.features import FEATURES, load_feature_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("--level", metavar="LEVEL", help="only what this level plays (default: all)")
    add_device_options(parser, f"that of --run, else {DEFAULT_CONFIG}")
    parser.add_argument(
        "--run", type=numbers.ordinal, metavar="RUN", help="coverage of one run (default: of all runs together)"
    )
    add_results_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    device, latest, hits = _results(args)
    plan = load_feature_plan(FEATURES, HwConfig.load(device.config))
    features = plan.up_to(args.level) if args.level else list(plan.features)
    statuses = feature_status(plan, features, latest, hits)
    print("\n".join(lines(statuses)))
    if plan.aimless:
        print(f"HOLE: no feature has {', '.join(plan.aimless)}")
    if RANDOM in latest:
        print(f"random scenarios: {counts_line(latest[RANDOM], 0)}")
    holes = sum(bool(status.holes) for status in statuses)
    covered = totals(item_status(plan.model, hits))
    print(
        f"{len(statuses)} features, {sum(not status.holes for status in statuses)} without holes, {holes} with; "
        f"coverage {covered.percent:.1f} % of {covered.reachable} bins in {covered.points} points and "
        f"{covered.crosses} crosses"
    )
    return 0


def _results(args: argparse.Namespace) -> tuple[Device, Latest, Hits]:
    """Return whose results are meant, how its tests ended last, and what is covered."""
    device = wanted_device(args)
    if args.run is None:
        device = device or device_of(DEFAULT_CONFIG, None)
        if not os.path.isfile(args.results / STORE):
            return device, {}, {}
        with existing_store(args.results) as store:
            return device, store.latest(device), store.coverage(*store.runs_of(device))
    with existing_store(args.results) as store:
        run = store.run(args.run)
        device = device or store.device(run)
        check_device(store, run, device)
        return device, store.latest(device), store.coverage(run)
