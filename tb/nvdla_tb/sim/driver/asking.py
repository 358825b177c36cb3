"""What a driver asks for, in its own thread: the simulation carries it out while that waits for the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from nvdla_tb.sim.driver.carrier import Carrier
from nvdla_tb.sim.driver.record import Record

_MOST_WRITES = 64
"""Posted writes that go out together: each exchange with the thread costs as much as hundreds of cycles."""

CYCLES_PER_MICROSECOND = 500
"""Of the clock of ``nvdla_tb.sim.clocking``."""


@dataclass(frozen=True)
class Returned:
    """The entry has returned; nothing is answered."""

    code: int


@dataclass(frozen=True)
class Failed:
    """The driver cannot go on; nothing is answered."""

    error: Exception


class Asking:
    """Hands requests over; ``calls`` yields what to await, until the driver ends, and ``answers`` takes the results."""

    def __init__(self, carrier: Carrier, record: Record) -> None:
        """Take what carries requests out, and the record of accesses."""
        self.calls: SimpleQueue[Callable[[], Awaitable[Any]] | Returned | Failed] = SimpleQueue()
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self._carrier, self._record = carrier, record
        self._writes: list[tuple[int, int]] = []

    def reg_write(self, address: int, value: int) -> None:
        """Write a register; it goes out with those that follow it, before anything else."""
        name = self._name(address)
        self._record.add(f"write of {value:#x} to {name}")
        self._writes.append((address, value))
        # A layer that must be refused ends the run before anything else is written.
        if len(self._writes) == _MOST_WRITES or name.split(" ")[0].endswith(".D_OP_ENABLE"):
            self.flush()

    def reg_read(self, address: int) -> int:
        """Return the word of a register."""
        self._record.add(f"read of {self._name(address)}")
        value = int(self._ask(self._carrier.reg_read, address))
        self._record.answer(f"{value:#x}")
        return value

    def mem_write(self, ram: int, address: int, nbytes: int, data: Callable[[], bytes]) -> None:
        """Write memory; the bytes are fetched after the access is recorded, as that may fail."""
        self._record.add(f"write of {nbytes} bytes of memory {ram} at {address:#x}")
        self._ask(self._carrier.mem_write, ram, address, data())

    def mem_read(self, ram: int, address: int, nbytes: int) -> bytes:
        """Return bytes of memory."""
        self._record.add(f"read of {nbytes} bytes of memory {ram} at {address:#x}")
        return bytes(self._ask(self._carrier.mem_read, ram, address, nbytes))

    def allocate(self, ram: int, nbytes: int, alignment_bytes: int) -> int:
        """Return the address of fresh room."""
        self._record.add(f"allocation of {nbytes} bytes of memory {ram}")
        address = int(self._ask(self._carrier.allocate, ram, nbytes, alignment_bytes))
        self._record.answer(f"{address:#x}")
        return address

    def reserve(self, ram: int, address: int, nbytes: int) -> None:
        """Make room at an address."""
        self._record.add(f"reservation of {nbytes} bytes of memory {ram} at {address:#x}")
        self._ask(self._carrier.reserve, ram, address, nbytes)

    def wait_interrupt(self, most_cycles: int) -> int:
        """Return 1 when the interrupt line is high in time, else 0."""
        self._record.add("wait for the interrupt" + (f", {most_cycles} cycles at most" if most_cycles else ""))
        high = self._ask(self._carrier.wait_interrupt, most_cycles)
        self._record.answer("high" if high else "not in time")
        return int(high)

    def cycles(self) -> int:
        """Return the cycle."""
        self._record.add("time")
        return int(self._ask(self._carrier.cycles))

    def delay(self, cycles: int) -> None:
        """Let cycles pass."""
        self._record.add(f"delay of {cycles} cycles")
        self._ask(self._carrier.delay, cycles)

    def log(self, text: bytes) -> None:
        """Write a line to the log."""
        self._ask(self._carrier.log, text.decode("utf-8", "backslashreplace"))

    def flush(self) -> None:
        """Send the writes that wait."""
        if self._writes:
            pairs, self._writes = tuple(self._writes), []
            self.calls.put(partial(self._carrier.reg_write, pairs))
            self.answers.get()

    def _ask(self, carry: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        """Have a request carried out after the writes before it, and return its answer."""
        self.flush()
        self.calls.put(partial(carry, *arguments))
        return self.answers.get()

    def _name(self, address: int) -> str:
        register = self._carrier.registers.at(address)
        return f"{address:#x}" if register is None else f"{register.full_name} ({address:#x})"
