"""``--only``: names by shell patterns, several of them in one option or in several."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

_COMMA = re.compile(r",(?![^\[\]]*\])")
"""A comma that separates patterns; one in brackets is a character like others."""


def only_option(parser: argparse._ActionsContainer, what: str) -> None:
    """Add ``--only``, which may be repeated; ``what`` is chosen, in the plural."""
    about = f"{what} whose name matches one of these, such as 'sdp_*,pdp_max'; may be repeated"
    parser.add_argument("--only", action="extend", type=_patterns, metavar="PATTERN[,PATTERN]", help=about)


def matches(name: str, patterns: Sequence[str] | None) -> bool:
    """Return whether a name matches one of the patterns; without any, all names do."""
    return patterns is None or any(fnmatchcase(name, pattern) for pattern in patterns)


def said(patterns: Sequence[str] | None) -> str:
    """Return the patterns as the user gives them."""
    return ",".join(patterns or ())


def _patterns(text: str) -> list[str]:
    return [pattern.strip() for pattern in _COMMA.split(text)]
