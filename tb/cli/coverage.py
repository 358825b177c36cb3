"""``coverage``: what the runs of a store have covered together, and what they have not."""

from __future__ import annotations

import argparse
from pathlib import Path

from models.config import HwConfig
from tb.cli.common import BUILD_ROOT
from tb.cli.regress import STORE
from tb.cli.regress_play import COVERAGE_DIR
from tb.coverage.model import load_model
from tb.coverage.status import text
from tb.regress.markup import document
from tb.regress.page_coverage import coverage_sections
from tb.regress.store import Store

HELP = "functional coverage of regressions, merged over runs, with holes and exclusions"
EXAMPLE = "python -m tb coverage 3 4 --html coverage.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("runs", nargs="*", type=int, metavar="RUN", help="numbers of runs (default: the newest)")
    parser.add_argument("--all", action="store_true", help="every run of the store")
    parser.add_argument("--config", default="nv_small", metavar="NAME|FILE", help="configuration (default: nv_small)")
    parser.add_argument("--excluded", action="store_true", help="print what cannot be reached, with reasons")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page there, too")
    parser.add_argument(
        "--results", type=Path, default=BUILD_ROOT / "regress", metavar="DIR",
        help="folder of the store (default: sim_build/regress)",
    )  # fmt: skip


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    model = load_model(COVERAGE_DIR, HwConfig.load(args.config))
    with Store(args.results / STORE) as store:
        runs = store.runs() if args.all else [store.run(number) for number in args.runs or (None,)]
        hits = store.coverage(*runs)
    title = f"Coverage of {model.config.name} in {', '.join(f'run {run.id}' for run in runs)}"
    print(f"{title}\n{text(model, hits, excluded=args.excluded)}")
    if args.html:
        args.html.write_text(document(title, [f"<h1>{title}</h1>", *coverage_sections(model, hits)]), encoding="utf-8")
        print(f"page: {args.html}")
    return 0
