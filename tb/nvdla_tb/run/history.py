"""The history of RTL, in a copy that executes nothing of its repository: no hook, filter or monitor."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import shown

_PATIENCE_SECONDS = 600.0
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never")
_SKIP, _STOP = 125, 128
"""Exit codes that ``git bisect run`` reads: this commit says nothing; and, from there on, stop."""


@dataclass(frozen=True)
class History:
    """A copy of a repository, with a work tree and settings of its own.

    ::

        history = History.of(Path("rtl/my_filelist.f"), empty_folder)
        history.search(history.commit("v1"), history.commit("HEAD"), ["make", "test"])

    Attributes:
        folder: The work tree of the copy. Commands run in its place of the current folder, from where filelists count;
            in the current folder itself, when that lies outside of the repository.
        below: The folder of the RTL in it.
        origin: The top of the repository.
    """

    folder: Path
    below: Path
    origin: Path

    @classmethod
    def of(cls, rtl: Path, folder: Path) -> History:
        """Copy the repository that a file of RTL lies in to an empty folder; its objects are shared.

        Raises:
            InputError: for a file that lies in no repository, and for one that git cannot copy.
        """
        top = _git(rtl.parent, "rev-parse", "--show-toplevel")
        if top is None:
            raise InputError(f"the RTL must lie in a repository of git, not {shown(rtl)}")
        origin = Path(top)
        # Filters of a commit's attributes run only where the settings name them: the copy's and the user's own do.
        copied = _git(folder, "clone", "--quiet", "--shared", "--no-checkout", "--template=", "--", top, "tree")
        if copied is None:
            raise InputError(f"git cannot copy {shown(origin)}")
        return cls(folder.absolute() / "tree", rtl.parent.relative_to(origin), origin)

    def commit(self, name: str) -> str:
        """Return the hash of a commit that the repository knows by a name.

        Raises:
            InputError: when it knows none.
        """
        found = None if name.startswith("-") else _git(self.origin, "rev-parse", "--verify", f"{name}^{{commit}}")
        if found is None:
            raise InputError(f"a commit must be one of {shown(self.origin)}, not {shown(name)}")
        return found

    @property
    def _here(self) -> Path:
        here = Path.cwd()
        return self.folder / here.relative_to(self.origin) if here.is_relative_to(self.origin) else here

    def play(self, commit: str, command: Sequence[str]) -> tuple[int, str]:
        """Return the exit code of a command with a commit checked out, and the last line of what it says of errors."""
        _git(self.folder, "checkout", "--quiet", "--force", "--detach", commit)
        if not self._here.is_dir():
            return _SKIP, f"the commit has no folder {shown(self._here)}"
        ran = subprocess.run(command, cwd=self._here, capture_output=True, text=True, errors="replace", check=False)
        return ran.returncode, next(iter(ran.stderr.strip().splitlines()[-1:]), "")

    def search(self, good: str, bad: str, command: Sequence[str]) -> str | None:
        """Return the first commit from which on a command ends with 1, None when commits between could not be played.

        Args:
            good: Commit on which it ends with 0.
            bad: Later commit on which it ends with 1.
            command: The command; other exit codes mean that it could not be played.
        """
        if _git(self.folder, "bisect", "start", bad, good) is None:
            return None
        here = shlex.join(["cd", str(self._here)])
        judge = f"[ $code -le 1 ] || [ $code -ge {_STOP} ] || code={_SKIP}"
        script = f"{here} || exit {_SKIP}; {shlex.join(command)} >/dev/null 2>&1; code=$?; {judge}; exit $code"
        ended = _git(self.folder, "bisect", "run", "sh", "-c", script, patience=None)
        return None if ended is None else _git(self.folder, "rev-parse", "refs/bisect/bad")

    def describe(self, commit: str) -> str:
        """Return hash, date, author and subject of a commit."""
        return _git(self.folder, "log", "-1", "--format=%H %as %an: %s", commit) or commit


def _git(folder: Path, *words: str, patience: float | None = _PATIENCE_SECONDS) -> str | None:
    """Return what git prints, None when it fails."""
    command = ["git", "-C", str(folder), *_SAFE, *words]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=patience)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None
