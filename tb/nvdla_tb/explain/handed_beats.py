"""Beats as they should pass a hand-over inside the RTL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError


class NotComparable(InputError):
    """A layer whose hand-overs the model has no values for, or whose order is not known."""


@dataclass(frozen=True, eq=False)
class Handed:
    """Beats as they should be.

    Attributes:
        values: int64 (beats, lanes).
        counts: bool of the same shape, lanes that are compared; what lies in the others is not defined.
        place: from beat and lane to words that say which element it is.
        finished: (beats,) share of the layer's outputs that need no later beat, by stripes; None where it is not known.
        entries: (beats,) entries of the convolution buffer, counted from the one in which the layer begins.
        banks: the first entry of the banks in which these go round, and how many they have; None where it is not known.
        sides: (beats,) numbers beside the data, by names of ``SIDES``.
        loaded: how many entries the layer fills, including beats that are left out; None where it is not known.
    """

    values: NDArray[np.int64]
    counts: NDArray[np.bool_]
    place: Callable[[int, int], str]
    finished: NDArray[np.float64] | None = None
    entries: NDArray[np.int64] | None = None
    banks: tuple[int, int] | None = None
    sides: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    loaded: int | None = None

    def without_zeros(self) -> Handed:
        """Return the beats that are not of zeros alone.

        Raises:
            NotComparable: when the lanes of a beat that are compared are zero, and others may be anything.
        """
        zero = ~(self.values.astype(np.bool_) & self.counts).any(axis=1)
        if (zero & ~self.counts.all(axis=1)).any():
            raise NotComparable("beats of zeros are left out, and the lanes after the last channel may hold anything")
        kept = np.flatnonzero(~zero)
        return replace(
            self,
            values=self.values[kept],
            counts=self.counts[kept],
            place=lambda beat, lane: self.place(int(kept[beat]), lane),
            entries=None if self.entries is None else self.entries[kept],
            sides={name: numbers[kept] for name, numbers in self.sides.items()},
        )

    def stored(self, first: int) -> NDArray[np.int64] | None:
        """Return the entry of each beat, when the layer begins in a given one; None where it is not known.

        An entry that is outside the banks counts as the one that it should be there.
        """
        if self.entries is None or self.banks is None:
            return None
        start, count = self.banks
        found: NDArray[np.int64] = start + (first - start + self.entries) % count
        return found


@dataclass(frozen=True)
class Ring:
    """Where in the convolution buffer a layer begins: behind the one before, or anew after a change of banks.

    Source: measured on the public nv_small RTL, for data and for weights.

    Attributes:
        banks: those of the layer before, None before the first layer.
        entry: the entry behind its last one, None where it is not known.
    """

    banks: tuple[int, int] | None = None
    entry: int | None = None

    def first_of(self, right: Handed) -> int | None:
        """Return the first entry of a layer, None where it is not known."""
        if right.banks is None:
            return None
        return self.entry if right.banks == self.banks else right.banks[0]

    def is_refilled_by(self, right: Handed) -> bool:
        """Return whether a layer goes round the buffer, so that it is up to CDMA what is overwritten, and when."""
        first = self.first_of(right)
        if first is None or right.banks is None or right.loaded is None:
            return False
        start, count = right.banks
        return first - start + right.loaded > count

    def after(self, right: Handed) -> Ring:
        """Return the same for what comes after a layer."""
        first = self.first_of(right)
        if right.banks is None or right.loaded is None:
            return self if right.loaded == 0 else Ring(self.banks)
        start, count = right.banks
        return Ring(right.banks, None if first is None else start + (first - start + right.loaded) % count)


def at_the_end(beats: int) -> dict[str, NDArray[np.int64]]:
    """Return the number beside the data that is 1 in the last beat of a layer alone."""
    found = np.zeros(beats, dtype=np.int64)
    found[-1:] = 1
    return {"layer-end": found}
