"""A client of ``nvdla-tb drive --socket``, for drivers in Python and whatever stands behind one; it needs no package.

The messages are those of ``nvdla_tb.sim.driver.protocol``; this file may be copied.
"""

from __future__ import annotations

import socket
import struct
import time
from types import TracebackType

_REQUEST, _REPLY = struct.Struct("<IIQQQ"), struct.Struct("<IIQ")
_AGAIN_SECONDS = 0.1
MC, CVSRAM = 0, 1


class BenchError(RuntimeError):
    """What the bench says instead of an answer; the run is over then."""


class Client:
    """A connection to the bench, with the functions of ``nvdla_tb.h``.

    ::

        with Client("/run/user/1000/bench.sock") as bench:     # or Client(4711)
            print(hex(bench.reg_read(0x1000)))
    """

    def __init__(self, where: str | int, seconds: float = 60.0) -> None:
        """Connect to a socket, or to a port of this machine, and wait so long for the bench to listen."""
        until = time.monotonic() + seconds
        while True:
            try:
                self._socket = _connected(where)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(_AGAIN_SECONDS)
        self.version = self._answer()[0]

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """End the run: well, unless an exception has."""
        if not isinstance(error, BenchError):
            self.exit(0 if kind is None else 1)

    def reg_read(self, address: int) -> int:
        """Return the word of a register, by byte address."""
        return self._ask(1, address=address)[0]

    def reg_write(self, address: int, value: int) -> None:
        """Write a register."""
        self._ask(2, address=address, value=value)

    def mem_read(self, ram: int, address: int, nbytes: int) -> bytes:
        """Return bytes of a memory that the DUT sees."""
        return self._ask(3, ram=ram, address=address, nbytes=nbytes)[1]

    def mem_write(self, ram: int, address: int, data: bytes) -> None:
        """Write bytes of it."""
        self._ask(4, ram=ram, address=address, data=data)

    def allocate(self, ram: int, nbytes: int, alignment_bytes: int = 32) -> int:
        """Return the address of fresh room."""
        return self._ask(5, ram=ram, value=alignment_bytes, nbytes=nbytes)[0]

    def reserve(self, ram: int, address: int, nbytes: int) -> None:
        """Make room at an address."""
        self._ask(6, ram=ram, address=address, nbytes=nbytes)

    def wait_interrupt(self, most_cycles: int = 0) -> bool:
        """Return whether the interrupt line is high in time; 0 waits without a limit."""
        return bool(self._ask(7, value=most_cycles)[0])

    def cycles(self) -> int:
        """Return the time of the DUT."""
        return self._ask(8)[0]

    def delay(self, cycles: int) -> None:
        """Let cycles pass."""
        self._ask(9, value=cycles)

    def log(self, text: str) -> None:
        """Write a line to the log of the run."""
        self._ask(10, data=text.encode())

    def exit(self, code: int = 0) -> None:
        """End the run; any code but 0 fails it."""
        self._ask(11, value=code & 0xFFFF_FFFF)
        self._socket.close()

    def _ask(
        self, operation: int, ram: int = 0, address: int = 0, value: int = 0, nbytes: int = 0, data: bytes = b""
    ) -> tuple[int, bytes]:
        self._socket.sendall(_REQUEST.pack(operation, ram, address, value, len(data) or nbytes) + data)
        return self._answer()

    def _answer(self) -> tuple[int, bytes]:
        status, nbytes, value = _REPLY.unpack(self._received(_REPLY.size))
        data = self._received(nbytes)
        if status:
            self._socket.close()
            raise BenchError(data.decode())
        return value, data

    def _received(self, nbytes: int) -> bytes:
        data = b""
        while len(data) < nbytes:
            block = self._socket.recv(nbytes - len(data))
            if not block:
                raise BenchError("the bench has closed the connection")
            data += block
        return data


def _connected(where: str | int) -> socket.socket:
    if isinstance(where, int):
        return socket.create_connection(("127.0.0.1", where))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(where)
    except OSError:
        connection.close()
        raise
    return connection
