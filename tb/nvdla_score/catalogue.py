"""The seeded bugs as data: ``bugs.toml`` beside this file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import read_toml
from nvdla_tb.paths import HDL
from nvdla_tb.plain_data import converted

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
        config: name of the embedded device that it is played on.
        case: the test of the device itself that shows it; the score does not play it.
    """

    name: str
    kind: BugKind
    unit: str
    about: str
    config: str
    place: Place = msgspec.field(default=Place.RTL, name="where")
    causes: tuple[str, ...] = ()
    equivalent: str = ""
    case: str = ""


@dataclass(frozen=True)
class Catalogue:
    """All bugs, and the patterns of scenario names of each unit."""

    units: dict[str, tuple[str, ...]]
    bugs: tuple[Bug, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A catalogue as it is written: bugs by kind, unit and name, and the device of those that name none."""

    units: dict[str, tuple[str, ...]]
    bugs: dict[BugKind, dict[str, dict[str, dict[str, Any]]]]
    config: str = "nv_small"


def load_catalogue(path: Path = BUGS_FILE) -> Catalogue:
    """Read a catalogue.

    Raises:
        CatalogueError: for an unknown key, kind, place or unit, a name that is used twice, and a layout or
            arithmetic bug without a cause.
    """
    found = converted(read_toml(path, CatalogueError), _File, str(path), CatalogueError)
    bugs: dict[str, Bug] = {}
    for kind, by_unit in found.bugs.items():
        for unit, described in by_unit.items():
            if unit not in found.units:
                raise CatalogueError(f"unit of bugs must be one of {', '.join(found.units)}, not {unit}")
            for name, keys in described.items():
                if name in bugs:
                    raise CatalogueError(f"bug {name} must be listed once")
                place = {"name": name, "kind": kind.value, "unit": unit, "config": found.config}
                bug = bugs[name] = converted(place | keys, Bug, f"{path}: bug {name}", CatalogueError)
                if kind.has_cause and not bug.causes:
                    raise CatalogueError(f"bug {name} lacks causes, which a bug of kind {kind.value} must have")
    return Catalogue(found.units, tuple(bugs.values()))
