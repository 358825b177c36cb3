"""``offset``: where an element lies, and what lies at an address."""

from __future__ import annotations

import argparse

from nvdla_models.errors import InputError
from nvdla_tb.cli.layout_formats import add_layout_options, chosen
from nvdla_tb.cli.layout_options import integer
from nvdla_tb.cli.layout_subjects import Coordinates, Subject


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--element", metavar="C,H,W", help="coordinates: C,H,W; K,C,R,S; alu,C,H,W; Z,Y,X; X")
    what.add_argument("--address", metavar="ADDRESS", help="address of a byte")
    parser.add_argument("--base", metavar="ADDRESS", help="address of the first byte (default: 0)")
    add_layout_options(parser, "offset")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    subject = chosen(args, "offset")
    base = integer("base", args.base or "0")
    if subject.alignment is not None:
        subject.alignment.check(start_address=base)
    if args.element is not None:
        element = coordinates(subject, args.element)
        offset = subject.offset(element)
        print(f"{subject.name(element)}: {'compressed away' if offset is None else place(offset, base)}")
        return 0
    offset = integer("address", args.address) - base
    last = subject.limits[0] - 1
    if not 0 <= offset <= last:
        raise InputError(f"--address must be {base:#x} to {base + last:#x}, not {base + offset:#x}")
    for name in subject.names_at(offset) or ("no element",):
        print(f"{place(offset, base)}: {name}")
    return 0


def place(offset: int, base: int) -> str:
    """Return offset and address in words."""
    return f"offset {offset:#x}, address {base + offset:#x}"


def coordinates(subject: Subject, text: str) -> Coordinates:
    """Return the coordinates of an element.

    Raises:
        InputError: when their number is wrong, or one is no number.
    """
    words = text.split(",")
    if len(words) != len(subject.axes):
        raise InputError(f"--element must be {','.join(subject.axes)}, not {text}")
    return tuple(
        word if axis == "component" else integer("element", word)
        for axis, word in zip(subject.axes, words, strict=True)
    )
