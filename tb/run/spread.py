"""Work for several players at once: whoever is free takes the next item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from queue import SimpleQueue
from typing import TypeVar

from tb.run.process import threads

Player = TypeVar("Player")
Item = TypeVar("Item")
Played = TypeVar("Played")


def spread(
    players: Sequence[Player], items: Iterable[Item], play: Callable[[Player, Item], Played]
) -> Iterator[Played]:
    """Yield the results of players for items, as they end; each player has one item at a time.

    An interrupt ends what they play, and whoever takes no more results cancels what has not begun.

    Args:
        players: Such as simulator processes.
        items: Items to play.
        play: Has a player play an item.
    """
    free: SimpleQueue[Player] = SimpleQueue()
    for player in players:
        free.put(player)

    def taken(item: Item) -> Played:
        player = free.get()
        try:
            return play(player, item)
        finally:
            free.put(player)

    with threads(len(players)) as pool:
        futures = [pool.submit(taken, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
