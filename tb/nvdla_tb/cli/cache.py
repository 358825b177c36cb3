"""``cache``: look at the built models, and remove some."""

from __future__ import annotations

import argparse
import os
import time
from datetime import datetime

from nvdla_models.reading import shown
from nvdla_tb.cli import numbers
from nvdla_tb.cli.dut import MODELS
from nvdla_tb.counting import counted
from nvdla_tb.report.summary import aligned
from nvdla_tb.run import cache

_DAY = 24 * 3600.0
_COLUMNS: tuple[str, ...] = ("model", "configuration", "RTL", "simulator", "built", "days since use", "GB", "state")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--clean", type=numbers.count, metavar="DAYS", help="remove models that have not been used for so many days"
    )
    which.add_argument("--all", action="store_true", help="remove all models")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code: 1 when a model stays that had to go."""
    held = cache.models(MODELS)
    if args.clean is None and not args.all:
        _list(held)
        return 0
    oldest = time.time() - (args.clean or 0) * _DAY
    going = [model for model in held if args.all or model.used < oldest]
    gone = [model for model in going if cache.remove(MODELS, model)]
    print(f"{len(gone)} of {counted(len(held), 'model')} removed, {_gigabytes(sum(model.nbytes for model in gone))} GB")
    busy = [model.name for model in going if model not in gone]
    if busy:
        print(f"being built, so they stay: {', '.join(busy)}")
    return int(bool(busy))


def _list(held: list[cache.Model]) -> None:
    rows = [_COLUMNS]
    for model in held:
        days = f"{max(0.0, time.time() - model.used) / _DAY:.1f}"
        built = datetime.fromtimestamp(model.begun).strftime("%Y-%m-%d %H:%M")
        about = model.about
        # Models of earlier testbenches do not say it.
        of = ("?", "?", "?") if about is None else (about.config, about.rtl or "embedded", ", ".join(about.kind))
        state = "ready" if model.complete else "incomplete"
        rows.append((model.name, *map(shown, of), built, days, _gigabytes(model.nbytes), state))
    print(aligned(rows, left=5))
    size = _gigabytes(sum(model.nbytes for model in held))
    print(f"{size} of {_gigabytes(cache.limit_bytes(os.environ))} GB in {MODELS} ({cache.FOLDER}, {cache.LIMIT})")


def _gigabytes(nbytes: float) -> str:
    return f"{nbytes / 1e9:.2f}"
