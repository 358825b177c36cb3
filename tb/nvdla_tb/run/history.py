"""The history of RTL, in a copy that executes nothing of its repository: no hook, filter or monitor."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import shown

_PATIENCE_SECONDS = 600.0
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never")
_SKIP, _STOP = 125, 128
"""Exit codes as ``git bisect run`` reads them: this commit says nothing; and, from there on, stop."""

_VERDICTS = {0: "good", 1: "bad"}
"""What git is told of exit codes."""


@dataclass(frozen=True)
class History:
    """A copy of a repository, with a work tree and settings of its own.

    ::

        history = History.of(Path("rtl/my_filelist.f"), empty_folder)
        good, bad = history.commit("v1"), history.commit("HEAD")
        history.search(good, bad, lambda commit, *_: history.play(commit, ["make", "test"])[0])

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

    def search(self, good: str, bad: str, play: Callable[[str, int, int], int]) -> str | None:
        """Return the first commit that is bad, None when commits between could not be played.

        Args:
            good: Commit that is good.
            bad: Later commit that is bad.
            play: Plays a commit, and is told the number of the step, from 1 on, and about how many are left after it.
                It returns 0 for a good commit and 1 for a bad one, from 2 on that it could not be played, and from 128
                on, or below 0, that nothing is to be played any more.
        """
        found = _git(self.folder, "bisect", "start", bad, good)
        step = 0
        while found is not None:
            facts = _git(self.folder, "rev-list", "--bisect-vars", "--bisect") or ""
            between, steps = (_number(facts, name) for name in ("bisect_all", "bisect_steps"))
            if between <= 1:
                return _git(self.folder, "rev-parse", "refs/bisect/bad")
            step += 1
            commit = _git(self.folder, "rev-parse", "HEAD") or ""
            code = play(commit, step, steps)
            if not 0 <= code < _STOP:
                return None
            found = _git(self.folder, "bisect", _VERDICTS.get(code, "skip"), commit)
        return None

    def subject(self, commit: str) -> str:
        """Return the first digits and the subject of a commit."""
        return _git(self.folder, "log", "-1", "--format=%h (%s)", commit) or commit

    def describe(self, commit: str) -> str:
        """Return hash, date, author and subject of a commit."""
        return _git(self.folder, "log", "-1", "--format=%H %as %an: %s", commit) or commit


def _number(facts: str, name: str) -> int:
    """Return one of the numbers that git prints as assignments for a shell, 0 when it is not there."""
    found = re.search(rf"^{name}=(\d+)$", facts, re.MULTILINE)
    return int(found[1]) if found else 0


def _git(folder: Path, *words: str) -> str | None:
    """Return what git prints, None when it fails."""
    command = ["git", "-C", str(folder), *_SAFE, *words]
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=_PATIENCE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None
