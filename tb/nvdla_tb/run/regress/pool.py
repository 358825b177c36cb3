"""What a regression plays on: workers, here or elsewhere, that call functions for it, each one at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, Protocol

TOGETHER_SECONDS = 1.0
"""How long a result may wait for others: to take several at once costs hardly more than to take one."""

Call = Hashable
"""A call that a pool has been given, by which its ending is told."""


class WorkerDied(Exception):
    """A call that was given up, as workers that had it have died; it need not be the cause."""


class Pool(Protocol):
    """Workers that call functions; they may die and come back, and elsewhere come and go.

    All methods raise ``ClusterError`` when the pool is lost.
    """

    @property
    def workers(self) -> int:
        """How many there are now."""

    def call(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Call]:
        """Have a function called with each of some arguments, in this order, by whichever worker is free."""

    def ended(self, calls: Collection[Call]) -> tuple[dict[Call, Any], dict[Call, Exception]]:
        """Return what those of some calls that ended have returned, and what they have raised.

        Both are empty when none ends for a while. A call whose worker has died is tried again, and fails with
        ``WorkerDied`` only when others have died of it, too.
        """

    def call_each(self, function: Callable[[], object]) -> None:
        """Call a function once on each worker, once all calls have ended; one that dies of it is left out.

        Raises:
            Exception: whatever the function has raised.
        """


def results(pool: Pool, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
    """Return what a function returns for each of some arguments.

    Raises:
        Exception: what the first call that failed has raised.
    """
    calls = pool.call(function, arguments)
    found: dict[Call, Any] = {}
    while missing := [call for call in calls if call not in found]:
        returned, failed = pool.ended(missing)
        for error in failed.values():
            raise error
        found |= returned
    return [found[call] for call in calls]
