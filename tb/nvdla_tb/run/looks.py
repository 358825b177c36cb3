"""Which failures are played again to see inside: of each kind the shortest, then others until one says where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.inside import is_followed, is_worth_it
from nvdla_tb.stimulus.result import Result

_MOST_TRIES, _MOST_WHEN_WRONG = 8, 24
"""Most failures of a kind that are tried until one is located, because little is compared of images, for example; and
most when one contradicts the stated cause."""


@dataclass
class _Kind:
    """Failures of one ending and signature, those first that are to be played first."""

    left: list[Result]
    tries: int = 0
    most: int = _MOST_TRIES
    seen: bool = False
    done: bool = False

    def taken(self) -> Result | None:
        """Return the failure to play next, None when enough were."""
        if self.done or not self.left or self.tries == self.most:
            return None
        self.tries += 1
        return self.left.pop(0)


class Looks:
    """Chooses failures to play again.

    ::

        looks = Looks(results)
        for chosen in looks.rounds():
            for result in chosen:
                looks.add(watched(result))

    A kind of failures is an ending with a signature.
    """

    def __init__(self, results: Iterable[Result], also: Callable[[Result], bool] = lambda _: False) -> None:
        """Take the results of a run.

        Args:
            results: Those that failed count.
            also: Whether the shortest failure of a kind is to be played again even if nothing more can be said of it.
        """
        kinds: dict[tuple[Ending, tuple[str, ...]], list[Result]] = {}
        for result in sorted(results, key=lambda result: result.verdict.cycles):
            if result.ending.is_failure:
                kinds.setdefault((result.ending, result.verdict.signature), []).append(result)
        chosen = (
            [each for each in members if is_worth_it(each) or (each is members[0] and also(each))]
            for members in kinds.values()
        )
        self._kinds = [_Kind(left) for left in chosen if left]
        self._played: dict[str, tuple[Result, _Kind]] = {}

    @property
    def kinds(self) -> int:
        """How many kinds of failures there are to look into."""
        return len(self._kinds)

    @property
    def seen(self) -> int:
        """Of how many kinds a failure was played again."""
        return sum(kind.seen for kind in self._kinds)

    def rounds(self) -> Iterator[list[Result]]:
        """Yield what is to be played next, one failure a kind, until nothing is; what was played decides."""
        while chosen := [(result, kind) for kind in self._kinds if (result := kind.taken()) is not None]:
            self._played |= {result.key: (result, kind) for result, kind in chosen}
            yield [result for result, _ in chosen]

    def add(self, again: Result) -> None:
        """Take a failure that was played again: whether its kind needs another look."""
        result, kind = self._played[again.key]
        kind.seen = True
        if again.explained is None or (is_followed(result) and not again.explained.located):
            return
        if again.cause == result.cause:
            kind.done = True
        else:
            # The cause that was stated lies elsewhere; so it may in all others of the kind.
            kind.most = _MOST_WHEN_WRONG
