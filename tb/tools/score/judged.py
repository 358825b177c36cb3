"""Whether the first cause of the explainer points at the unit that a mutant is in."""

from __future__ import annotations

import re
from enum import Enum

from tb.explain.units import Unit
from tb.tools.score.catch import Catch


class Judgement(Enum):
    """The worth of the first cause."""

    RIGHT = "right"
    SYMPTOM = "a symptom"
    WRONG = "wrong"
    NONE = "none"
    SHARED = "shared"


_REGISTERS = re.compile(r"_reg\b|_reg_|regfile|dual_reg|csb", re.IGNORECASE)


def judged(module: str, unit: Unit | None, catch: Catch) -> Judgement:
    """Return the worth of the first cause.

    A register with a wrong value makes exactly the bytes of a wrong parameter: for a mutant in a register file
    the cause that names one is right. Of causes that cannot be told apart, one that is right is enough.

    Args:
        module: in which the mutant is.
        unit: that of the module, None for one that several units have, of which no cause is right or wrong.
        catch: how it was caught.
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
