"""``explain``: from wrong bytes to where, when and why."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.layout import FeatureLayout
from nvdla_models.limits import MEMORY_BYTES
from nvdla_tb.cli.layout_files import read_memory
from nvdla_tb.cli.layout_formats import add_layout_options, chosen
from nvdla_tb.cli.layout_options import OPTIONS, integer
from nvdla_tb.explain import MOST_LAYERS, Explanation, explain, from_dumps, write_page
from nvdla_tb.explain.page import page
from nvdla_tb.explain.traits import element_leads
from nvdla_tb.run.answers import left_in
from nvdla_tb.run.explained import explain_folder
from nvdla_tb.run.space import write_whole

_DUMPS = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    about = "folder of a failed run; or two memory dumps, .bin or .dat: what memory should hold, and what it holds"
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help=about)
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page about it")
    parser.add_argument("--layers", metavar="N", help=f"explain so many layers of a run (default: {MOST_LAYERS})")
    dumps = parser.add_argument_group("memory dumps")
    dumps.add_argument("--base", metavar="ADDRESS", help="address of the first byte (default: 0)")
    dumps.add_argument("--fill", metavar="BYTE", help="bytes that a .dat has no packet for (default: refused)")
    add_layout_options(parser, "explain")


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code: 1 when something is wrong.

    Raises:
        InputError: for paths that are neither one run nor two dumps, and for options that do not go with them.
    """
    if len(args.paths) > _DUMPS:
        raise InputError(f"PATH must be the folder of a run, or two memory dumps, not {len(args.paths)} paths")
    explanations = _of_dumps(args) if len(args.paths) == _DUMPS else _of_run(args)
    for explanation in explanations:
        print("\n".join(explanation.lines()))
    for lead in element_leads([traits for explanation in explanations if (traits := explanation.traits) is not None]):
        print(f"lead: {lead}")
    if args.html is not None:
        _write_page(args, explanations)
    if not explanations:
        print("no layer left wrong bytes in a feature cube")
    return int(any(explanation.evidence.wrong.any() for explanation in explanations))


def _write_page(args: argparse.Namespace, explanations: list[Explanation]) -> None:
    run = args.paths[0]
    if len(args.paths) == _DUMPS:
        write_whole(args.html, page(str(args.paths[1]), explanations))
        return
    result = left_in(run)
    if result is None:
        write_whole(args.html, page(run.name, explanations))
    else:
        write_page(args.html, result, explanations)


def _of_run(args: argparse.Namespace) -> list[Explanation]:
    for name in ("base", "fill", "format", *(n for n in OPTIONS if n != "config")):
        if getattr(args, name.replace("-", "_"), None) not in (None, False):
            raise InputError(f"--{name} must not be given for the folder of a run")
    return explain_folder(args.paths[0], args.config, integer("layers", args.layers or str(MOST_LAYERS)))


def _of_dumps(args: argparse.Namespace) -> list[Explanation]:
    if args.layers is not None:
        raise InputError("--layers must only be given for the folder of a run")
    layout = chosen(args, "explain").layout
    assert isinstance(layout, FeatureLayout)
    base = integer("base", args.base or "0")
    layout.alignment.check(start_address=base)
    fill = None if args.fill is None else integer("fill", args.fill)
    limit = layout.nbytes
    should, does = args.paths
    expected = read_memory(should, limit, fill)
    size = os.path.getsize(does) if os.path.isfile(does) else 0
    actual = read_memory(does, min(max(limit, size), MEMORY_BYTES), fill)
    return [explain(from_dumps(does.name, layout, base, expected, actual))]
