"""``configs``: the built-in configurations, and in what they differ."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import fields

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.precision import Precision
from nvdla_tb.counting import counted

_LONG = ("image_formats_packed", "image_formats_semi_planar", "register_bits", "register_resets")
"""Long lists, of which only the lengths are compared."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("name", nargs="?", metavar="NAME|FILE", help="print all parameters of this one")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code."""
    if args.name is not None:
        config = HwConfig.load(args.name)
        for field in fields(config):
            print(f"{field.name} = {_text(getattr(config, field.name))}")
        return 0
    first = HwConfig.load("nv_small")
    print(f"{first.name}: {_head(first)}")
    for name in builtin_names():
        if name != first.name:
            config = HwConfig.load(name)
            print(f"{name}: {_head(config)}")
            for line in _differences(first, config):
                print(f"  {line}")
    return 0


def _head(config: HwConfig) -> str:
    """Return what a configuration is known by."""
    kinds = ", ".join(kind.name for kind in config.feature_data_types)
    kib = config.cbuf_bank_number * config.cbuf_bank_width_bytes * config.cbuf_bank_depth // 1024
    return f"{kinds}; {config.mac_atomic_c_size * config.mac_atomic_k_size} multipliers; buffer of {kib} KiB"


def _differences(first: HwConfig, other: HwConfig) -> Iterator[str]:
    """Yield what differs from another configuration, a line for each parameter."""
    for field in fields(first):
        ours, theirs = getattr(first, field.name), getattr(other, field.name)
        if field.name == "name" or ours == theirs:
            continue
        if field.name in _LONG:
            yield f"{field.name}: {counted(len(theirs), 'entry', 'entries')}, not {len(ours)}"
        else:
            yield f"{field.name}: {_text(theirs)}, not {_text(ours)}"


def _text(value: object) -> str:
    """Return a parameter as its file spells it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(entry.name if isinstance(entry, Precision) else str(entry) for entry in value) or "none"
    return str(value)
