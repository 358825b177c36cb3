"""Builds mutants of a filelist, one at a time in a copy outside the tree, and plays scenarios until one fails."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from tb.launch.build import BuildSpec, build, top_ports
from tb.launch.errors import BuildError
from tb.launch.filelist import FileList, parse
from tb.launch.ports import Port
from tb.score.judge import Catch
from tb.score.mutate import Mutant
from tb.score.play import Bench, until_caught
from tb.score.scenarios import Source


@dataclass(frozen=True)
class MutantResult:
    """What became of a mutant.

    Attributes:
        mutant: the mutant.
        catch: how it was caught, None for a survivor.
        refused: why it could not be built, empty when it could.
        played: scenarios that were played.
        build_seconds: of its build.
        seconds: of simulation.
    """

    mutant: Mutant
    catch: Catch | None
    refused: str
    played: int
    build_seconds: float
    seconds: float


def play_mutants(
    mutants: Sequence[Mutant], spec: BuildSpec, found: Sequence[Source], bench: Bench, *, seed: int, workers: int
) -> Iterator[MutantResult]:
    """Build and play mutants, several at a time, and yield what became of each.

    Args:
        mutants: of the sources of the filelist.
        spec: what is mutated; it names a filelist.
        found: scenarios, the first one first.
        bench: configuration, folder and time limit.
        seed: of all data.
        workers: mutants at a time.
    """
    assert spec.filelist is not None
    files = parse(spec.filelist)
    ports = top_ports(spec, bench.built.directory.parent)
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(_play_mutant, mutant, files, ports, spec, found, bench, seed) for mutant in mutants]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def _play_mutant(
    mutant: Mutant,
    files: FileList,
    ports: Sequence[Port],
    spec: BuildSpec,
    found: Sequence[Source],
    bench: Bench,
    seed: int,
) -> MutantResult:
    folder = bench.root / mutant.name
    folder.mkdir(parents=True, exist_ok=True)
    filelist = write_mutant(mutant, files, folder)
    try:
        # A mutant's ports are those of the original: what is declared is never changed.
        built = build(replace(spec, filelist=filelist), folder / "build", ports=ports)
    except BuildError as error:
        return MutantResult(mutant, None, str(error).splitlines()[0], 0, 0.0, 0.0)
    own = replace(bench, built=built)
    played, catch, seconds = until_caught((own.job(source, seed) for source in found), own, folder)
    shutil.rmtree(folder / "build")
    return MutantResult(mutant, catch, "", played, built.seconds, seconds)


def write_mutant(mutant: Mutant, files: FileList, folder: Path) -> Path:
    """Write the mutated file and a filelist that takes it instead of the original.

    Args:
        mutant: what to change.
        files: the filelist that it is a source of.
        folder: where to write.

    Returns:
        The filelist.

    Raises:
        ValueError: when the mutated file is no source of the filelist.
    """
    original = mutant.path.resolve()
    if original not in (path.resolve() for path in files.sources):
        raise ValueError(f"mutant must change a source of the filelist, not {mutant.path}")
    text = original.read_text(encoding="utf-8", errors="surrogateescape")
    changed = folder / original.name
    changed.write_text(mutant.apply(text), encoding="utf-8", errors="surrogateescape")
    sources = [changed.resolve() if path.resolve() == original else path.resolve() for path in files.sources]
    lines = [f"+incdir+{path.resolve()}" for path in (*files.include_dirs, original.parent)]
    lines += [f"+define+{name}={value}" if value else f"+define+{name}" for name, value in files.defines]
    lines += [f"-y {path.resolve()}" for path in files.library_dirs]
    lines += [f"+libext+{extension}" for extension in files.library_extensions]
    lines += [f"-v {path.resolve()}" for path in files.library_files]
    filelist = folder / "mutant.f"
    filelist.write_text("\n".join([*lines, *map(str, sources)]) + "\n", encoding="utf-8")
    return filelist
