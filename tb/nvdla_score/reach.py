"""The mutants that a scenario reaches: on the device without one, where a change would have made a difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from nvdla_score.play import Bench
from nvdla_score.scenarios import Source
from nvdla_tb.judge.text import why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run import folders
from nvdla_tb.run.jobs import Job
from nvdla_tb.run.process import spread
from nvdla_tb.stimulus.result import Result, identity


@dataclass(frozen=True)
class Case:
    """A scenario with the seed of its data."""

    source: Source
    seed: int

    @property
    def identity(self) -> str:
        """``TEST.SEED``."""
        return identity(self.source.name, self.seed)


class Reached(msgspec.Struct, frozen=True):
    """The run of a scenario on the device without a mutant.

    Attributes:
        identity: its ``TEST.SEED``.
        seconds: that it took.
        mutants: numbers of those that it reaches; None when the model cannot tell.
        refused: whether the device cannot run it.
        alarm: why it did not pass.
        effects: of each of ``mutants``, how many times its value differed, and a bit for each kind of value then.
    """

    identity: str
    seconds: float
    mutants: list[int] | None
    refused: bool = False
    alarm: list[str] = []
    effects: list[tuple[int, int]] = []

    @property
    def fails(self) -> bool:
        """Whether it failed."""
        return bool(self.alarm) and not self.refused

    def reaches(self, mutant: int | None) -> bool:
        """Return whether a mutant may be noticed in it; None is one that no run notes, as it is evaluated only once."""
        return not (self.refused or self.alarm) and (mutant is None or self.mutants is None or mutant in self.mutants)

    def marks(self, mutant: int | None) -> int:
        """Return a bit for each kind of value where a mutant makes a difference, and for each power of two of times."""
        if mutant is None or not self.effects or not self.mutants:
            return 0
        times, values = self.effects[self.mutants.index(mutant)]
        return values | ((1 << times.bit_length()) - 1) << _VALUE_BITS


_VALUE_BITS = 64
_NOTE = np.dtype([("times", np.uint64), ("values", np.uint64)])
"""Of ``reached.cpp``."""


class Notes:
    """A file in which a running model notes the mutants that make a difference."""

    def __init__(self, path: Path, mutants: int) -> None:
        """Make the file for so many mutants."""
        self.path = path.resolve()
        self._noted = np.memmap(self.path, dtype=_NOTE, mode="w+", shape=(mutants + 1,))

    def taken(self) -> dict[int, tuple[int, int]]:
        """Return by number what was noted since the last time: times, and kinds of values."""
        found = np.flatnonzero(self._noted["times"])
        effects = {int(at): (int(self._noted[at]["times"]), int(self._noted[at]["values"])) for at in found}
        self._noted[:] = 0
        return effects


def survey(cases: Sequence[Case], bench: Bench, mutants: int | None, workers: int) -> Iterator[Reached]:
    """Play scenarios on the device without a mutant, and yield what each did.

    The model can note so many mutants, None when it cannot; so many workers play at a time.
    """
    folder = folders.made(bench.root, "without")
    players = [_Player(bench, folder, number, mutants) for number in range(workers)]
    try:
        yield from spread(players, cases, _Player.play)
    finally:
        for player in players:
            player.close()


class _Player:
    """One simulator process without a mutant, and what it notes."""

    def __init__(self, bench: Bench, folder: Path, number: int, mutants: int | None) -> None:
        self._bench, self._folder = bench, folder
        self._notes = None if mutants is None else Notes(folder / f"reached_{number}", mutants)
        self._plusargs = () if self._notes is None else (f"+reached={self._notes.path}",)
        self._process = bench.shared(folder / str(number), self._plusargs)
        self._constant: dict[int, tuple[int, int]] | None = None

    def play(self, case: Case) -> Reached:
        job = replace(self._bench.job(case.source, case.seed), plusargs=self._plusargs)
        result: Result = self._bench.play(job, self._folder, self._process)
        found = None if self._notes is None else self._reached(job, self._notes)
        why = [] if result.ending is Ending.PASSED else list(why_not_passed(result.verdict))
        mutants = None if found is None else list(found)
        effects = list(found.values()) if found else []
        return Reached(case.identity, result.seconds, mutants, result.ending is Ending.REFUSED, why, effects)

    def _reached(self, job: Job, notes: Notes) -> dict[int, tuple[int, int]]:
        """Return by number the effects of the mutants of the scenario that was just played, with those of constants.

        What depends on constants alone is evaluated when the model starts, and never again. It holds for every
        scenario: it is what the first one reached and does not reach when it is played again in the same process.
        """
        taken = notes.taken()
        if self._constant is None:
            self._bench.play(job, self._folder, self._process)
            again = notes.taken()
            self._constant = {number: effect for number, effect in taken.items() if number not in again}
            taken = again
        return dict(sorted((self._constant | taken).items()))

    def close(self) -> None:
        self._process.close()


def worth_playing(cases: Sequence[tuple[Case, Reached]], mutant: int | None, likely: Set[str], most: int) -> list[Case]:
    """Return the scenarios to play a mutant on.

    First come those that together have all kinds of values with which the mutant makes a difference, and the most
    times that it does: in turn the one with most of the rarest that none before it has. Others follow by kind, which is
    the first word of their names: in turn the one of each kind with most of them, and three of the kinds that exercise
    the mutant's unit by their names, until there are ``most``. None of these comes with another seed before all of its
    kind have come.

    Args:
        cases: all scenarios, with what they reach.
        mutant: number of the mutant, or None, as in ``Reached.reaches``.
        likely: words in the names of scenarios that exercise its unit.
        most: how many to play at most.
    """
    found = [(case, reached) for case, reached in cases if reached.reaches(mutant)]
    marks = {case: reached.marks(mutant) for case, reached in found}
    worth = _rarity(list(marks.values()))
    cheapest = [case for case, _ in sorted(found, key=lambda pair: pair[1].seconds)]
    first: list[Case] = []
    missing = -1
    while len(first) < most:
        best = max(cheapest, key=lambda case: worth(marks[case] & missing), default=None)
        if best is None or not marks[best] & missing:
            break
        first.append(best)
        missing &= ~marks[best]
    left = [case for case in cheapest if case not in first]
    left.sort(key=lambda case: -worth(marks[case]))
    return [*first, *_by_kind(left, likely, most - len(first))]


def _rarity(marks: Sequence[int]) -> Callable[[int], float]:
    """Return how much marks are worth: each the more, the fewer scenarios have it."""
    shares = [sum(each >> bit & 1 for each in marks) for bit in range(max(marks, default=0).bit_length())]
    return lambda having: sum(1 / share for bit, share in enumerate(shares) if having >> bit & 1)


def _by_kind(best: Sequence[Case], likely: Set[str], most: int) -> list[Case]:
    seeds: Counter[str] = Counter()
    turns: list[int] = []
    for case in best:
        turns.append(seeds[case.source.name])
        seeds[case.source.name] += 1
    kinds: dict[tuple[bool, str], list[Case]] = {}
    for _, case in sorted(zip(turns, best, strict=True), key=lambda pair: pair[0]):
        words = case.source.name.split("_")
        kinds.setdefault((not likely.isdisjoint(words), words[0]), []).append(case)
    ordered: list[Case] = []
    while len(ordered) < min(most, len(best)):
        for (exercises, _), left in kinds.items():
            count = 3 if exercises else 1
            ordered += left[:count]
            del left[:count]
    return ordered[:most]
