"""A pool of the workers of a Dask cluster."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import count, islice
from typing import Any, cast

from dask.distributed import Client, Future, KilledWorker, wait

from nvdla_tb.run.errors import SCHEDULER_LOST, NoSchedulerError
from nvdla_tb.run.regress.cluster import talking
from nvdla_tb.run.regress.pool import TOGETHER_SECONDS, Call, WorkerDied

_FETCH_SECONDS = 10.0
"""How long results may take to arrive; those of a worker that has died never do."""


class DaskPool:
    """A ``Pool`` of a cluster's workers, of which Dask starts those that die again, and others may come and go.

    Dask gives calls up that have lost several workers, the innocent ones that were with the cause each time among them.
    """

    def __init__(self, client: Client) -> None:
        """Take the client of the cluster."""
        self._client = client
        # Of calls that are alike, Dask starts those first whose names do.
        self._names = (f"call-{uuid.uuid4().hex}-{number:09}" for number in count())

    @property
    def workers(self) -> int:
        """How many there are now."""
        with talking():
            return sum(self._client.nthreads().values())

    def call(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Call]:
        """Have a function called with each of some arguments; see ``Pool``."""
        with talking():
            names = list(islice(self._names, len(arguments)))
            return list(self._client.map(function, list(arguments), key=names, pure=False))

    def ended(self, calls: Collection[Call]) -> tuple[dict[Call, Any], dict[Call, Exception]]:
        """Return what has ended; see ``Pool``. Those that another worker plays again, as theirs has died, have not."""
        ended = _ended(cast("Collection[Future]", calls))
        returned = self._fetched([future for future in ended if future.status == "finished"])
        for future in returned:
            # Dask plays what is still held again when the worker that had it dies, and exceptions of ``wait`` hold it.
            future.release()
        failed = {future: _error(future) for future in ended if future.status == "error"}
        return cast("dict[Call, Any]", returned), cast("dict[Call, Exception]", failed)

    def call_each(self, function: Callable[[], object]) -> None:
        """Call a function once on each worker; see ``Pool``."""
        client = self._client
        with talking():
            calls = {client.submit(function, workers=[address], pure=False): address for address in client.nthreads()}
        while calls:
            for future in _ended(calls):
                del calls[future]
                with talking():
                    future.result()
            with talking():
                alive = client.nthreads()
            calls = {future: address for future, address in calls.items() if address in alive}

    def _fetched(self, finished: Sequence[Future]) -> dict[Future, Any]:
        """Return the results of calls that ended, or none of them when they do not arrive."""
        gather = partial(self._client.gather, list(finished), errors="skip", asynchronous=True)
        with talking():
            try:
                fetched = self._client.sync(gather, callback_timeout=_FETCH_SECONDS) if finished else []
            except TimeoutError:
                fetched = []
        return dict(zip(finished, fetched, strict=True)) if len(fetched) == len(finished) else {}


def _ended(running: Collection[Future]) -> list[Future]:
    """Return futures that ended, or none after a while without any; the earlier half if they end soon enough."""
    first = list(islice(running, (len(running) + 1) // 2))
    with talking(), suppress(TimeoutError):
        wait(first, timeout=TOGETHER_SECONDS)
    ended = [future for future in running if future.done()]
    if any(future.status == "cancelled" for future in ended):
        raise NoSchedulerError(SCHEDULER_LOST)
    return ended


def _error(future: Future) -> Exception:
    error: Exception = future.exception()
    return WorkerDied() if isinstance(error, KilledWorker) else error
