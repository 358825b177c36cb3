"""Self-contained HTML: one document, tables, and text that cannot break out of them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222 }
h2 { margin-top: 2rem; font-size: 1.1rem } table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
.good { color: #16703c } .bad { color: #b3261e; font-weight: 600 } .other { color: #8a6100 }
pre { background: #f6f6f4; padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 }
code { overflow-wrap: anywhere } .bar { display: flex; height: .8rem; width: 16rem; background: #eee }
.bar span { display: block } .bar .good { background: #3a9a5f } .bar .bad { background: #c6473e }
.bar .other { background: #d8a93a }
details { margin: .2rem 0 } summary { cursor: pointer } .names { color: #555; overflow-wrap: anywhere }
"""

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold, and HTML should not."""


def document(title: str, body: Sequence[str]) -> str:
    """Return a page.

    Args:
        title: plain text.
        body: HTML.
    """
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escaped(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def table(title: str, columns: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a heading and a table.

    Args:
        title: plain text of the heading.
        columns: plain text; one that ends with ``:n`` holds numbers.
        rows: cells that are HTML already.
    """
    names = [column.removesuffix(":n") for column in columns]
    classes = [' class="n"' if column.endswith(":n") else "" for column in columns]
    head = "".join(f"<th{kind}>{escaped(name)}</th>" for name, kind in zip(names, classes, strict=True))
    lines = [
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, classes, strict=True)) + "</tr>"
        for row in rows
    ]
    return (
        f"<h2>{escaped(title)}</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n"
        + "\n".join(lines)
        + "\n</tbody></table>"
    )


def bar(parts: Iterable[tuple[str, float]]) -> str:
    """Return a bar of parts, each of the kind ``good``, ``bad`` or ``other`` and with its share in percent."""
    spans = "".join(f'<span class="{kind}" style="width:{share:.2f}%"></span>' for kind, share in parts)
    return f'<div class="bar">{spans}</div>'


def escaped(value: str) -> str:
    """Return plain text as HTML."""
    return html.escape(printable(value))


def printable(text: str) -> str:
    """Return text whose control characters and halves of surrogate pairs are replaced: XML cannot hold them."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
