"""``plan``: the test plan, feature by feature, with the latest results and what is covered."""

from __future__ import annotations

import argparse
from pathlib import Path

from models.config import HwConfig
from tb.cli.common import BUILD_ROOT
from tb.cli.regress import STORE
from tb.cli.regress_tasks import FEATURES
from tb.coverage.status import item_status, totals
from tb.regress.features import load_feature_plan
from tb.regress.features_table import RANDOM, feature_status, lines
from tb.regress.record import Ending
from tb.regress.store import Store
from tb.regress.summary import counts_line

HELP = "print the test plan with the latest result and the coverage of each feature"
EXAMPLE = "python -m tb plan --level L1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("--level", metavar="LEVEL", help="only what this level plays (default: all)")
    parser.add_argument("--config", default="nv_small", metavar="NAME", help="configuration (default: nv_small)")
    parser.add_argument("--run", type=int, metavar="RUN", help="coverage of one run (default: of all runs together)")
    parser.add_argument(
        "--results", type=Path, default=BUILD_ROOT / "regress", metavar="DIR",
        help="folder of the store (default: sim_build/regress)",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    plan = load_feature_plan(FEATURES, HwConfig.load(args.config))
    features = plan.up_to(args.level) if args.level else list(plan.features)
    latest: dict[str, dict[Ending, int]] = {}
    hits: dict[str, int] = {}
    if (args.results / STORE).is_file():
        with Store(args.results / STORE) as store:
            latest = store.latest(args.config)
            hits = store.coverage(*(store.runs() if args.run is None else [store.run(args.run)]))
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
