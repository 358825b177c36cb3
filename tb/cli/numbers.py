"""Types of options that take numbers: what is out of range is refused before anything else happens."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable

from models.limits import NUMBER_BITS, PARALLEL, RUN_TASKS, SECONDS
from models.reading import shown

_WHOLE = re.compile(r"-?[0-9]{1,20}")


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an option that takes an integer of a range."""

    def parse(text: str) -> int:
        value = int(text) if _WHOLE.fullmatch(text) else None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be {least} to {most}, not {shown(text)}")
        return value

    return parse


def number(least: float, most: float) -> Callable[[str], float]:
    """Return the type of an option that takes a number of a range."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be {least:g} to {most:g}, not {shown(text)}")
        return value

    return parse


seed = whole(0, (1 << (NUMBER_BITS - 1)) - 1)
"""Of a seed, which SQLite keeps in 64 bits with their sign."""

count = whole(1, RUN_TASKS)
"""Of a number of things to play."""

seeds = whole(1, 1 << (NUMBER_BITS - 2))
"""Of a number of seeds that are drawn as they are played."""

ordinal = whole(1, (1 << (NUMBER_BITS - 1)) - 1)
"""Of the number of something that there is, such as a run."""

parallel = whole(1, PARALLEL)
"""Of a number of things at a time."""

rounds = whole(1, 10_000)
"""Of a number of repetitions."""

budget = number(0, SECONDS)
"""Of a time after which nothing is started."""

seconds = number(0.001, SECONDS)
"""Of a time limit."""

percent = number(0, 100)
"""Of a share."""
