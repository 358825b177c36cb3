"""Points of Verilator's code coverage: what a line of its file says of the place that was counted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from models.errors import InputError

KINDS = ("line", "branch", "toggle")

_FIELD = re.compile("\x01([A-Za-z]+)\x02([^\x01]*)")
_PAGE = re.compile(r"v_([^/]*)/(.*)")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
_PARAMETERS = re.compile(r"__[A-Za-z0-9_]+$")
"""The suffix that Verilator adds to the name of a module for its parameters."""


class CodeCoverageError(InputError):
    """A file that is not Verilator's coverage, or does not say what of it to leave out."""


@dataclass(frozen=True)
class Point:
    """A place of the RTL that is counted.

    Attributes:
        file: Source.
        line: Where it is.
        lines: The lines that run when it is hit; none for toggles.
        kind: Of ``KINDS``, or another one that Verilator has.
        module: Its module, without parameters.
        name: What it is, such as the signal and the bit of a toggle.
    """

    file: str
    line: int
    lines: tuple[int, ...]
    kind: str
    module: str
    name: str

    @classmethod
    def of(cls, text: str) -> Point:
        """Read what Verilator writes between quotes.

        Raises:
            CodeCoverageError: for a point that says not where it is.
        """
        fields = dict(_FIELD.findall(text))
        page = _PAGE.fullmatch(fields.get("page", ""))
        line, file = fields.get("l", ""), fields.get("f")
        if page is None or file is None or not line.isdecimal():
            raise CodeCoverageError(f"a point must name its file, line, kind and module, not {text!r}")
        kind, module = page.groups()
        lines = tuple(numbers(fields.get("S", "")))
        return cls(file, int(line), lines, kind, _PARAMETERS.sub("", module), fields.get("o", ""))


def numbers(text: str) -> Iterator[int]:
    """Yield the numbers of a list such as ``3,5-7``."""
    for first, last in _RANGE.findall(text):
        yield from range(int(first), int(last or first) + 1)
