"""``--cycles-against``: an earlier run of the store, or the ``--json`` file of one, that must not have been faster."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from nvdla_tb.cli.dut import existing_store
from nvdla_tb.cli.dut_options import DEFAULT_RESULTS
from nvdla_tb.report import performance


def cycles_before(args: argparse.Namespace) -> Mapping[str, int] | None:
    """Return the cycles of the run that ``--cycles-against`` names, None without it.

    Raises:
        InputError: when the store has no such run, or the file does not hold them.
    """
    named: str | None = args.cycles_against
    if named is None:
        return None
    if not named.isdecimal():
        return performance.read_cycles(Path(named))
    with existing_store(getattr(args, "results", None) or DEFAULT_RESULTS) as store:
        return performance.cycles_of(store.results(store.run(int(named))))


def slower_than_before(
    args: argparse.Namespace, cycles: Mapping[str, int], before: Mapping[str, int] | None
) -> list[str]:
    """Return what takes more cycles than before, a line each; a line, too, when nothing of this run was played then."""
    if before is None:
        return []
    named = f"run {args.cycles_against}" if args.cycles_against.isdecimal() else args.cycles_against
    return performance.slower(cycles, before, args.slower, f"{named} has no scenario or layer of this run")
