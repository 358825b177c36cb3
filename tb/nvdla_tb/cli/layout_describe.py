"""``describe``: a layout in words."""

from __future__ import annotations

import argparse

from nvdla_tb.cli.layout_formats import add_layout_options, chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    add_layout_options(parser, "describe")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    print(chosen(args, "describe").describe())
    return 0
