"""Refusals of reading and playing networks."""

from __future__ import annotations

from pathlib import Path

from models.errors import InputError


class NetworkError(InputError):
    """A network, image or result that cannot be read or played; the message names the part, the rule and the value."""


def read_file(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a file.

    Raises:
        NetworkError: when it cannot be read, or is larger than that.
    """
    try:
        size = path.stat().st_size
        if size > most_bytes:
            raise NetworkError(f"{path} must have at most {most_bytes} bytes, not {size}")
        return path.read_bytes()
    except OSError as error:
        raise NetworkError(f"{path} must be a file that can be read: {error.strerror}") from error
