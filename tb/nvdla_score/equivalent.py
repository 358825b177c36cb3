"""Proves that a mutant cannot be told from the original: Yosys reads both, ABC compares them.

The mutated module is compared with all modules below it, then the module around it, as long as there is only one and
time is left. Both versions get the same inputs, which are free, and must give the same outputs in every cycle from
registers that hold 0. ABC merges registers and nodes that induction proves equal, and looks for an invariant for the
rest. All clocks count as one, so nothing is proved where a clock passes logic.

Source: Yosys, documentation of ``miter`` and ``write_aiger``; ABC, help of ``lcorr``, ``scorr`` and ``pdr``.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path

import msgspec

from nvdla_score.instantiated import Design
from nvdla_score.mutate import Mutant
from nvdla_score.yosys import MODULE, PACKAGE, read_command, read_source, write_copies, write_source, yosys
from nvdla_tb.run import folders
from nvdla_tb.run.compile.filelist import FileList

_ERROR = re.compile(r"^(?:\S+:\d+: )?ERROR: (.*)$", re.MULTILINE)
_STATUS = re.compile(r"^Status =\s*(-?\d)", re.MULTILINE)
_GATED = "Assertion failed"
_SCRIPT, _MITER = "prove.ys", "miter.aig"
_COPY = "design.v"
_ABC = ("yosys-abc", "berkeley-abc")
_PROOF = f"read_aiger {_MITER}; strash; lcorr; scorr -C 100; scorr -C 1000; pdr -T {{seconds}}; print_status"
_TRACE = re.compile(r"asserted in frame (\d+)")


class Outcome(Enum):
    """How a proof ended."""

    EQUAL = "proved equivalent"
    OPEN = "not proved"
    TIME = "not proved in time"
    UNREAD = "Yosys cannot read it"
    ABSENT = "a program is not installed"


class Proof(msgspec.Struct, frozen=True):
    """The outcome of a proof.

    Attributes:
        outcome: how it ended.
        detail: the module whose outputs were compared, or what Yosys says when it could not try.
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


UNSEEN = Proof(Outcome.EQUAL, "no output of the design depends on it")
"""What follows for a mutant outside the cone of influence of the outputs."""

UNTESTED = Proof(Outcome.EQUAL, "in this build alone, in which the clock gates that it acts on are wires")
"""What follows for one outside the cone that could stop a clock in another build."""


def abc() -> Path | None:
    """Return ABC by one of the names under which it is installed, None when it is not on the path."""
    found = next(filter(None, map(shutil.which, _ABC)), None)
    return None if found is None else Path(found)


class Prover:
    """Proves mutants of one design."""

    def __init__(self, files: FileList, design: Design, folder: Path, seconds: float) -> None:
        """Remember the design; scripts and logs of each mutant get a folder, and its proof so many seconds."""
        self._files, self._folder, self._seconds = files, folder, seconds
        self._parametrised, self._parents = design.parametrised, design.parents
        self._texts = {path: read_source(path) for path in design.files}
        self._homes: dict[str, Path] = {}
        for path, text in sorted(self._texts.items()):
            for name in MODULE.findall(text):
                self._homes.setdefault(name, path)

    def prove(self, mutant: Mutant) -> Proof:
        """Return whether a mutant is equivalent, as far as can be said in time."""
        programs = yosys(), abc()
        if programs[0] is None:
            return Proof(Outcome.ABSENT, f"pip install {PACKAGE}")
        if programs[1] is None:
            return Proof(Outcome.ABSENT, f"{' or '.join(_ABC)}, as of the package berkeley-abc")
        folder = folders.emptied(self._folder, folders.folder_name(mutant.name))
        end = time.monotonic() + self._seconds
        proof = Proof(Outcome.OPEN, "the module has parameters, whose values the proof does not know")
        for top in self._scopes(mutant.module):
            work = folders.made(folder, top)
            try:
                found = self._compare(mutant, top, work, programs[0], programs[1], end)
            except subprocess.TimeoutExpired:
                found = Proof(Outcome.TIME, f"{self._seconds:g} s")
            if found.outcome is not Outcome.OPEN:
                return found
            proof = found
        return proof

    def _scopes(self, module: str) -> Iterator[str]:
        """Yield the modules whose outputs are compared, each around the one before; never the whole design."""
        if module not in self._parametrised:
            yield module
        while len(around := self._parents.get(module, frozenset())) == 1:
            (module,) = around
            if module in self._parents and module not in self._parametrised:
                yield module

    def _compare(self, mutant: Mutant, top: str, folder: Path, yosys: Path, abc: Path, end: float) -> Proof:
        """Compare both versions of a module.

        Raises:
            subprocess.TimeoutExpired: when the time is over.
        """
        self._write(mutant, top, folder)
        ended = _run([str(yosys), "-q", "-l", "yosys.log", "-s", _SCRIPT], folder, end)
        said = ended.stdout + ended.stderr
        if ended.returncode != 0 and _GATED in said:
            return Proof(Outcome.OPEN, f"clocks of {top} pass logic")
        if ended.returncode != 0:
            errors = _ERROR.findall(said) or said.strip().splitlines()[-1:] or [f"exit code {ended.returncode}"]
            return Proof(Outcome.UNREAD, errors[0])
        left = max(1, int(end - time.monotonic()))
        said = _run([str(abc), "-c", _PROOF.format(seconds=left)], folder, end).stdout
        status = _STATUS.search(said)
        if status is not None and status[1] == "1":
            return Proof(Outcome.EQUAL, f"outputs of {top}")
        cycles = _TRACE.search(said)
        differs = "" if cycles is None else f" differ after {cycles[1]} cycles of some inputs"
        return Proof(Outcome.OPEN, f"outputs of {top}{differs}")

    def _write(self, mutant: Mutant, top: str, folder: Path) -> None:
        """Write both versions of a module, what is below it, and the script."""
        text = self._texts.get(mutant.path) or read_source(mutant.path)
        start, end = mutant.span
        versions = {"gold": text, "gate": text[:start] + mutant.expression(text) + text[end:]}
        for name, version in versions.items():
            write_source(folders.made(folder, name) / _COPY, version)
        homes = {self._homes[name].resolve() for name in self._below(top)} - {mutant.path.resolve()}
        used = {path: text for path, text in self._texts.items() if path.resolve() in homes or not MODULE.search(text)}
        script = self._script(top, write_copies(used, folder))
        (folder / _SCRIPT).write_text("\n".join(script) + "\n", encoding="utf-8")

    def _below(self, top: str) -> set[str]:
        """Return the names of a module and of all modules below it."""
        found = {top}
        while more := {name for name, around in self._parents.items() if around & found} - found:
            found |= more
        return found & self._homes.keys()

    def _script(self, top: str, beside: Sequence[str]) -> Iterator[str]:
        for version in ("gold", "gate"):
            yield from (read_command(self._files, name) for name in (f"{version}/{_COPY}", *beside))
            yield from (f"hierarchy -check -top {top}", "proc", "flatten", "opt_expr", "opt_clean", "memory_map")
            yield from ("opt_expr", "opt_clean", "select -set clocks t:$*dff* %ci1:+[CLK] t:$*dff* %d")
            yield from ("select -assert-none @clocks %ci1 @clocks %d", "async2sync", "dffunmap", "opt_expr")
            yield from ("opt_clean", f"rename {top} {version}", f"design -stash {version}", "design -reset")
        yield from (f"design -copy-from {version} -as {version} {version}" for version in ("gold", "gate"))
        yield from ("zinit -all gold gate", "miter -equiv -flatten gold gate miter", "hierarchy -top miter")
        yield from ("opt_clean", "setundef -zero", "techmap", "opt_expr", "aigmap", "opt_clean")
        yield f"write_aiger -zinit {_MITER}"


def _run(command: Sequence[str], folder: Path, end: float) -> subprocess.CompletedProcess[str]:
    """Run a program until a time of the monotonic clock."""
    left = end - time.monotonic()
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=max(left, 0))
