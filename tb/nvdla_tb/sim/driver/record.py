"""What a driver did last: in a finding, and in a file that is still there when the driver takes the process with it."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

from nvdla_tb.stimulus.exchange import LAST_ACCESSES

_FILE_BYTES = 1 << 20


class Record:
    """The last accesses of a driver, equal ones that follow each other as one."""

    def __init__(self, path: Path | None) -> None:
        """Start without any; with a path, each is in that file before it is carried out."""
        self._lines: deque[tuple[str, int]] = deque(maxlen=LAST_ACCESSES)
        self._file = None if path is None else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        self._nbytes = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The last ones, the newest at the end."""
        return tuple(f"{text}, {count} times" if count > 1 else text for text, count in tuple(self._lines))

    def add(self, text: str) -> None:
        """Take an access that is about to begin."""
        self._put(f"\n{text}")
        self._append(text)

    def answer(self, text: str) -> None:
        """Take the answer to the last one."""
        self._put(f": {text}")
        asked, count = self._lines.pop()
        if count > 1:
            self._lines.append((asked, count - 1))
        self._append(f"{asked}: {text}")

    def _append(self, text: str) -> None:
        if self._lines and self._lines[-1][0] == text:
            text, count = self._lines.pop()
            self._lines.append((text, count + 1))
        else:
            self._lines.append((text, 1))

    def _put(self, text: str) -> None:
        if self._file is None:
            return
        if self._nbytes > _FILE_BYTES:
            # An endless loop must not fill the disk.
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            self._nbytes = 0
            text = "\n".join(self.lines) + text
        self._nbytes += os.write(self._file, text.encode())
