"""``describe``: a layout in words."""

from __future__ import annotations

import argparse

from nvdla_tb.cli.layout_formats import add_layout_options, chosen

HELP = "say atoms, strides, groups and bytes of a layout"
EXAMPLE = "nvdla-tb describe --format weight --config nv_full --precision fp16 --shape 24,40,3,3"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    add_layout_options(parser, "describe")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    print(chosen(args, "describe").describe())
    return 0
