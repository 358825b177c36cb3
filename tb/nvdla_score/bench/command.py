"""``bench``: measure speed, always against a reference of the same run."""

from __future__ import annotations

import argparse

from nvdla_score.bench import layout, model, regress, sim

KINDS = {"sim": sim, "layout": layout, "model": model, "regress": regress}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the kinds and their options."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for name, module in KINDS.items():
        module.add_arguments(kinds.add_parser(name, help=module.HELP, description=f"{module.HELP}."))


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    code: int = KINDS[args.kind].main(args)
    return code
