"""A pool of processes on this machine, which end with the one that has started them."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import signal
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, SpawnContext
from typing import Any, cast

from nvdla_tb.run.errors import ClusterError, in_words
from nvdla_tb.run.regress.pool import TOGETHER_SECONDS, Call, WorkerDied
from nvdla_tb.run.regress.worker import end_processes

_END_SECONDS = 5.0
"""How long a process may take to end before it is killed."""

_LONGEST_FOLDER = 70
"""Bytes of the path of the folder for temporary files in which a socket's path still fits."""


@contextmanager
def local_pool(workers: int) -> Iterator[LocalPool]:
    """Give a pool of so many processes, which start with their first call and end with the block.

    Example:
        >>> with local_pool(2) as pool:
        ...     results(pool, abs, [-1, 2])
        [1, 2]
    """
    pool = LocalPool(workers)
    try:
        yield pool
    finally:
        pool.close()


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Keep interrupts back until the block's end, and for good from all threads and processes that it starts.

    An interrupt of the terminal reaches workers, too; it is their driver that ends them.
    """
    # The first process that is spawned starts this, which would let interrupts through to that process again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class LocalPool:
    """A ``Pool`` of this machine's processes; a thread waits for each."""

    def __init__(self, workers: int) -> None:
        """Take the number of processes."""
        self._workers = [_Worker() for _ in range(workers)]
        # The last one that was used comes first, so that few calls start few processes.
        self._free: queue.LifoQueue[_Worker] = queue.LifoQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(workers)

    @property
    def workers(self) -> int:
        """How many there are, started or not: one that dies is started again."""
        return len(self._workers)

    def call(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Call]:
        """Have a function called with each of some arguments; see ``Pool``."""
        return [self._threads.submit(self._called, partial(function, argument)) for argument in arguments]

    def ended(self, calls: Collection[Call]) -> tuple[dict[Call, Any], dict[Call, Exception]]:
        """Return what has ended; see ``Pool``."""
        futures = cast("Collection[Future[Any]]", calls)
        wait(islice(futures, (len(futures) + 1) // 2), TOGETHER_SECONDS)
        done = [future for future in futures if future.done()]
        returned: dict[Call, Any] = {future: future.result() for future in done if future.exception() is None}
        failed: dict[Call, Any] = {future: future.exception() for future in done if future not in returned}
        return returned, failed

    def call_each(self, function: Callable[[], object]) -> None:
        """Call a function on each process that has started; see ``Pool``."""
        for worker in self._workers:
            if worker.is_there:
                with suppress(WorkerDied):
                    worker.call(function)

    def close(self) -> None:
        """End all processes, whatever they are at."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.join()
        # A thread may still read from the pipe of its process, and close it.
        self._threads.shutdown()
        for worker in self._workers:
            worker.release()

    def _called(self, function: Callable[[], Any]) -> Any:
        worker = self._free.get()
        try:
            with suppress(WorkerDied):
                return worker.call(function)
            # It may have been killed for another reason than this call, such as a lack of memory.
            return worker.call(function)
        finally:
            self._free.put(worker)


class _Worker:
    """A process that is started with its first call, and again after its death."""

    _starting = threading.Lock()

    def __init__(self) -> None:
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._closed = False

    @property
    def is_there(self) -> bool:
        return self._process is not None

    def call(self, function: Callable[[], Any]) -> Any:
        """Return what a function returns in the process.

        Raises:
            WorkerDied: when the process has died.
            Exception: whatever the function has raised.
        """
        pipe = self._pipe or self._started()
        try:
            pipe.send_bytes(pickle.dumps(function))
            returned, error = pickle.loads(pipe.recv_bytes())
        except (EOFError, ConnectionError):
            self.release()
            raise WorkerDied from None
        if error is not None:
            raise error
        return returned

    def close(self) -> None:
        """End the process, and start no other one; whoever waits for an answer is told by the end of the pipe."""
        with self._starting:
            self._closed = True
            if self._process is not None:
                self._process.terminate()

    def join(self) -> None:
        """Wait until the process has ended, or kill it."""
        process = self._process
        if process is not None:
            process.join(_END_SECONDS)
            process.kill()

    def _started(self) -> Connection:
        with self._starting, interrupts_kept():
            if self._closed:
                raise ClusterError("the workers have ended")
            try:
                context = _context()
                pipe, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, os.getcwd(), dict(os.environ)), daemon=True)
                process.start()
            except OSError as error:
                raise ClusterError(f"a worker did not start: {in_words(error)}") from error
            theirs.close()
            self._process, self._pipe = process, pipe
        return pipe

    def release(self) -> None:
        """Close the pipe, and end the process; the next call starts another one."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if process is not None and pipe is not None:
            pipe.close()
            process.kill()
            process.join()


def _context() -> ForkServerContext | SpawnContext:
    """Return how processes start: from one that has loaded what they need, or by themselves where that cannot be."""
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _serve(pipe: Connection, folder: str, environment: dict[str, str]) -> None:
    """Call functions until the process that wants it is gone."""
    # What starts processes may be older than the driver's folder and environment.
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send_bytes(_answer(pipe.recv_bytes()))
    end_processes()


def _answer(function: bytes) -> bytes:
    """Return what a pickled function has returned, and what it has raised, pickled."""
    try:
        return pickle.dumps((pickle.loads(function)(), None))
    except Exception as error:
        return pickle.dumps((None, error))
