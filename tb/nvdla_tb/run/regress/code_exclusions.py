"""Points of Verilator's code coverage, and those that need not be reached: by the authors, or by a reviewed file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.limits import SOURCE_BYTES
from nvdla_models.reading import read_bytes, read_toml, shown
from nvdla_tb.plain_data import converted

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


_SWITCH = re.compile(r"//\s*(?:VCS|synopsys|pragma|cadence)?\s*(?:coverage\s+(on|off)|translate_(on|off))\b", re.I)


@dataclass(frozen=True)
class Source:
    """A source; one that is gone, as a run is shown elsewhere, has no lines."""

    path: Path

    @cached_property
    def lines(self) -> list[str]:
        """Its lines."""
        try:
            return read_bytes(self.path, SOURCE_BYTES).decode("utf-8", "replace").splitlines()
        except InputError:
            return []

    @cached_property
    def off(self) -> frozenset[int]:
        """Numbers of the lines that its authors left out."""
        off, found = False, set()
        for number, line in enumerate(self.lines, 1):
            switch = _SWITCH.search(line)
            if switch is not None:
                off = (switch[1] or switch[2]).lower() == "off"
            elif off:
                found.add(number)
        return frozenset(found)

    def has(self, text: str, lines: set[int]) -> bool:
        """Return whether an expression is found in one of some lines."""
        return any(re.search(text, self.lines[line - 1]) for line in lines if line <= len(self.lines))


SIGNAL = r"((?:\w+(?:\[\d+\])*\.)*\w+(?:\[\d+\])*?)(?:\[(-?\d+)(?::(-?\d+))?\])?"
"""A signal with the blocks around it, one of its bits, or a range: ``name``, ``block[1].name[3]``, ``name[7:4]``; of an
array a word comes first: ``name[2][7:4]``."""

_Signal = Annotated[str, msgspec.Meta(pattern=f"^{SIGNAL}$")]
_Edge = Literal["0->1", "1->0"]

_TOGGLE = re.compile(r"(\S+?)(?:\[(-?\d+)\])?:(0->1|1->0)")


class Exclusion(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Points that cannot be reached, and why; a point must match all that is given.

    Attributes:
        reason: For the reviewer, and for all who read the report.
        modules: Patterns of module names, without parameters.
        kinds: Kinds of points.
        names: Patterns of what a point is: of a toggle, its signal, bit and direction.
        signals: Signals of toggles, without patterns: ``name``, ``name[3]`` or ``name[7:4]``; any when there is none.
        edges: Directions of toggles; both when there is none.
        text: Regular expression that is found in the source line of the point, or in a line that it runs.
        lines: Lines such as ``3,5-7``, one of which is the point's; they hold for one version of a source.
        either_way: Whether points are left out that were reached, too: they may be, but need not.
    """

    reason: str
    modules: tuple[str, ...] = ("*",)
    kinds: tuple[Literal["line", "branch", "toggle"], ...] = ("line", "branch", "toggle")
    names: tuple[str, ...] = ("*",)
    signals: tuple[_Signal, ...] = ()
    edges: tuple[_Edge, ...] = ()
    text: str | None = None
    lines: Annotated[str, msgspec.Meta(pattern=r"^\d+(-\d+)?(,\d+(-\d+)?)*$")] | None = None
    either_way: bool = False

    def fits(self, point: Point, source: Source) -> bool:
        """Return whether a point of its modules and kinds is what is excluded."""
        if self.lines is not None and point.line not in set(numbers(self.lines)):
            return False
        named = self._toggles(point) and any(fnmatchcase(point.name, pattern) for pattern in self.names)
        return named and (self.text is None or source.has(self.text, {point.line, *point.lines}))

    def _toggles(self, point: Point) -> bool:
        """Return whether a point is one of the signals and edges, which other points than toggles do not have."""
        found = _TOGGLE.fullmatch(point.name) if point.kind == "toggle" else None
        if found is None:
            return not self.signals and not self.edges
        name, index, edge = found.groups()
        bit = int(index or 0)
        return (not self.edges or edge in self.edges) and (
            not self.signals or any(low <= bit <= high for low, high in self._bits.get(name, ()))
        )

    @cached_property
    def _bits(self) -> dict[str, list[tuple[float, float]]]:
        """The first and the last bit of each range, by signal."""
        found: dict[str, list[tuple[float, float]]] = {}
        for name, *ends in (match.groups() for text in self.signals if (match := re.fullmatch(SIGNAL, text))):
            bits = [int(end) for end in ends if end is not None]
            found.setdefault(name, []).append((min(bits), max(bits)) if bits else (-inf, inf))
        return found


BY_AUTHORS = Exclusion("between comments `coverage off` and `coverage on` of the source", either_way=True)
"""What the authors of the RTL leave out."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    exclude: tuple[Exclusion, ...]


def load_exclusions(path: Path) -> tuple[Exclusion, ...]:
    """Read a file of exclusions: TOML with ``[[exclude]]`` tables.

    Raises:
        CodeCoverageError: naming the file, what is wrong with it, and what is allowed.
    """
    found = converted(read_toml(path, CodeCoverageError), _File, shown(path), CodeCoverageError).exclude
    for number, exclusion in enumerate(found, 1):
        if not exclusion.reason.strip():
            raise CodeCoverageError(f"{shown(path)}: exclude {number}: reason must say why it cannot be reached")
        try:
            re.compile(exclusion.text or "")
        except re.error as error:
            message = f"{shown(path)}: exclude {number}: text must be a regular expression: {error}"
            raise CodeCoverageError(message) from error
    return found


class Exclusions:
    """What of a design need not be reached."""

    def __init__(self, given: Sequence[Exclusion]) -> None:
        """Take the exclusions of all files; the first that fits a point is its reason."""
        self._given = tuple(given)
        self._used: set[int] = set()
        self._kinds: set[str] = set()
        self._sources: dict[str, Source] = {}
        self._of_module: dict[tuple[str, str], list[tuple[int, Exclusion]]] = {}

    def excluding(self, point: Point) -> Exclusion | None:
        """Return what excludes a point, None when it must be reached."""
        self._kinds.add(point.kind)
        source = self._sources.get(point.file)
        if source is None:
            source = self._sources[point.file] = Source(Path(point.file))
        lines = point.lines or (point.line,)
        if source.off and all(line in source.off for line in lines):
            return BY_AUTHORS
        for number, exclusion in self._for(point):
            if exclusion.fits(point, source):
                self._used.add(number)
                return exclusion
        return None

    @property
    def unused(self) -> list[Exclusion]:
        """Exclusions that have fit no point, although points of their kinds were counted."""
        return [
            exclusion
            for number, exclusion in enumerate(self._given)
            if number not in self._used and not self._kinds.isdisjoint(exclusion.kinds)
        ]

    def _for(self, point: Point) -> list[tuple[int, Exclusion]]:
        key = point.module, point.kind
        if key not in self._of_module:
            self._of_module[key] = [
                (number, exclusion)
                for number, exclusion in enumerate(self._given)
                if point.kind in exclusion.kinds
                and any(fnmatchcase(point.module, pattern) for pattern in exclusion.modules)
            ]
        return self._of_module[key]
