"""Faults of the machine, after which a run says nothing about the RTL."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from nvdla_models.reading import shown
from nvdla_tb.writing import writing

MACHINE = frozenset(
    (
        *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
        *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOLCK, errno.ESTALE),
    )
)
"""Errors of full or failing devices and exhausted limits, which no file is to blame for."""

ENVIRONMENT = MACHINE | {errno.EACCES, errno.EPERM}
"""The same and missing permissions."""

_LEAST_BYTES = 1 << 16


def check_space(folder: Path) -> None:
    """Check, after something has failed, that it had room to write.

    Args:
        folder: Where it wrote; it may have been removed.

    Raises:
        OSError: ENOSPC, when there is hardly any room left.
    """
    while not folder.exists():
        folder = folder.parent
    if shutil.disk_usage(folder).free < _LEAST_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def in_words(error: OSError) -> str:
    """Return an error of the machine as one printable line, with the file that it is about."""
    return shown(f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else error.strerror)


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file by another at once, for good when it returns; when that fails, the old file stays.

    A symbolic link is replaced, not followed; what is no file, such as a pipe, is written to.

    Args:
        path: The file.
        content: Its bytes, or text for UTF-8.

    Raises:
        OSError: with the file's name.
    """
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.{os.getpid()}") if path.is_file() or not path.exists() else path
    with writing(path):
        try:
            with part.open("wb") as file:
                file.write(data)
                if part != path:
                    file.flush()
                    os.fsync(file.fileno())
            if part != path:
                part.replace(path)
                _keep_entries(path.parent)
        except OSError:
            if part != path:
                part.unlink(missing_ok=True)
            raise


def _keep_entries(folder: Path) -> None:
    """Make what was renamed in a folder outlive the machine."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
