"""What a driver asks for, whoever carries it over: a request becomes a call for the bench, and waits for its answer."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.sim.driver import calls
from nvdla_tb.sim.driver.record import Record

_MOST_WRITES = 64
"""Posted writes that go out together: each exchange with the thread costs as much as hundreds of cycles."""

CYCLES_PER_MICROSECOND = 500
"""Of the clock of ``nvdla_tb.sim.clocking``."""


class Asking:
    """Turns requests into calls; ``calls`` yields them, and ``answers`` takes what they get."""

    def __init__(self, registers: RegisterMap, record: Record) -> None:
        """Bind the registers, which messages name, and the record of accesses."""
        self.calls: SimpleQueue[calls.Call] = SimpleQueue()
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self._registers, self._record = registers, record
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
        value = int(self.ask(calls.Read(address)))
        self._record.answer(f"{value:#x}")
        return value

    def mem_write(self, ram: int, address: int, nbytes: int, data: Callable[[], bytes]) -> None:
        """Write memory; the bytes are fetched after the access is recorded, as that may fail."""
        self._record.add(f"write of {nbytes} bytes of memory {ram} at {address:#x}")
        self.ask(calls.MemoryWrite(ram, address, data()))

    def mem_read(self, ram: int, address: int, nbytes: int) -> bytes:
        """Return bytes of memory."""
        self._record.add(f"read of {nbytes} bytes of memory {ram} at {address:#x}")
        return bytes(self.ask(calls.MemoryRead(ram, address, nbytes)))

    def allocate(self, ram: int, nbytes: int, alignment_bytes: int) -> int:
        """Return the address of fresh room."""
        self._record.add(f"allocation of {nbytes} bytes of memory {ram}")
        address = int(self.ask(calls.Allocate(ram, nbytes, alignment_bytes)))
        self._record.answer(f"{address:#x}")
        return address

    def reserve(self, ram: int, address: int, nbytes: int) -> None:
        """Make room at an address."""
        self._record.add(f"reservation of {nbytes} bytes of memory {ram} at {address:#x}")
        self.ask(calls.Reserve(ram, address, nbytes))

    def wait_interrupt(self, most_cycles: int) -> int:
        """Return 1 when the interrupt line is high in time, else 0."""
        self._record.add("wait for the interrupt" + (f", {most_cycles} cycles at most" if most_cycles else ""))
        high = self.ask(calls.Wait(most_cycles))
        self._record.answer("high" if high else "not in time")
        return int(high)

    def cycles(self) -> int:
        """Return the cycle."""
        self._record.add("time")
        return int(self.ask(calls.Now()))

    def delay(self, cycles: int) -> None:
        """Let cycles pass."""
        self._record.add(f"delay of {cycles} cycles")
        self.ask(calls.Delay(cycles))

    def log(self, text: bytes) -> None:
        """Write a line to the log."""
        self.ask(calls.Log(text.decode("utf-8", "backslashreplace")))

    def ask(self, call: calls.Call) -> Any:
        """Have a call carried out after the writes before it, and return its answer."""
        self.flush()
        self.calls.put(call)
        return self.answers.get()

    def flush(self) -> None:
        """Send the writes that wait."""
        if self._writes:
            pairs, self._writes = tuple(self._writes), []
            self.calls.put(calls.Write(pairs))
            self.answers.get()

    def _name(self, address: int) -> str:
        register = self._registers.at(address)
        return f"{address:#x}" if register is None else f"{register.full_name} ({address:#x})"
