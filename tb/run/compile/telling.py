"""Messages of a build while it works: its steps, how far each is, and where its log lies."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from tb.run.compile.toolchain import tool_environment


class Teller(Protocol):
    """Whoever wants to hear of it."""

    def say(self, text: str) -> None:
        """Take what is worth a line."""

    def progress(self, text: str) -> None:
        """Take how far it is, which replaces what was said before."""


class _Silent:
    """Tells nobody."""

    def say(self, text: str) -> None:
        """Drop it."""

    progress = say


SILENT = _Silent()


def step_of(command: Sequence[str], directory: Path, teller: Teller) -> Callable[[], None]:
    """Return the function to call now and then while a command of a build runs.

    Args:
        command: The command.
        directory: The build folder, which it works in.
        teller: Who hears of it.
    """
    started = time.monotonic()
    is_make = command[0] == "make"
    total = _files_of(command, directory) if is_make else 0
    if total:
        teller.say(f"compiling {total} files")

    def look() -> None:
        what = "compiling" if is_make else "translating"
        if is_make:
            done = sum(1 for _ in directory.rglob("*.o"))
            what = f"compiling: {min(done, total) if total else done}{f' of {total}' if total else ''} files"
        teller.progress(f"{what}, {time.monotonic() - started:.0f} s")

    return look


def _files_of(command: Sequence[str], directory: Path) -> int:
    """Return how many files make compiles, 0 for blocks whose makefiles are written on the way."""
    if "Vtop_hier.mk" in command:
        return 0
    dry = [*command, "--dry-run"]
    ran = subprocess.run(dry, cwd=directory, env=tool_environment(), capture_output=True, text=True, check=False)
    return sum(" -c " in line for line in ran.stdout.splitlines())
