"""Errors between a filelist and a running simulation."""

from __future__ import annotations

from pathlib import Path

from models.errors import InputError


class LaunchError(InputError):
    """Something the user gave cannot be built or run; the message says what and why."""


class FileListError(LaunchError):
    """A filelist that cannot be read; the message begins with file and line."""


class PortError(LaunchError):
    """The RTL's top ports differ from the configuration's; the message lists every difference."""


class ToolError(LaunchError):
    """A tool is missing; the message says how to install it."""


class BuildError(LaunchError):
    """A tool refused the RTL; the message ends with the relevant lines of its log.

    Attributes:
        log_path: The complete log, or None when no tool was started.
    """

    def __init__(self, message: str, log_path: Path | None = None) -> None:
        super().__init__(message)
        self.log_path = log_path
