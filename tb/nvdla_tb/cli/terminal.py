"""The one place through which commands print: whatever names and texts of others hold, a terminal shows, not obeys."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import IO, TextIO

_HARMLESS = "\n\t"


class PrintableStream(io.TextIOBase):
    r"""A stream that escapes what a terminal would obey; only line breaks and tabs stay.

    ::

        print("a\x1b[2Jb", file=PrintableStream(sys.stdout))      # shows a\x1b[2Jb

    Attributes:
        beneath: The stream that takes control sequences of the bench's own.
    """

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream beneath."""
        return self.beneath.encoding

    def write(self, text: str) -> int:
        """Write text, and return its length."""
        self.beneath.write(escaped(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream beneath."""
        self.beneath.flush()

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self.beneath.isatty()

    def fileno(self) -> int:
        """Return the number of the file beneath."""
        return self.beneath.fileno()


def escaped(text: str) -> str:
    """Return text with escapes for what is not printable, but for line breaks and tabs."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _HARMLESS else ascii(c)[1:-1] for c in text)


def beneath(stream: IO[str]) -> IO[str]:
    """Return the stream that takes control sequences."""
    return stream.beneath if isinstance(stream, PrintableStream) else stream


@contextmanager
def printable_output() -> Iterator[None]:
    """Let all that is printed in the block, errors included, pass a ``PrintableStream``."""
    with redirect_stdout(PrintableStream(sys.stdout)), redirect_stderr(PrintableStream(sys.stderr)):
        yield
