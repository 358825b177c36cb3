"""The unit of a module, and whether the text of a failure names it and its first cause points at it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from nvdla_score.journal import Catch
from nvdla_tb.explain.units import Unit, are_neighbours

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

    A module that is called after no unit belongs to the unit of all modules that instantiate it, its ``parents``.
    """
    for unit, names in _MODULES:
        if re.match(rf"{_PREFIX}(?:{names})(?:_|$)", module, re.IGNORECASE):
            return unit
    units = {unit_of(parent, parents) for parent in parents.get(module, ())}
    return units.pop() if len(units) == 1 else None


def naming(unit: Unit | None, catch: Catch) -> Naming:
    """Return the worth of the units that the text of a failure names; the unit is that of the mutant."""
    if unit is None:
        return Naming.SHARED
    named = list(dict.fromkeys(Unit(name) for line in catch.units for name in line))
    if not named:
        return Naming.NONE
    if unit not in named:
        return Naming.WRONG
    is_narrow = len(named) <= _MOST_RIGHT and are_neighbours(named[0], named[-1])
    return Naming.RIGHT if is_narrow else Naming.WIDE


class Judgement(Enum):
    """The worth of the first cause."""

    RIGHT = "right"
    SYMPTOM = "a symptom"
    WRONG = "wrong"
    NONE = "none"
    SHARED = "shared"


_REGISTERS = re.compile(r"_reg\b|_reg_|regfile|dual_reg|csb", re.IGNORECASE)


def judged(module: str, unit: Unit | None, catch: Catch) -> Judgement:
    """Return the worth of the first cause, of a mutant in a module that belongs to a unit, or to none alone.

    A register with a wrong value makes exactly the bytes of a wrong parameter: for a mutant in a register file
    the cause that names one is right. Of causes that cannot be told apart, one that is right is enough.
    """
    if catch.cause is None:
        return Judgement.NONE
    if catch.symptom:
        return Judgement.SYMPTOM
    if _REGISTERS.search(module):
        return Judgement.RIGHT
    if unit is None:
        return Judgement.SHARED
    is_right = catch.cause != "stale-register" and unit.value in catch.blamed
    return Judgement.RIGHT if is_right else Judgement.WRONG
