"""A driver's thread in the simulator's process: what C calls is asked of the bench."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import wraps
from threading import Event, Lock, Thread
from typing import Any

from nvdla_models.errors import InputError
from nvdla_tb.sim.driver import calls
from nvdla_tb.sim.driver.asking import CYCLES_PER_MICROSECOND, Asking, Failed, Returned


class DriverThread:
    """Runs a driver's entry.

    A driver that is not answered any more stays where it is until the process ends: C cannot be cancelled.

    Attributes:
        asking: what it asks for.
        is_there: that it can ask.
    """

    is_there = True

    def __init__(self, library: str, entry: str, asking: Asking) -> None:
        """Take the driver, which is loaded in its thread: what a library does when it is loaded is its own, too."""
        self.asking = asking
        self._library, self._entry = library, entry
        # A driver may have threads of its own.
        self._lock = Lock()
        self._functions = calls.Functions(
            calls.VERSION,
            *(self._function(name, type_) for name, type_ in calls.Functions._fields_[1:]),
        )

    def start(self) -> None:
        """Load the library and call its entry."""
        Thread(target=self._run, name="driver", daemon=True).start()

    def stop(self, why: str) -> None:
        """Do nothing: the driver is answered no more."""

    def _run(self) -> None:
        try:
            entry = calls.entry_of(self._library, self._entry)
        except (OSError, AttributeError) as error:
            self.asking.calls.put(Failed(error))
            return
        code = entry(ctypes.byref(self._functions))
        with self._lock:
            self.asking.flush()
        self.asking.calls.put(Returned(code))

    def _function(self, name: str, type_: Any) -> Any:
        """Return the function that C calls; ctypes would print an exception of it, and go on with 0."""
        method: Callable[..., Any] = getattr(self, f"_{name}", None) or getattr(self.asking, name)

        @wraps(method)
        def called(*arguments: Any) -> Any:
            try:
                with self._lock:
                    return method(*arguments)
            except Exception as error:  # the bench raises it
                self.asking.calls.put(Failed(error))
                Event().wait()

        return type_(called)

    def _mem_write(self, ram: int, address: int, data: int | None, nbytes: int) -> None:
        self.asking.mem_write(ram, address, nbytes, lambda: ctypes.string_at(_pointer(data, nbytes), nbytes))

    def _mem_read(self, ram: int, address: int, to: int | None, nbytes: int) -> None:
        data = self.asking.mem_read(ram, address, nbytes)
        ctypes.memmove(_pointer(to, nbytes), data, nbytes)

    def _microseconds(self) -> int:
        return self.asking.cycles() // CYCLES_PER_MICROSECOND

    def _log(self, text: bytes | None) -> None:
        self.asking.log(text or b"")


def _pointer(given: int | None, nbytes: int) -> int:
    """Return a pointer that so many bytes are moved at; what ctypes does with NULL is no access of it."""
    if given is None and nbytes:
        raise InputError("a pointer to bytes must not be NULL")
    return given or 0
