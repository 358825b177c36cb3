"""``describe``: a layout, or a file of memory, in words."""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nvdla_models.limits import MEMORY_BYTES
from nvdla_models.reading import shown
from nvdla_tb.cli.layout_files import MEMORY_SUFFIXES, check_suffix, read_memory
from nvdla_tb.cli.layout_formats import add_layout_options, chosen
from nvdla_tb.counting import counted
from nvdla_tb.stimulus.trace.lines import headers, read_memory_file

_MOST_PLACES, _MOST_HEADERS = 16, 32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="memory .bin, or .dat as in traces; then --format may be left out",
    )
    add_layout_options(parser, "describe")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if args.file is None or args.format is not None:
        print(chosen(args, "describe").describe())
    if args.file is not None:
        print("\n".join(_of_file(args.file)))
    return 0


def _of_file(path: Path) -> Iterator[str]:
    """Yield lines about a file of memory: its size and checksum, its headers, and where its bytes lie."""
    check_suffix(path, MEMORY_SUFFIXES)
    if path.suffix == ".bin":
        data = read_memory(path, MEMORY_BYTES, None).tobytes()
        yield f"{path}: {counted(len(data), 'byte')}, CRC-32 {zlib.crc32(data):#010x}"
        return
    chunks = read_memory_file(path)
    nbytes = sum(len(data) for _, data in chunks)
    crc = 0
    for _, data in chunks:
        crc = zlib.crc32(data, crc)
    yield f"{path}: {counted(nbytes, 'byte')}, CRC-32 {crc:#010x}"
    yield from (f"  {shown(line)}" for line in islice(headers(path), _MOST_HEADERS))
    if len(chunks) > 1 or any(offset for offset, _ in chunks):
        yield from (f"  {offset:#x}: {counted(len(data), 'byte')}" for offset, data in chunks[:_MOST_PLACES])
        if len(chunks) > _MOST_PLACES:
            yield f"  and {counted(len(chunks) - _MOST_PLACES, 'more place')}"
