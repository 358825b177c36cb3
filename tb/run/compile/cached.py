"""Files that a build leaves for later runs, with digests of their content: damaged files are taken for missing."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from tb.run.compile.wrapper import WRAPPER_TOP
from tb.run.space import write_whole

SEAL = "built.json"
_MODELS = (WRAPPER_TOP, "sim.vvp")
"""The file that a simulation runs, of Verilator and of Icarus."""


def seal(directory: Path, key: str) -> None:
    """Note that a build is complete, and what its model holds.

    Args:
        directory: The build folder.
        key: Key of the build's sources.
    """
    write(directory / SEAL, {"key": key, "models": _digests(directory)})


def is_sealed(directory: Path, key: str) -> bool:
    """Return whether a build is complete and its model is what was built.

    Args:
        directory: The build folder, which need not exist.
        key: Key that the build must have.
    """
    return read(directory / SEAL) == {"key": key, "models": _digests(directory)}


def write(path: Path, content: Any) -> None:
    """Write plain data with its digest, whole or not at all."""
    write_whole(path, json.dumps({"content": content, "sha256": _digest(content)}))


def read(path: Path) -> Any | None:
    """Return the content that ``write`` has written, or None for a file that is missing or damaged."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    if not isinstance(stored, dict) or stored.get("sha256") != _digest(stored.get("content")):
        return None
    return stored["content"]


def _digests(directory: Path) -> dict[str, str]:
    found = {}
    for name in _MODELS:
        if (directory / name).is_file():
            with (directory / name).open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
