"""The seeded bugs as data: ``bugs.toml`` beside this file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from models.errors import InputError
from models.reading import read_toml
from tb.places import HDL
from tb.plain_data import converted

BUGS_FILE = Path(__file__).with_name("bugs.toml")
DLHDL_BUGS_FILE = HDL / "dlhdl" / "bugs.toml"
_Member = TypeVar("_Member", bound=Enum)


class CatalogueError(InputError):
    """A catalogue that cannot be understood; the message names the bug, the key and the rule."""


class BugKind(Enum):
    """The subject of a bug."""

    LAYOUT = "layout"
    ARITHMETIC = "arithmetic"
    CONTROL = "control"
    PROTOCOL = "protocol"
    INTERRUPT = "interrupt"
    HANDSHAKE = "handshake"
    STALE = "stale"

    @property
    def has_cause(self) -> bool:
        """Whether the explainer is expected to name bugs of this kind."""
        return self in (BugKind.LAYOUT, BugKind.ARITHMETIC)


class Place(Enum):
    """Where a bug is: in the device, or in the memory that it reads."""

    RTL = "rtl"
    OPERAND = "operand"


@dataclass(frozen=True)
class Bug:
    """One seeded bug.

    Attributes:
        name: its name, for the device the value of ``+bug=``.
        kind: subject.
        place: where it is.
        unit: which scenarios exercise it.
        about: the fault, in words.
        causes: names of the causes that are right first answers of the explainer.
        equivalent: why no scenario can show it; empty for a bug that must be caught.
        config: name of the embedded device that it is played on.
        case: the test of the device itself that shows it; the score does not play it.
    """

    name: str
    kind: BugKind
    place: Place
    unit: str
    about: str
    causes: tuple[str, ...] = ()
    equivalent: str = ""
    config: str = "nv_small"
    case: str = ""


@dataclass(frozen=True)
class Catalogue:
    """All bugs, and the patterns of scenario names of each unit."""

    bugs: tuple[Bug, ...]
    units: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class _Content:
    """The form of a catalogue's file."""

    units: dict[str, tuple[str, ...]]
    bug: list[dict[str, Any]]
    config: str = "nv_small"


def load_catalogue(path: Path = BUGS_FILE) -> Catalogue:
    """Read a catalogue.

    Raises:
        CatalogueError: for an unknown key, kind, place or unit, a name that is used twice, and a layout or
            arithmetic bug without a cause.
    """
    raw = read_toml(path, CatalogueError)
    content = converted(raw, _Content, str(path), CatalogueError)
    bugs = tuple(_bug({"config": content.config, **entry}, content.units) for entry in content.bug)
    names = [bug.name for bug in bugs]
    for name in names:
        if names.count(name) > 1:
            raise CatalogueError(f"bug {name} must be listed once, not {names.count(name)} times")
    return Catalogue(bugs, content.units)


def _bug(entry: Mapping[str, Any], units: Mapping[str, tuple[str, ...]]) -> Bug:
    name = entry.get("name", "without a name")
    for key in ("name", "kind", "unit", "about"):
        if key not in entry:
            raise CatalogueError(f"bug {name} lacks the key {key}")
    for key in entry:
        if key not in ("name", "kind", "where", "unit", "about", "causes", "equivalent", "config", "case"):
            raise CatalogueError(f"bug {name} has no key {key}")
    if not isinstance(entry["unit"], str) or entry["unit"] not in units:
        raise CatalogueError(f"unit of bug {name} must be one of {', '.join(units)}, not {entry['unit']}")
    kind = _member(BugKind, name, "kind", entry["kind"])
    if kind.has_cause and not entry.get("causes"):
        raise CatalogueError(f"bug {name} lacks causes, which a bug of kind {kind.value} must have")
    place = _member(Place, name, "where", entry.get("where", Place.RTL.value))
    rest = {"kind": kind, "place": place, "causes": entry.get("causes", [])}
    plain = {key: value for key, value in entry.items() if key not in ("kind", "where", "causes")}
    return converted({**plain, **rest}, Bug, f"bug {name}", CatalogueError)


def _member(kind: type[_Member], bug: str, key: str, value: str) -> _Member:
    for member in kind:
        if member.value == value:
            return member
    allowed = ", ".join(str(member.value) for member in kind)
    raise CatalogueError(f"{key} of bug {bug} must be one of {allowed}, not {value}")
