"""A driver in another process, behind a Unix socket or a port of the loopback interface."""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread

from nvdla_models.errors import InputError
from nvdla_tb.sim.driver.asking import Asking, Failed, Returned
from nvdla_tb.sim.driver.protocol import MOST_BYTES, REPLY, REQUEST, VERSION, Operation, Status

LOOPBACK = "127.0.0.1"
_OWN_ALONE = 0o177
_WORD = 0xFFFF_FFFF
_ROOT = 0
_TCP_TABLE = Path("/proc/net/tcp")
_SENDING_SECONDS = 1.0
"""Time for an answer that is on its way to a client that reads it."""

_WITH_BYTES = (Operation.MEM_WRITE, Operation.LOG)


class ServedDriver:
    """Listens for one client, and carries its requests to the bench.

    A second client is told that the bench is busy. A client of another user is turned away.

    Attributes:
        asking: what the client asks for.
    """

    def __init__(self, where: str, asking: Asking) -> None:
        """Take the path of a Unix socket, or the number of a port."""
        self.asking = asking
        self._where = where
        self._listener: socket.socket | None = None
        self._client: socket.socket | None = None
        self._sending = Lock()

    @property
    def is_there(self) -> bool:
        """Whether a client has connected."""
        return self._client is not None

    def start(self) -> None:
        """Listen; what cannot be listened at is what the driver fails with."""
        try:
            self._listener = _listening(self._where)
        except OSError as error:
            why = f"{self._where} cannot be listened at: {error.strerror or error}"
            self.asking.calls.put(Failed(InputError(why)))
            return
        Thread(target=self._accept, args=(self._listener,), name="listener", daemon=True).start()

    def stop(self, why: str) -> None:
        """Tell the client why it is answered no more, empty for a good end, and listen no more."""
        if self._client is not None:
            if why:
                self._last_words(self._client, why)
            with suppress(OSError):
                self._client.shutdown(socket.SHUT_RDWR)
        if self._listener is not None:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            if not self._where.isdecimal():
                Path(self._where).unlink(missing_ok=True)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:  # the run is over
                return
            if not _is_own(client):
                client.close()
            elif self._client is not None:
                self._reply(client, Status.BUSY, text="another client drives the bench")
                client.close()
            else:
                self._client = client
                Thread(target=self._serve, args=(client,), name="client", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Carry requests over until the client ends the run, or vanishes."""
        self._reply(client, Status.DONE, VERSION)
        try:
            while self._take(client):
                pass
        except (OSError, EOFError):
            self.asking.calls.put(Failed(InputError("its client has closed the connection without EXIT")))
        except InputError as error:
            self.asking.calls.put(Failed(error))

    def _take(self, client: socket.socket) -> bool:
        """Carry out one request, and return whether more may come.

        Raises:
            EOFError: when the client is gone.
            InputError: for what is no request.
        """
        number, ram, address, value, nbytes = REQUEST.unpack(_received(client, REQUEST.size))
        if number not in set(Operation):
            raise InputError(f"operation of a request must be 1 to {max(Operation)}, not {number}")
        operation = Operation(number)
        moves = operation in (*_WITH_BYTES, Operation.MEM_READ)
        if moves and nbytes > MOST_BYTES:
            raise InputError(f"{operation.name} must have at most {MOST_BYTES} bytes, not {nbytes}")
        data = _received(client, nbytes) if operation in _WITH_BYTES else b""
        if operation is Operation.EXIT:
            self.asking.flush()
            self._reply(client, Status.DONE)
            # As the int that an entry in C returns.
            (code,) = struct.unpack("<i", struct.pack("<I", value & _WORD))
            self.asking.calls.put(Returned(code))
            return False
        answer, found = self._ask(operation, ram, address, value, nbytes, data)
        self._reply(client, Status.DONE, answer, found)
        return True

    def _ask(
        self, operation: Operation, ram: int, address: int, value: int, nbytes: int, data: bytes
    ) -> tuple[int, bytes]:
        asking, answer = self.asking, 0
        match operation:
            case Operation.REG_READ:
                answer = asking.reg_read(address)
            case Operation.REG_WRITE:
                if value > _WORD:
                    raise InputError(f"a register takes 32 bits, not {value:#x}")
                asking.reg_write(address, value)
            case Operation.MEM_READ:
                return 0, asking.mem_read(ram, address, nbytes)
            case Operation.MEM_WRITE:
                asking.mem_write(ram, address, len(data), lambda: data)
            case Operation.ALLOCATE:
                answer = asking.allocate(ram, nbytes, value)
            case Operation.RESERVE:
                asking.reserve(ram, address, nbytes)
            case Operation.WAIT_INTERRUPT:
                answer = asking.wait_interrupt(value)
            case Operation.CYCLES:
                answer = asking.cycles()
            case Operation.DELAY:
                asking.delay(value)
            case Operation.LOG:
                asking.log(data)
        return answer, b""

    def _reply(self, client: socket.socket, status: Status, value: int = 0, data: bytes = b"", text: str = "") -> None:
        data = text.encode() or data
        # The bench and the client's thread may both have something to say at the end.
        with self._sending, suppress(OSError):
            client.sendall(REPLY.pack(status, len(data), value) + data)

    def _last_words(self, client: socket.socket, why: str) -> None:
        """Tell a client why it is answered no more, unless it does not read what it is told."""
        if not self._sending.acquire(timeout=_SENDING_SECONDS):
            return
        try:
            with suppress(OSError):
                data = why.encode()
                client.send(REPLY.pack(Status.FAILED, len(data), 0) + data, socket.MSG_DONTWAIT)
        finally:
            self._sending.release()


def _listening(where: str) -> socket.socket:
    """Return a socket that only this user can connect to, as far as the system lets one say so."""
    if where.isdecimal():
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, int(where)))
    else:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(_OWN_ALONE)
        try:
            listener.bind(where)
        finally:
            os.umask(mask)
    listener.listen()
    return listener


def _is_own(client: socket.socket) -> bool:
    """Return whether a client is of this user, or of root."""
    if client.family == socket.AF_UNIX:
        if not hasattr(socket, "SO_PEERCRED"):  # the mode of the socket has to be enough
            return True
        raw = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        user = struct.unpack("3i", raw)[1]
    else:
        user = _user_of_port(client.getpeername()[1], client.getsockname()[1])
    return user in (os.geteuid(), _ROOT)


def _user_of_port(own: int, other: int) -> int | None:
    """Return who has the end of a connection on the loopback interface, None when the system does not tell."""
    address = socket.inet_aton(LOOPBACK)[::-1].hex().upper()
    ends = [f"{address}:{own:04X}", f"{address}:{other:04X}"]
    try:
        rows = [line.split() for line in _TCP_TABLE.read_text(encoding="ascii").splitlines()[1:]]
    except OSError:
        return None
    return next((int(row[7]) for row in rows if row[1:3] == ends), None)


def _received(client: socket.socket, nbytes: int) -> bytes:
    """Return so many bytes of a client.

    Raises:
        EOFError: when it is gone.
    """
    data = bytearray()
    while len(data) < nbytes:
        block = client.recv(min(nbytes - len(data), 1 << 16))
        if not block:
            raise EOFError
        data += block
    return bytes(data)
