"""Bins: words and ranges of numbers as a model writes them, some relative to sizes of the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nvdla_models.config import HwConfig
from nvdla_models.limits import POINT_BINS
from nvdla_models.precision import Precision
from nvdla_models.reading import shown
from nvdla_tb.coverage.attributes import Value
from nvdla_tb.stimulus.generate.errors import PlanError

_TERM = re.compile(r"(?:(?P<factor>\d{1,18})\*)?(?P<symbol>[a-z_]+)(?P<offset>[+-]\d{1,18})?|(?P<number>-?\d{1,18})")


@dataclass(frozen=True)
class Bin:
    """Values that count as one.

    Attributes:
        label: as the model writes it.
        low: smallest number, or None when there is no limit.
        high: largest number, or None when there is no limit.
        word: the word itself; None for numbers.
    """

    label: str
    low: int | None = None
    high: int | None = None
    word: str | None = None

    def holds(self, value: Value) -> bool:
        """Return whether a value falls into the bin."""
        if self.word is not None:
            return value == self.word
        if not isinstance(value, int):
            return False
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


def sizes_of(config: HwConfig) -> dict[str, int]:
    """Return the sizes that bins may name: an atom, channels and kernels at a time, banks of the buffer."""
    return {
        "atom": config.atom_elements(Precision.INT8),
        "atom_c": config.mac_atomic_c_size,
        "group": config.kernel_group_size(Precision.INT8),
        "banks": config.cbuf_bank_number,
    }


def parse_bins(where: str, labels: Sequence[str], sizes: Mapping[str, int]) -> tuple[Bin, ...]:
    """Read the bins of a point: ``max``, ``7``, ``2..atom-1``, ``2*atom+1..``, ``each 0..63``, ``powers 1..8192``.

    ``each`` stands for a bin for every number of a range; ``powers`` for one for every
    magnitude, from a power of two to below the next, so that a limit which is a power of two has one alone.

    Args:
        where: name of the point in messages.
        labels: as the model writes them.
        sizes: numbers by name.

    Raises:
        PlanError: when there is none, one is empty, or two overlap.
    """
    if not labels:
        raise PlanError(f"{where} must have at least one bin")
    bins = tuple(_parse(where, each, sizes) for label in labels for each in _expand(where, label, sizes))
    for number, one in enumerate(bins):
        for other in bins[:number]:
            if one.word == other.word and (one.word is not None or _overlap(one, other)):
                raise PlanError(f"{where}: bins must not overlap, as {other.label} and {one.label} do")
    return bins


def _expand(where: str, label: str, sizes: Mapping[str, int]) -> Iterator[str]:
    """Yield the labels that one label stands for."""
    kind, _, span = label.partition(" ")
    if kind not in ("each", "powers"):
        yield label
        return
    low, _, high = span.partition("..")
    limits = [_number(text, sizes) for text in (low, high)]
    if limits[0] is None or limits[1] is None or limits[0] > limits[1]:
        raise PlanError(f"{where}: {kind} must be of a range of numbers and {', '.join(sizes)}, not {shown(span)}")
    if kind == "each" and limits[1] - limits[0] >= POINT_BINS:
        raise PlanError(f"{where}: each must be of at most {POINT_BINS} numbers, not {shown(span)}")
    number = limits[0]
    while number <= limits[1]:
        last = number if kind == "each" else min(_end_of_power(number), limits[1])
        yield f"{number}..{last}" if last > number else f"{number}"
        number = last + 1


def _end_of_power(number: int) -> int:
    """Return the last number, upwards, whose magnitude has as many bits."""
    bits = abs(number).bit_length()
    return (1 << bits) - 1 if number > 0 else -(1 << bits >> 1)


def _parse(where: str, label: str, sizes: Mapping[str, int]) -> Bin:
    low, dots, high = label.partition("..")
    if dots:
        limits = [None if not text else _number(text, sizes) for text in (low, high)]
        if (low and limits[0] is None) or (high and limits[1] is None) or limits == [None, None]:
            raise PlanError(f"{where}: a range must be of numbers and {', '.join(sizes)}, not {label}")
        if limits[0] is not None and limits[1] is not None and limits[0] > limits[1]:
            raise PlanError(f"{where}: a range must not be empty, as {label} is")
        return Bin(label, limits[0], limits[1])
    number = _number(label, sizes)
    return Bin(label, word=label) if number is None else Bin(label, number, number)


def _number(text: str, sizes: Mapping[str, int]) -> int | None:
    """Return the value of a term, None for other text."""
    match = _TERM.fullmatch(text)
    if match is None:
        return None
    if match["number"] is not None:
        return int(match["number"])
    if match["symbol"] not in sizes:
        return None
    return int(match["factor"] or 1) * sizes[match["symbol"]] + int(match["offset"] or 0)


def _overlap(one: Bin, other: Bin) -> bool:
    below = one.high is not None and other.low is not None and one.high < other.low
    above = one.low is not None and other.high is not None and other.high < one.low
    return not below and not above
