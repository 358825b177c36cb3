"""``pack``: from a tensor to memory files."""

from __future__ import annotations

import argparse
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_tb.array_files import read_array
from nvdla_tb.cli.layout_files import MEMORY_SUFFIXES, check_suffix, read_png, write_memory
from nvdla_tb.cli.layout_formats import add_layout_options, chosen, surface_files
from nvdla_tb.cli.layout_options import integer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("input", type=Path, metavar="IN", help="tensor .npy, or .png for pixel")
    parser.add_argument("output", type=Path, metavar="OUT", help="memory .bin, or .dat as in traces")
    add_layout_options(parser, "pack")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    subject = chosen(args, "pack")
    files = surface_files(args, args.output)
    for path in files:
        check_suffix(path, MEMORY_SUFFIXES)
    check_suffix(args.input, (".npy", ".png") if subject.pixels else (".npy",))
    if subject.pixels and args.input.suffix == ".png":
        alpha = None if args.alpha is None else integer("alpha", args.alpha)
        tensor = read_png(args.input, subject.pixels, alpha)
    else:
        if args.alpha is not None:
            raise InputError(f"--alpha must only be given for .png, not for {args.input}")
        tensor = read_array(args.input)
    for path, surface in zip(files, subject.pack(tensor), strict=True):
        print(write_memory(path, surface))
    return 0
