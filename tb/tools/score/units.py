"""The unit to which a module belongs, and whether the text of a failure names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from tb.explain.units import Unit, are_neighbours
from tb.tools.score.catch import Catch

_MODULES = (
    (Unit.CSB, r"csb|apb2csb|cfgrom"),
    (Unit.GLB, r"glb"),
    (Unit.MEMORY, r"mcif|cvif|nocif|xxif|dbb"),
    (Unit.BDMA, r"bdma"),
    (Unit.RUBIK, r"rubik|rbk"),
    (Unit.CDMA, r"cdma"),
    (Unit.CBUF, r"cbuf"),
    (Unit.CSC, r"csc"),
    (Unit.CMAC, r"cmac"),
    (Unit.CACC, r"cacc"),
    (Unit.SDP_RDMA, r"sdp_[mbne]?rdma|sdp_operand"),
    (Unit.SDP, r"sdp"),
    (Unit.PDP_RDMA, r"pdp_rdma"),
    (Unit.PDP, r"pdp"),
    (Unit.CDP_RDMA, r"cdp_rdma"),
    (Unit.CDP, r"cdp"),
)
"""How the names of a unit's modules begin, after ``NV_NVDLA_`` and the like; the first that fits counts."""

_PREFIX = r"(?:nv_)?(?:nvdla_)?(?:hls_)?"

_MOST_RIGHT = 2
"""Units that may be named, when they are neighbours; more are not counted as one place."""


class Naming(Enum):
    """The worth of the units that the text of a failure names."""

    RIGHT = "right"
    WIDE = "wide"
    WRONG = "wrong"
    NONE = "none"
    SHARED = "shared"


def unit_of(module: str, parents: Mapping[str, frozenset[str]]) -> Unit | None:
    """Return the unit to which a module belongs; None for one that several units have, or none.

    Args:
        module: name in the sources.
        parents: by module, the modules that instantiate it; a module that is called after no unit belongs to
            the unit of all these.
    """
    for unit, names in _MODULES:
        if re.match(rf"{_PREFIX}(?:{names})(?:_|$)", module, re.IGNORECASE):
            return unit
    units = {unit_of(parent, parents) for parent in parents.get(module, ())}
    return units.pop() if len(units) == 1 else None


def naming(unit: Unit | None, catch: Catch) -> Naming:
    """Return the worth of the units that the text of a failure names.

    Args:
        unit: that of the mutant, None for a module that several units have.
        catch: how it was caught.
    """
    if unit is None:
        return Naming.SHARED
    named = list(dict.fromkeys(Unit(name) for line in catch.units for name in line))
    if not named:
        return Naming.NONE
    if unit not in named:
        return Naming.WRONG
    is_narrow = len(named) <= _MOST_RIGHT and are_neighbours(named[0], named[-1])
    return Naming.RIGHT if is_narrow else Naming.WIDE
