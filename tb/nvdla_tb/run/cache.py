"""The cache of built models: outside of all results, shared by checkouts and installations, of limited size.

A model belongs to the content that it was built from, so it serves whoever has the same content; the oldest go when
there are too many.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.reading import read_json
from nvdla_tb.plain_data import converted
from nvdla_tb.run import folders
from nvdla_tb.run.project import results_and_cache
from nvdla_tb.run.space import write_whole

FOLDER, LIMIT = "NVDLA_CACHE", "NVDLA_CACHE_GB"
"""Environment variables: the folder, and its size."""

DEFAULT_GIGABYTES = 20.0
SPARED_SECONDS = 24 * 3600.0
"""A model that was used since may be in use, and is never removed to make room."""

_GIGABYTE = 1e9
_USED = "built.json"
"""The file of a complete model; its time is that of the last use."""


_ABOUT = "about.json"


class About(msgspec.Struct, frozen=True):
    """What a model was built of.

    Attributes:
        config: name or file of the configuration.
        rtl: the user's filelist, None for the embedded DUT.
        kind: the simulator, and in what it differs from its usual model of that RTL, such as ``waves``.
    """

    config: str
    rtl: str | None
    kind: tuple[str, ...] = ()


@dataclass(frozen=True)
class Model:
    """A built model.

    Attributes:
        name: name of its folder.
        nbytes: bytes on the disk.
        about: what it was built of, None when that is not known.
        begun: when it was built, in seconds since 1970.
        used: when it was used last, in seconds since 1970; when it was begun, if it is not complete.
        complete: whether it can be played.
    """

    name: str
    nbytes: int
    about: About | None
    begun: float
    used: float
    complete: bool


def folder(environment: Mapping[str, str], own: Path | None = None) -> Path:
    """Return the folder of built models.

    Args:
        environment: ``NVDLA_CACHE`` names it; else it is ``nvdla-tb`` in the user's folder of caches.
        own: setting of the project file, which the environment overrides.
    """
    if environment.get(FOLDER):
        return Path(environment[FOLDER])
    if own is not None:
        return own
    base = environment.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "nvdla-tb"


MODELS = folder(os.environ, results_and_cache()[1])
"""Where this process finds and builds models."""


def limit_bytes(environment: Mapping[str, str]) -> float:
    """Return how much the cache may hold.

    Raises:
        InputError: when ``NVDLA_CACHE_GB`` is no positive number.
    """
    text = environment.get(LIMIT) or str(DEFAULT_GIGABYTES)
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = 0.0
    if not gigabytes > 0:
        raise InputError(f"{LIMIT} must be a positive number of gigabytes, not {text}")
    return gigabytes * _GIGABYTE


def touch(model: Path) -> None:
    """Note that a model is used now; a cache that is read-only forgets it."""
    with suppress(OSError):
        os.utime(model / _USED)


def models(root: Path) -> list[Model]:
    """Return the content of the cache, the last used first."""
    if not root.is_dir():
        return []
    # A model that another user is building is closed to all others.
    readable = [path for path in root.iterdir() if os.access(path, os.R_OK | os.X_OK)]
    found = [_model(path) for path in readable if (path / folders.MARKER).is_file()]
    return sorted(found, key=lambda model: -model.used)


def remove(root: Path, model: Model) -> bool:
    """Remove a model unless it is being built or another user's, and return whether it is gone."""
    try:
        with folders.alone(root / f"{model.name}.lock", None):
            folders.remove(root, model.name)
    except (BlockingIOError, PermissionError):
        return False
    return True


def make_room(root: Path, limit: float, kept: str) -> list[Model]:
    """Remove the models that nobody has used for longest until the rest fits the limit in bytes, and return them.

    The model of the name ``kept`` stays.
    """
    held = models(root)
    size = sum(model.nbytes for model in held)
    removed = []
    for model in reversed(held):
        if size <= limit:
            break
        if model.name != kept and model.used < time.time() - SPARED_SECONDS and remove(root, model):
            removed.append(model)
            size -= model.nbytes
    return removed


def note_about(model: Path, about: About) -> None:
    """Write down what a model is built of, for ``models``."""
    write_whole(model / _ABOUT, msgspec.json.encode(about).decode())


def _model(path: Path) -> Model:
    complete = (path / _USED).is_file()
    begun = (path / folders.MARKER).stat().st_mtime
    used = (path / _USED).stat().st_mtime if complete else begun
    nbytes = sum(entry.lstat().st_blocks * 512 for entry in path.rglob("*"))
    return Model(path.name, nbytes, _about(path / _ABOUT), begun, used, complete)


def _about(path: Path) -> About | None:
    """Return what a file says that ``note_about`` wrote; None without it, and for one that somebody else wrote."""
    try:
        return converted(read_json(path), About, str(path)) if path.is_file() else None
    except InputError:
        return None
