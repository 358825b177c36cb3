"""The thread of a driver: each function that it calls becomes a call for the bench, and waits for its answer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import wraps
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.sim.driver import calls
from nvdla_tb.sim.driver.record import Record

_MOST_WRITES = 64
"""Posted writes that go out together: each exchange with the thread costs as much as hundreds of cycles."""

CYCLES_PER_MICROSECOND = 500
"""Of the clock of ``nvdla_tb.sim.clocking``."""


class DriverThread:
    """Runs a driver's entry; ``calls`` yields what it asks for, and ``answers`` takes what it gets.

    A driver that is not answered any more stays where it is until the process ends: C cannot be cancelled.
    """

    def __init__(self, library: str, entry: str, registers: RegisterMap, record: Record) -> None:
        """Take the driver, which is loaded in its thread: what a library does when it is loaded is its own, too."""
        self.calls: SimpleQueue[calls.Call] = SimpleQueue()
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self._library, self._entry = library, entry
        self._registers, self._record = registers, record
        self._writes: list[tuple[int, int]] = []
        # A driver may have threads of its own.
        self._lock = Lock()
        self._functions = calls.Functions(
            calls.VERSION,
            *(self._function(name, type_) for name, type_ in calls.Functions._fields_[1:]),
        )

    def start(self) -> None:
        """Load the library and call its entry."""
        Thread(target=self._run, name="driver", daemon=True).start()

    def _run(self) -> None:
        try:
            entry = calls.entry_of(self._library, self._entry)
        except (OSError, AttributeError) as error:
            self.calls.put(calls.Failed(error))
            return
        code = entry(ctypes.byref(self._functions))
        with self._lock:
            self._flush()
        self.calls.put(calls.Returned(code))

    def _function(self, name: str, type_: Any) -> Any:
        """Return the function that C calls; ctypes would print an exception of it, and go on with 0."""
        method: Callable[..., Any] = getattr(self, f"_{name}")

        @wraps(method)
        def called(*arguments: Any) -> Any:
            try:
                with self._lock:
                    return method(*arguments)
            except Exception as error:  # the bench raises it
                self.calls.put(calls.Failed(error))
                Event().wait()

        return type_(called)

    def _ask(self, call: calls.Call) -> Any:
        self._flush()
        self.calls.put(call)
        return self.answers.get()

    def _flush(self) -> None:
        if self._writes:
            pairs, self._writes = tuple(self._writes), []
            self.calls.put(calls.Write(pairs))
            self.answers.get()

    def _reg_write(self, address: int, value: int) -> None:
        name = self._name(address)
        self._record.add(f"write of {value:#x} to {name}")
        self._writes.append((address, value))
        # A layer that must be refused ends the run before anything else is written.
        if len(self._writes) == _MOST_WRITES or name.endswith(".D_OP_ENABLE"):
            self._flush()

    def _reg_read(self, address: int) -> Any:
        self._record.add(f"read of {self._name(address)}")
        value = self._ask(calls.Read(address))
        self._record.answer(f"{value:#x}")
        return value

    def _mem_write(self, ram: int, address: int, data: int | None, nbytes: int) -> None:
        self._record.add(f"write of {nbytes} bytes of memory {ram} at {address:#x}")
        self._ask(calls.MemoryWrite(ram, address, ctypes.string_at(_pointer(data, nbytes), nbytes)))

    def _mem_read(self, ram: int, address: int, to: int | None, nbytes: int) -> None:
        self._record.add(f"read of {nbytes} bytes of memory {ram} at {address:#x}")
        ctypes.memmove(_pointer(to, nbytes), self._ask(calls.MemoryRead(ram, address, nbytes)), nbytes)

    def _allocate(self, ram: int, nbytes: int, alignment_bytes: int) -> Any:
        self._record.add(f"allocation of {nbytes} bytes of memory {ram}")
        address = self._ask(calls.Allocate(ram, nbytes, alignment_bytes))
        self._record.answer(f"{address:#x}")
        return address

    def _reserve(self, ram: int, address: int, nbytes: int) -> None:
        self._record.add(f"reservation of {nbytes} bytes of memory {ram} at {address:#x}")
        self._ask(calls.Reserve(ram, address, nbytes))

    def _wait_interrupt(self, most_cycles: int) -> int:
        self._record.add("wait for the interrupt" + (f", {most_cycles} cycles at most" if most_cycles else ""))
        high = self._ask(calls.Wait(most_cycles))
        self._record.answer("high" if high else "not in time")
        return int(high)

    def _cycles(self) -> Any:
        self._record.add("time")
        return self._ask(calls.Now())

    def _microseconds(self) -> int:
        return int(self._cycles()) // CYCLES_PER_MICROSECOND

    def _delay(self, cycles: int) -> None:
        self._record.add(f"delay of {cycles} cycles")
        self._ask(calls.Delay(cycles))

    def _log(self, text: bytes | None) -> None:
        self._ask(calls.Log((text or b"").decode("utf-8", "backslashreplace")))

    def _name(self, address: int) -> str:
        register = self._registers.at(address)
        return f"{address:#x}" if register is None else f"{register.full_name} ({address:#x})"


def _pointer(given: int | None, nbytes: int) -> int:
    """Return a pointer that so many bytes are moved at; what ctypes does with NULL is no access of it."""
    if given is None and nbytes:
        raise InputError("a pointer to bytes must not be NULL")
    return given or 0
