"""``unpack``: from memory files to a tensor."""

from __future__ import annotations

import argparse
from pathlib import Path

from nvdla_models.layout.raw import check_index
from nvdla_tb.cli.layout_files import check_suffix, png_mode, read_memory, write_png, write_tensor
from nvdla_tb.cli.layout_formats import add_layout_options, chosen, surface_files
from nvdla_tb.cli.layout_options import integer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("input", type=Path, metavar="IN", help="memory .bin, or .dat as in traces")
    parser.add_argument("output", type=Path, metavar="OUT", help="tensor .npy, or .png for pixel")
    parser.add_argument(
        "--fill", metavar="BYTE", help="value of bytes that a .dat has no packet for (default: refused)"
    )
    add_layout_options(parser, "unpack")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    subject = chosen(args, "unpack")
    check_suffix(args.output, (".npy", ".png") if subject.pixels else (".npy",))
    to_png = subject.pixels if args.output.suffix == ".png" else None
    if to_png:
        png_mode(to_png)
    fill = None if args.fill is None else integer("fill", args.fill)
    if fill is not None:
        check_index("--fill", fill, 256)
    files = surface_files(args, args.input)
    surfaces = [read_memory(path, limit, fill) for path, limit in zip(files, subject.limits, strict=True)]
    tensor = subject.unpack(surfaces)
    print(write_png(args.output, tensor, to_png) if to_png else write_tensor(args.output, tensor))
    return 0
