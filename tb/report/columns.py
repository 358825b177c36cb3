"""Text in columns."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Return rows as lines of columns; the first ``left`` columns are flush left, the others flush right."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[n].ljust(widths[n]) if n < left else row[n].rjust(widths[n]) for n in range(len(row))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
