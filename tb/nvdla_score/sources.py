"""Writes the sources of a design with all mutants in them, of which ``+mutant=N`` chooses one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_score.mutate import Mutant, modules_of, visible, without_comments
from nvdla_score.yosys import read_source, write_source
from nvdla_tb.run.compile.filelist import FileList

_CHOSEN = "nvdla_mutant"
_NOTES = Path(__file__).with_name("reached.cpp")


@dataclass(frozen=True)
class Choice:
    """The way in which a source asks whether a mutant was chosen.

    Attributes:
        declared: from the numbers of a module's mutants to what the module declares.
        asked: from the number of a mutant, and three expressions with commas between, to the condition: one that is
            true where it differs, the original's value, and its own.
    """

    declared: Callable[[Sequence[int]], str]
    asked: Callable[[int, str], str]


PLUSARG = Choice(
    lambda _: f' integer {_CHOSEN}; initial if (!$value$plusargs("mutant=%d", {_CHOSEN})) {_CHOSEN} = 0;',
    lambda number, _: f"({_CHOSEN} == {number})",
)
"""A plusarg, in any simulator."""

NOTED = Choice(
    lambda _: (
        f' import "DPI-C" function bit {_CHOSEN}'
        "(input int number, input bit differs, input longint original, input longint other);"
    ),
    lambda number, values: f"{_CHOSEN}({number}, {values})",
)
"""A plusarg, in a model that notes as well which mutants would have made a difference, how often and between what."""


def write_mutants(
    mutants: Sequence[Mutant], files: FileList, folder: Path, *, read: Sequence[Path] = (), notes: bool = False
) -> Path:
    """Write the sources with all mutants, of which ``+mutant=N`` chooses one, and a filelist that takes them.

    Args:
        mutants: what to change, in the order of their numbers, from 1.
        files: the filelist that they are sources of.
        folder: where to write.
        read: files that the design takes from its libraries; those that are changed become sources.
        notes: whether the model shall note which mutants make a difference, as Verilator's can.

    Returns:
        The filelist.

    Raises:
        InputError: when a mutated file is neither a source of the filelist nor read.
    """
    by_path: dict[Path, list[tuple[int, Mutant]]] = {}
    for number, mutant in enumerate(mutants, 1):
        by_path.setdefault(mutant.path.resolve(), []).append((number, mutant))
    sources = {path.resolve() for path in files.sources}
    library = {path.resolve() for path in read} - sources
    folder.mkdir(parents=True, exist_ok=True)
    changed: dict[Path, Path] = {}
    for path, numbered in by_path.items():
        if path not in sources | library:
            raise InputError(f"mutants must change sources of the filelist, not {path}")
        alike = sum(other.name == path.name for other in changed)
        changed[path] = (folder / (str(alike) if alike else "") / path.name).resolve()
        changed[path].parent.mkdir(exist_ok=True)
        write_source(changed[path], switched(read_source(path), numbered, NOTED if notes else PLUSARG))
    added = [path for path in changed if path in library]
    kept = [path for path in files.library_files if path.resolve() not in changed]
    taken = replace(files, sources=(*files.sources, *added), library_files=tuple(kept))
    filelist = folder / "mutants.f"
    lines = filelist_lines(taken, changed)
    if notes:
        lines.append(_quoted(Path(shutil.copy(_NOTES, folder)).resolve()))
    filelist.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return filelist


def filelist_lines(files: FileList, changed: dict[Path, Path]) -> list[str]:
    """Return the lines of a filelist in which other files stand for some, by their resolved path."""
    include_dirs = dict.fromkeys((*files.include_dirs, *(path.parent for path in changed)))
    lines = [_quoted(f"+incdir+{path}") for path in include_dirs]
    lines += [_quoted(f"+define+{name}={value}") for name, value in files.defines]
    lines += [f"-y {_quoted(path.resolve())}" for path in files.library_dirs]
    lines += [f"+libext+{extension}" for extension in files.library_extensions]
    lines += [f"-v {_quoted(path.resolve())}" for path in files.library_files]
    lines += [_quoted(path.resolve()) for path in files.controls]
    return [*lines, *(_quoted(changed.get(path.resolve(), path.resolve())) for path in files.sources)]


def _quoted(word: str | Path) -> str:
    """Return a word of a filelist that may hold blanks."""
    escaped = str(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def switched(text: str, mutants: Sequence[tuple[int, Mutant]], choice: Choice) -> str:
    """Return a file's text in which every expression that a mutant changes asks which one was chosen."""
    changes: dict[tuple[int, int], str] = {}
    for number, mutant in mutants:
        start, end = mutant.span
        original, other = text[start:end], mutant.expression(text)
        otherwise = changes.get(mutant.span, f"({original})")
        # Bits that an assignment would keep count, too; which are signed stays as it is.
        values = [f"(({each}) + 64'sd0)" for each in (original, other)]
        asked = choice.asked(number, ", ".join([" != ".join(values), *values]))
        changes[mutant.span] = f"({asked} ? ({other}) : {otherwise})"
    for name, head, _ in modules_of(visible(without_comments(text))) if mutants else ():
        numbers = [number for number, mutant in mutants if mutant.module == name]
        if numbers:
            changes[head, head] = choice.declared(numbers)
    for (start, end), after in sorted(changes.items(), reverse=True):
        text = text[:start] + after + text[end:]
    return text
