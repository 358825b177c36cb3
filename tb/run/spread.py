"""Work for several at once: whoever is free takes the next item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import TypeVar

from tb.run.process import stop

Player = TypeVar("Player")
Item = TypeVar("Item")
Played = TypeVar("Played")


def spread(
    players: Sequence[Player], items: Iterable[Item], play: Callable[[Player, Item], Played]
) -> Iterator[Played]:
    """Yield the results of players for items, as they end; each player has one item at a time.

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

    yield from as_ended(len(players), taken, items)


def as_ended(workers: int, work: Callable[[Item], Played], items: Iterable[Item]) -> Iterator[Played]:
    """Yield the result of each item as it ends.

    An interrupt ends the commands that are run, and whoever takes no more results cancels what has not begun.

    Args:
        workers: Items at a time.
        work: What is done with an item.
        items: The items.
    """
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        except KeyboardInterrupt:
            stop()
            raise
        finally:
            for future in futures:
                future.cancel()
