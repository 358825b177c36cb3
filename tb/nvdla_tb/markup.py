"""Self-contained HTML: all pages are made of ``tb/nvdla_tb/templates``, in which plain text stays text."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
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


_FOLDER = Path(__file__).parent / "templates"
_SCRIPT = (_FOLDER / "page.js").read_text(encoding="utf-8")
_SCRIPT_HASH = b64encode(sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; "
    f"script-src 'sha256-{_SCRIPT_HASH}'"
)
"""Nothing is loaded from elsewhere, and no script runs but the page's own, whatever a test is called."""

_TEMPLATES = Environment(loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, finalize=_shown)
_TEMPLATES.globals |= {"script": _SCRIPT, "policy": _POLICY}


def render(template: str, **values: object) -> str:
    """Return a template filled with values.

    Args:
        template: Name of its file in ``tb/nvdla_tb/templates``.
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
        link: Address that the text leads to, relative to the page.
        parts: What is folded below the text, each with its kind.
    """

    text: str
    kind: str = ""
    bar: Sequence[tuple[str, float]] = ()
    about: str = ""
    link: str = ""
    parts: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Head:
    """A column: its name, and what it holds: ``n`` numbers, ``s`` few values, nothing for text."""

    name: str
    kind: str


@dataclass(frozen=True)
class Section:
    """A part of a page: a table, or lines that are folded.

    Attributes:
        title: Heading.
        columns: Names of columns; one that ends with ``:n`` holds numbers, with ``:s`` few values, one of
            which can be selected. None for lines.
        rows: Cells of the table; plain text may stand for a cell.
        lines: Lines to fold.
        more: What stands below the table, before links.
        links: Texts and addresses of these.
    """

    title: str
    columns: Sequence[str] | None = None
    rows: Iterable[Sequence[Cell | str]] = ()
    lines: Sequence[str] = ()
    more: str = ""
    links: Sequence[tuple[str, str]] = ()

    @property
    def heads(self) -> list[Head]:
        """The columns of the table."""
        parts = [column.rpartition(":") for column in self.columns or ()]
        return [
            Head(name, kind) if name and kind in ("n", "s") else Head(f"{name}{colon}{kind}", "")
            for name, colon, kind in parts
        ]
