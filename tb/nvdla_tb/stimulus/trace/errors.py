"""Errors of traces."""

from __future__ import annotations

from pathlib import Path

from nvdla_models.errors import InputError


class TraceError(InputError):
    """A trace that cannot be read or written; the message names the place, the fault and the allowed values."""

    @classmethod
    def at(cls, path: Path, line: int, message: str) -> TraceError:
        """Return the error for a line of a file, as ``file:line: message``."""
        return cls(f"{path}:{line}: {message}")


class TraceUnsupported(TraceError):
    """A sound trace that needs something the configuration lacks: to be counted as refused, not as failed."""
