"""Builds all mutants of a filelist into one model, outside the tree, and plays scenarios until one fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from models.errors import InputError
from tb.run import folders
from tb.run.compile.filelist import FileList
from tb.run.process import threads
from tb.tools.score.catch import Catch
from tb.tools.score.mutate import Mutant, modules_of, visible, without_comments
from tb.tools.score.play import Bench, until_caught
from tb.tools.score.scenarios import Source

_CHOSEN = "nvdla_mutant"
_ENGINES = {
    "sdp": ("sdp",),
    "pdp": ("pdp",),
    "cdp": ("cdp",),
    "conv": ("conv", "cdma", "cbuf", "csc", "cmac", "cacc"),
}
"""First words of scenarios' names, and what is part of the names of modules that they exercise."""


@dataclass(frozen=True)
class MutantResult:
    """What became of a mutant.

    Attributes:
        number: of the mutant, from 1, the value of ``+mutant=``.
        mutant: the mutant.
        played: scenarios that were played.
        catch: how it was caught, None for a survivor.
        seconds: of simulation.
    """

    number: int
    mutant: Mutant
    played: int
    catch: Catch | None
    seconds: float


def play_mutants(
    mutants: Sequence[tuple[int, Mutant]], found: Sequence[Source], bench: Bench, *, seed: int, workers: int
) -> Iterator[MutantResult]:
    """Play mutants, several at a time, and yield what became of each.

    Args:
        mutants: with their numbers in the model.
        found: scenarios; those of the engine that the mutant is in are played first.
        bench: the model that holds all mutants, its configuration, folder and time limit.
        seed: of all data.
        workers: mutants at a time.
    """

    def play(number: int, mutant: Mutant) -> MutantResult:
        folder = folders.made(bench.root, folders.folder_name(f"{number:03}.{mutant.name}"))
        plusargs = (f"+mutant={number}",)
        again = f"{bench.rerun} --number {number}"
        plain = (bench.job(source, seed) for source in likely_first(mutant.module, found))
        jobs = (replace(job, plusargs=plusargs, rerun=again) for job in plain)
        with bench.process(folder, plusargs) as process:
            ended = until_caught(jobs, bench, folder, process)
        return MutantResult(number, mutant, ended.played, ended.catch, ended.seconds)

    with threads(workers) as pool:
        futures = [pool.submit(play, number, mutant) for number, mutant in mutants]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def likely_first(module: str, found: Sequence[Source]) -> list[Source]:
    """Return scenarios, those first that exercise a module by their names."""
    engines = [engine for engine, parts in _ENGINES.items() if any(part in module.lower() for part in parts)]
    return sorted(found, key=lambda source: source.name.split("_")[0] not in engines)


def write_mutants(mutants: Sequence[Mutant], files: FileList, folder: Path) -> Path:
    """Write the sources with all mutants, of which ``+mutant=N`` chooses one, and a filelist that takes them.

    Args:
        mutants: what to change, in the order of their numbers, from 1.
        files: the filelist that they are sources of.
        folder: where to write.

    Returns:
        The filelist.

    Raises:
        InputError: when a mutated file is no source of the filelist.
    """
    by_path: dict[Path, list[tuple[int, Mutant]]] = {}
    for number, mutant in enumerate(mutants, 1):
        by_path.setdefault(mutant.path.resolve(), []).append((number, mutant))
    originals = {path.resolve() for path in files.sources}
    folder.mkdir(parents=True, exist_ok=True)
    changed: dict[Path, Path] = {}
    for path, numbered in by_path.items():
        if path not in originals:
            raise InputError(f"mutants must change sources of the filelist, not {path}")
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        alike = sum(other.name == path.name for other in changed)
        changed[path] = (folder / (str(alike) if alike else "") / path.name).resolve()
        changed[path].parent.mkdir(exist_ok=True)
        changed[path].write_text(switched(text, numbered), encoding="utf-8", errors="surrogateescape")
    include_dirs = dict.fromkeys((*files.include_dirs, *(path.parent for path in changed)))
    lines = [_quoted(f"+incdir+{path}") for path in include_dirs]
    lines += [_quoted(f"+define+{name}={value}") for name, value in files.defines]
    lines += [f"-y {_quoted(path.resolve())}" for path in files.library_dirs]
    lines += [f"+libext+{extension}" for extension in files.library_extensions]
    lines += [f"-v {_quoted(path.resolve())}" for path in files.library_files]
    lines += [_quoted(path.resolve()) for path in files.controls]
    lines += [_quoted(changed.get(path.resolve(), path.resolve())) for path in files.sources]
    filelist = folder / "mutants.f"
    filelist.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return filelist


def _quoted(word: str | Path) -> str:
    """Return a word of a filelist that may hold blanks."""
    escaped = str(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def switched(text: str, mutants: Sequence[tuple[int, Mutant]]) -> str:
    """Return a file's text in which every mutated expression asks which mutant was chosen.

    Args:
        text: of the file.
        mutants: of this file, with their numbers.
    """
    changes: dict[tuple[int, int], str] = {}
    for number, mutant in mutants:
        start, end = mutant.span
        otherwise = changes.get(mutant.span, f"({text[start:end]})")
        changes[mutant.span] = f"(({_CHOSEN} == {number}) ? ({mutant.expression(text)}) : {otherwise})"
    modules = {mutant.module for _, mutant in mutants}
    for name, head, _ in modules_of(visible(without_comments(text))):
        if name in modules:
            changes[head, head] = (
                f' integer {_CHOSEN}; initial if (!$value$plusargs("mutant=%d", {_CHOSEN})) {_CHOSEN} = 0;'
            )
    for (start, end), after in sorted(changes.items(), reverse=True):
        text = text[:start] + after + text[end:]
    return text
