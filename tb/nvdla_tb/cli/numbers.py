"""Types of options that take numbers: what is out of range is refused before anything else happens."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import TypeVar

from nvdla_models.limits import NUMBER_BITS, PARALLEL, RUN_TASKS, SECONDS
from nvdla_models.reading import shown

N = TypeVar("N", int, float)
_INTEGER = re.compile(r"-?[0-9]{1,20}")


def _ranged(read: Callable[[str], N], least: N, most: N, form: str) -> Callable[[str], N]:
    def parse(text: str) -> N:
        try:
            value = read(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be {least:{form}} to {most:{form}}, not {shown(text)}")
        return value

    return parse


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError
    return int(text)


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an option that takes an integer of a range."""
    return _ranged(_integer, least, most, "d")


def number(least: float, most: float) -> Callable[[str], float]:
    """Return the type of an option that takes a number of a range."""
    return _ranged(float, least, most, "g")


seed = whole(0, (1 << (NUMBER_BITS - 1)) - 1)  # SQLite keeps it in 64 bits with their sign
ordinal = whole(1, (1 << (NUMBER_BITS - 1)) - 1)  # the number of something that there is, such as a run
count = whole(1, RUN_TASKS)  # how many things to play
seeds = whole(1, 1 << (NUMBER_BITS - 2))  # how many seeds, which are drawn as they are played
parallel = whole(1, PARALLEL)  # how many things at a time
rounds = whole(1, 10_000)
budget = number(0, SECONDS)  # a time after which nothing is started
seconds = number(0.001, SECONDS)  # a time limit
percent = number(0, 100)
increase = number(0, 1000)  # in percent: what is beyond it would allow anything
part = number(0, 1)
