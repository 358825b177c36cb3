"""Self-contained HTML: all pages are made of ``tb/templates``, in which plain text stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, and HTML should not."""


def printable(text: str) -> str:
    """Return text whose control characters and halves of surrogate pairs are replaced: XML cannot hold them."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _shown(value: object) -> object:
    """Return a value as a template shows it; what macros return is HTML already."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_shown,
)


def render(template: str, **values: object) -> str:
    """Return a template filled with values.

    Args:
        template: Name of its file in ``tb/templates``.
        values: By the names that it calls them; text is escaped.
    """
    return _TEMPLATES.get_template(template).render(values)


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: Its text.
        kind: ``good``, ``bad``, ``other`` or ``names`` for text that looks so.
        bar: Parts of a bar before the text, each of a kind and with its share in percent.
        about: More text on a line of its own.
    """

    text: str
    kind: str = ""
    bar: Sequence[tuple[str, float]] = ()
    about: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a page: a table, or lines that are folded.

    Attributes:
        title: Heading.
        columns: Names of columns; one that ends with ``:n`` holds numbers. None for lines.
        rows: Cells of the table; plain text may stand for a cell.
        lines: Lines to fold.
    """

    title: str
    columns: Sequence[str] | None = None
    rows: Iterable[Sequence[Cell | str]] = ()
    lines: Sequence[str] = ()
