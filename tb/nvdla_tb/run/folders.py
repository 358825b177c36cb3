"""Folders that the testbench makes: how they are named, and the one place that removes any.

A name from outside (of a test, a plan, a configuration) never becomes a path: ``folder_name`` makes a folder's name of
it. Below the results folder every folder that may ever be emptied holds ``MARKER``; whatever lacks it is somebody
else's and stays.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.project import results_and_cache

MARKER = ".nvdla-testbench"
"""File in every folder that was made here."""

_MARK = "The testbench made this folder and may empty it.\n"
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,119}")
_DIGESTED = re.compile(r".*-[0-9a-f]{32}", re.DOTALL)
_PART = re.compile(r"[A-Za-z0-9_.-]{1,200}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_SLUG_CHARACTERS = 60

_NO_FILE = frozenset((errno.ELOOP, errno.EISDIR, errno.ENXIO))
"""What ``open(2)`` says of a symbolic link, a folder, and a socket."""


class FolderError(LaunchError):
    """A folder that is not the testbench's to use or to empty; the message says why, and what to do."""


def results(environment: Mapping[str, str], own: Path | None = None) -> Path:
    """Return the folder of results.

    Args:
        environment: ``NVDLA_RESULTS`` names it; else it is ``sim_build`` below the current folder.
        own: setting of the project file, which the environment overrides.
    """
    given = environment.get("NVDLA_RESULTS")
    if given or own is None:
        return Path(given or "sim_build")
    return own.relative_to(Path.cwd()) if own.is_relative_to(Path.cwd()) else own


RESULTS = results(os.environ, results_and_cache()[0])


def folder_name(name: str) -> str:
    """Return the name of the folder that belongs to a name from outside.

    A plain name in lower case stays. Any other becomes what is readable of it, and a digest that tells it apart from
    all others, also where capitals do not count.
    """
    plain = _PLAIN.fullmatch(name) and not _DIGESTED.fullmatch(name) and not _RESERVED.fullmatch(name)
    if plain and not name.endswith("."):
        return name
    slug = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).lstrip(".-")[:_SLUG_CHARACTERS]
    digest = hashlib.sha256(name.encode("utf-8", errors="surrogatepass")).hexdigest()[:32]
    return f"_{slug}-{digest}"


def place(root: Path, *parts: str) -> Path:
    """Return the path of a folder below ``root``, which need not exist.

    Args:
        root: A folder of results, which may be a symbolic link.
        parts: Names of folders, one in the other.

    Raises:
        FolderError: when a part is no plain name, or anything but a folder lies there, such as a symbolic link.
    """
    folder = root
    for part in parts:
        if part in (".", "..") or not _PART.fullmatch(part):
            raise FolderError(f"a folder below {root} must be letters, digits, _, - and ., not {part!r}")
        folder /= part
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise FolderError(f"{folder} must be a folder, not a symbolic link or a file: remove it")
    return folder


def made(root: Path, *parts: str) -> Path:
    """Return a folder below ``root`` as ``place`` does, and make it when it is missing; what it holds stays.

    Raises:
        FolderError: as ``place``, and when it cannot be made.
    """
    folder = place(root, *parts)
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        for depth in range(len(parts) + 1):
            _make(root.joinpath(*parts[:depth]))
    except OSError as error:
        raise FolderError(f"{folder} cannot be made: {error.strerror}") from error
    return folder


def emptied(root: Path, *parts: str) -> Path:
    """Return a folder below ``root`` as ``made`` does, without what an earlier run has left in it.

    Raises:
        FolderError: as ``made``, and for a folder that the testbench has not made.
    """
    folder = made(root, *parts)
    _clear(folder)
    return folder


def remove(root: Path, *parts: str) -> None:
    """Remove a folder below ``root``, if it is there.

    Raises:
        FolderError: as ``place``, and for a folder that the testbench has not made.
    """
    folder = place(root, *parts)
    if folder.is_dir():
        _clear(folder)
        (folder / MARKER).unlink(missing_ok=True)
        folder.rmdir()


def empty_results(root: Path, kept: Collection[str] = ()) -> None:
    """Remove what lies in a results folder, if there is one, but for the folders that are kept.

    Raises:
        FolderError: for a folder that the testbench has not made.
    """
    if root.is_dir():
        _clear(root, kept)


def check_new(folder: Path) -> None:
    """Make a folder when it is missing, and check that nothing is in it.

    Raises:
        FolderError: when something is.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _make(folder)
    if any(entry.name != MARKER for entry in folder.iterdir()):
        raise FolderError(f"{folder} must be empty")


@contextmanager
def alone(lock: Path, wait: Callable[[], object] | None) -> Iterator[None]:
    """Hold the lock of a file for the time of the block; ``wait`` is called when another process has it.

    Raises:
        BlockingIOError: when another process has it, and nobody waits.
        FolderError: when anything but a file lies there, such as a symbolic link: it is neither followed nor emptied.
    """
    try:
        number = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise FolderError(f"{lock} must be a file, not a symbolic link or a folder: remove it") from error
        raise
    with os.fdopen(number, "rb+", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise FolderError(f"{lock} must be a file, not a FIFO or a device: remove it")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if wait is None:
                raise
            wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_held(lock: Path) -> bool:
    """Return whether a process holds the lock of a file; it does not where there is no file, or files have no locks."""
    try:
        number = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(number, "rb", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


def _make(folder: Path) -> None:
    """Make a folder, and mark one that is new or empty: a run may have been killed before it could."""
    folder.mkdir(exist_ok=True)
    if not any(folder.iterdir()):
        (folder / MARKER).write_text(_MARK, encoding="utf-8")


def _clear(folder: Path, kept: Collection[str] = ()) -> None:
    """Remove what a folder holds besides its marker, which shows to the end whose it is."""
    marker = folder / MARKER
    entries = [entry for entry in folder.iterdir() if entry != marker and entry.name not in kept]
    if entries and (marker.is_symlink() or not marker.is_file()):
        raise FolderError(f"{folder} lacks {MARKER}, so the testbench did not make it and does not empty it: remove it")
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def failure_folder(run_folder: Path, key: str) -> Path:
    """Return the folder that the failure of a test is left in, below that of its run."""
    return run_folder / folder_name(key)
