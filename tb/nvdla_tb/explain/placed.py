"""Right bytes at wrong addresses: whose they are, and what that leaves of possible causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.explain.memory import Patch
from nvdla_tb.judge.beats import Beats, addresses_at, offsets_from

_TELLING_VALUES = 4
"""Different bytes that pieces must hold before equal ones are no chance."""

_FEWEST = 4
"""Pieces that a layer must have before all of them, found elsewhere, are no chance although they are the same."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Bytes in pieces of one length at multiples of it.

    Attributes:
        address: uint64 (n,), of the first byte of each.
        data: uint8 (n, length), 0 where nothing is written.
        mask: bool (n, length), which bytes are written.
    """

    address: NDArray[np.uint64]
    data: NDArray[np.uint8]
    mask: NDArray[np.bool_]

    @classmethod
    def of_beats(cls, beats: Beats, length: int) -> Pieces:
        """Return the pieces that beats carry, in their order; ``length`` must divide the width of the beats."""
        parts = beats.data.shape[1] // length
        address = beats.address[:, np.newaxis] + np.arange(0, parts * length, length, dtype=np.uint64)
        return cls(address.ravel(), beats.data.reshape(-1, length), beats.strobe.reshape(-1, length))._written()

    @classmethod
    def of_patch(cls, patch: Patch, length: int) -> Pieces:
        """Return the pieces of a patch."""
        first = patch.address // length * length
        count = -(-(patch.end - first) // length)
        data, mask = np.zeros(count * length, dtype=np.uint8), np.zeros(count * length, dtype=np.bool_)
        inside = slice(patch.address - first, patch.end - first)
        data[inside], mask[inside] = patch.data, patch.mask
        return cls(
            addresses_at(first, np.arange(count) * length), data.reshape(-1, length), mask.reshape(-1, length)
        )._written()

    def _written(self) -> Pieces:
        """Return those of which a byte is written."""
        some = self.mask.any(axis=1)
        return Pieces(self.address[some], np.where(self.mask, self.data, 0)[some], self.mask[some])

    def __len__(self) -> int:
        return len(self.address)

    def take(self, selection: NDArray[np.bool_]) -> Pieces:
        """Return some of the pieces."""
        return Pieces(self.address[selection], self.data[selection], self.mask[selection])

    def contents(self) -> list[bytes]:
        """Return what each of them holds, without its address."""
        return [row.tobytes() for row in np.concatenate([self.data, self.mask.view(np.uint8)], axis=1)]

    def right(self, wanted: Pieces) -> NDArray[np.bool_]:
        """Return which of them are those that others hold at the same addresses, (n,)."""
        if not len(wanted):
            return np.zeros(len(self), dtype=np.bool_)
        at = np.minimum(np.searchsorted(wanted.address, self.address), len(wanted) - 1)
        same = (wanted.data[at] == self.data).all(axis=1) & (wanted.mask[at] == self.mask).all(axis=1)
        right: NDArray[np.bool_] = same & (wanted.address[at] == self.address)
        return right

    @property
    def telling(self) -> bool:
        """Whether they hold enough different bytes to be told from others."""
        return len(np.unique(self.data[self.mask])) >= _TELLING_VALUES


class Misplaced(NamedTuple):
    """How many pieces of how many lie at wrong addresses, and how many bytes after the right ones, if all are alike."""

    wrong: int
    total: int
    distance: int | None


def misplaced(expected: Patch, beats: Beats, atom_bytes: int) -> Misplaced | None:
    """Return which pieces lie at wrong addresses, when all of them were written once and are right.

    None where bytes are wrong or lost, and where the right addresses were written: then the bytes are mixed up.

    Args:
        expected: what should have been written.
        beats: what was written.
        atom_bytes: bytes of an atom, the least that is written elsewhere as a whole.
    """
    if not len(beats):
        return None
    length = gcd(beats.data.shape[1], atom_bytes)
    wanted, found = Pieces.of_patch(expected, length), Pieces.of_beats(beats, length)
    if len(wanted) != len(found) or np.array_equal(np.sort(found.address), wanted.address):
        return None
    if Counter(found.contents()) != Counter(wanted.contents()):
        return None
    places, again = np.unique(found.address, return_counts=True)
    count = int((again - np.isin(places, wanted.address)).sum())
    return Misplaced(count, len(found), _distance(wanted, found))


def _distance(wanted: Pieces, found: Pieces) -> int | None:
    """Return how many bytes after their places all pieces lie that are not there; None when not all lie as many."""
    right = found.right(wanted)
    lying = found.take(~right)
    lacking = wanted.take(~np.isin(wanted.address, found.address[right]))
    own = Counter(wanted.contents())
    places = dict(zip(lacking.contents(), lacking.address.tolist(), strict=True))
    lone = [
        (places[data], at) for data, at in zip(lying.contents(), lying.address.tolist(), strict=True) if own[data] == 1
    ]
    distances = {at - place for place, at in lone}
    return distances.pop() if len(distances) == 1 else None


def overwritten(expected: Patch, beats: Beats) -> int | None:
    """Return in which cycle the result of a layer was overwritten, when all of it had been right before.

    Args:
        expected: what should have been written.
        beats: what was written.
    """
    if not len(beats):
        return None
    lanes = np.arange(beats.data.shape[1])
    at = (offsets_from(beats.address, expected.address)[:, np.newaxis] + lanes)[beats.strobe]
    cycles = np.broadcast_to(beats.cycle[:, np.newaxis], beats.strobe.shape)[beats.strobe]
    inside = (at >= 0) & (at < len(expected.data))
    at, values, cycles = at[inside], beats.data[beats.strobe][inside], cycles[inside]
    places, first = np.unique(at, return_index=True)
    right = expected.mask[places] & (values[first] == expected.data[places])
    if int(np.count_nonzero(right)) < int(np.count_nonzero(expected.mask)):
        return None
    wrong = expected.mask[at] & (values != expected.data[at])
    return int(cycles[wrong][0]) if wrong.any() else None


@dataclass(frozen=True, eq=False)
class Lacking:
    """A layer, the pieces that lie not where they must, and whether those are all that it must write.

    Attributes:
        number: number of the layer.
        pieces: what is lacking.
        began: how many beats came before the layer.
        ended: how many came before it was given up; very many when it was not.
        wholly: whether it wrote nothing to its place.
    """

    number: int
    pieces: Pieces
    began: int
    ended: int
    wholly: bool


def owners_of_strays(
    layers: Iterable[Lacking], strays: Pieces, at: NDArray[np.int64], usual: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return which layer wrote each stray piece: the one that lacks just such a piece, -1 where none does.

    Args:
        layers: those that lack pieces.
        strays: pieces that lie where nothing, or something else, must lie.
        at: how many beats came before each stray.
        usual: the layer that each is of, judged by its address and its time; that one comes first.
    """
    found = np.full(len(strays), -1, dtype=np.int64)
    contents = strays.contents()
    wanted = [(layer, Counter(layer.pieces.contents())) for layer in layers]
    for own in (True, False):
        for layer, lacking in wanted:
            left, taken = lacking.copy(), []
            free = (found < 0) & ((usual == layer.number) if own else (at >= layer.began) & (at < layer.ended))
            for place in np.flatnonzero(free).tolist():
                if left[contents[place]] > 0:
                    left[contents[place]] -= 1
                    taken.append(place)
            chosen = np.zeros(len(strays), dtype=np.bool_)
            chosen[taken] = True
            all_of_it = layer.wholly and _FEWEST <= len(taken) == len(layer.pieces)
            if all_of_it or (taken and strays.take(chosen).telling):
                found[chosen] = layer.number
                lacking.subtract(contents[place] for place in taken)
    return found
