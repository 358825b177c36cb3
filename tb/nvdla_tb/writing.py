"""Writing files: an error says which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file in the errors of the block, which writes it: of a full disk, the system says no name.

    Raises:
        OSError: what the block has raised, with the file's name.
    """
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
