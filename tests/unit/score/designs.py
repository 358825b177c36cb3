"""Mutants of small designs that tests write."""

from __future__ import annotations

from pathlib import Path

from nvdla_score.mutate import Mutant


def mutant(path: Path, expression: str, before: str, after: str) -> Mutant:
    """Return the mutant that replaces a text in an expression of a file, whose module is called after it."""
    text = path.read_text()
    start = text.index(expression)
    span = (start, start + len(expression))
    return Mutant(path, path.stem, 1, "constant + 1", text.index(before, start), before, after, span, False)
