"""``--only`` and ``--plan``: names by shell patterns, of which an option takes several; and plans by name."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_tb.cli.parsing import closest
from nvdla_tb.run.plans import plan_file

_WILD = re.compile(r"[*?\[]")
_COMMA = re.compile(r",(?![^\[\]]*\])")
"""A comma that separates patterns; one in brackets is a character like others."""


def only_option(parser: argparse._ActionsContainer, what: str, such_as: str = "'sdp_*,pdp_max'") -> None:
    """Add ``--only``, which may be repeated; ``what`` is chosen, in the plural."""
    about = f"{what} whose name matches one of these, such as {such_as}; may be repeated"
    parser.add_argument("--only", action="extend", type=patterns, metavar="PATTERN[,PATTERN]", help=about)


def plan_option(parser: argparse._ActionsContainer, otherwise: str = "tb/nvdla_tb/plans/CONFIG.toml") -> None:
    """Add ``--plan``; ``otherwise`` is what is played without it."""
    about = f"plan file, or the name of a built-in one, such as nv_small_corners (default: {otherwise})"
    parser.add_argument("--plan", type=plan_named, metavar="NAME|TOML", help=about)


def plan_named(text: str) -> Path:
    """Return the file of a plan that an option names.

    Raises:
        ArgumentTypeError: for a name that there is not.
    """
    try:
        return plan_file(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def matches(name: str, wanted: Sequence[str] | None) -> bool:
    """Return whether a name matches one of some patterns; without any, all names do."""
    return wanted is None or any(fnmatchcase(name, pattern) for pattern in wanted)


def meant(pattern: str, names: Collection[str]) -> str:
    """Return the part of a refusal that says what a pattern that matches none of some names may mean."""
    begin = _WILD.split(pattern)[0]
    if begin == pattern:
        return closest(get_close_matches(pattern, names))
    others = {name[: len(begin)] + pattern[len(begin) :] for name in names}
    return closest(get_close_matches(pattern, [one for one in others if any(matches(n, [one]) for n in names)], 1))


def said(wanted: Sequence[str] | None) -> str:
    """Return patterns as the user gives them."""
    return ",".join(wanted or ())


def patterns(text: str) -> list[str]:
    """Return the patterns of a list."""
    return [pattern.strip() for pattern in _COMMA.split(text)]
