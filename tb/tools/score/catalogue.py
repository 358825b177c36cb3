"""The seeded bugs as data: ``bugs.toml`` beside this file."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import msgspec

from models.errors import InputError
from models.reading import read_toml
from tb.places import HDL
from tb.plain_data import converted

BUGS_FILE = Path(__file__).with_name("bugs.toml")
DLHDL_BUGS_FILE = HDL / "dlhdl" / "bugs.toml"


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


class Bug(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One seeded bug.

    Attributes:
        name: its name, for the device the value of ``+bug=``.
        kind: subject.
        unit: which scenarios exercise it.
        about: the fault, in words.
        place: where it is.
        causes: names of the causes that are right first answers of the explainer.
        equivalent: why no scenario can show it; empty for a bug that must be caught.
        config: name of the embedded device that it is played on; that of the catalogue, when it says nothing.
        case: the test of the device itself that shows it; the score does not play it.
    """

    name: str
    kind: BugKind
    unit: str
    about: str
    place: Place = msgspec.field(default=Place.RTL, name="where")
    causes: tuple[str, ...] = ()
    equivalent: str = ""
    config: str = ""
    case: str = ""


class Catalogue(msgspec.Struct, frozen=True):
    """All bugs, the patterns of scenario names of each unit, and the device of the bugs that name none."""

    units: dict[str, tuple[str, ...]]
    bugs: tuple[Bug, ...] = msgspec.field(name="bug")
    config: str = "nv_small"


def load_catalogue(path: Path = BUGS_FILE) -> Catalogue:
    """Read a catalogue.

    Raises:
        CatalogueError: for an unknown key, kind, place or unit, a name that is used twice, and a layout or
            arithmetic bug without a cause.
    """
    found = converted(read_toml(path, CatalogueError), Catalogue, str(path), CatalogueError)
    names = [bug.name for bug in found.bugs]
    for bug in found.bugs:
        if bug.unit not in found.units:
            raise CatalogueError(f"unit of bug {bug.name} must be one of {', '.join(found.units)}, not {bug.unit}")
        if bug.kind.has_cause and not bug.causes:
            raise CatalogueError(f"bug {bug.name} lacks causes, which a bug of kind {bug.kind.value} must have")
        if names.count(bug.name) > 1:
            raise CatalogueError(f"bug {bug.name} must be listed once, not {names.count(bug.name)} times")
    bugs = tuple(msgspec.structs.replace(bug, config=bug.config or found.config) for bug in found.bugs)
    return msgspec.structs.replace(found, bugs=bugs)
