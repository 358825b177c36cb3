"""Processes that a test has started, whatever became of their parents: all have inherited a mark."""

from __future__ import annotations

import os
import signal
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

_MARK = "NVDLA_TEST_MARK"
_LISTENS = "0A"


class Mark:
    """An environment variable that tells a test's processes from all others (Linux)."""

    def __init__(self) -> None:
        self._entry = f"{_MARK}={uuid.uuid4().hex}"

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment with the mark."""
        name, _, value = self._entry.partition("=")
        return {**os.environ, name: value}

    def processes(self) -> dict[int, str]:
        """Return the command lines of the marked processes that live, zombies left out, by their ids."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdecimal():
                continue
            with suppress(OSError):
                if self._entry.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                    if command:
                        found[int(folder.name)] = command
        return found

    def end(self, seconds: float = 10.0) -> dict[int, str]:
        """Return the processes that still live after some time for them to end by themselves."""
        until = time.monotonic() + seconds
        while (living := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return living

    def listening(self) -> set[tuple[str, int]]:
        """Return address and port of every TCP socket that a marked process listens on."""
        inodes = {inode for pid in self.processes() for inode in _sockets(pid)}
        return {(host, port) for host, port, inode in _listening() if inode in inodes}

    def kill(self) -> None:
        """Kill what still lives."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def marked() -> Iterator[Mark]:
    """Give a mark, and kill what carries it after the block."""
    mark = Mark()
    try:
        yield mark
    finally:
        mark.kill()


def _sockets(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                target = os.readlink(entry)
                if target.startswith("socket:["):
                    yield target.removeprefix("socket:[").removesuffix("]")


def _listening() -> Iterator[tuple[str, int, str]]:
    """Yield host, port and inode of every socket that listens, see proc_net_tcp of the kernel's documentation."""
    for name in ("tcp", "tcp6"):
        table = Path("/proc/net", name)
        for line in table.read_text(encoding="ascii").splitlines()[1:] if table.is_file() else []:
            words = line.split()
            host, _, port = words[1].partition(":")
            if words[3] == _LISTENS:
                # Each group of four bytes is in the machine's order.
                parts = [bytes.fromhex(host[start : start + 8])[::-1] for start in range(0, len(host), 8)]
                yield str(ip_address(b"".join(parts))), int(port, 16), words[9]
