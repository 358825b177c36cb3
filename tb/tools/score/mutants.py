"""Plays mutants on the scenarios that reach them until one fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace

from tb.run import folders
from tb.run.process import threads
from tb.tools.score.catch import Catch
from tb.tools.score.equivalent import Proof
from tb.tools.score.mutate import Mutant
from tb.tools.score.play import Bench, until_caught
from tb.tools.score.reach import Case, Reached, worth_playing

ENGINES = {
    "sdp": ("sdp",),
    "pdp": ("pdp",),
    "cdp": ("cdp",),
    "conv": ("conv", "cdma", "cbuf", "csc", "cmac", "cacc"),
}
"""First words of scenarios' names, and what is part of the names of modules that they exercise."""

_CONTROL = ("_reg", "regfile", "csb", "glb", "intr")


@dataclass(frozen=True)
class MutantResult:
    """The outcome of a mutant.

    Attributes:
        number: number of the mutant, from 1, the value of ``+mutant=``.
        mutant: the mutant.
        played: scenarios that were played.
        reaching: scenarios in which the change makes a difference where it stands.
        catch: how it was caught, None for a survivor.
        seconds: seconds of simulation.
        proof: whether a survivor was proved to be equivalent, None when nobody asked.
    """

    number: int
    mutant: Mutant
    played: int
    reaching: int
    catch: Catch | None
    seconds: float
    proof: Proof | None = None

    @property
    def equivalent(self) -> bool:
        """Whether it was proved that nothing can tell it from the original."""
        return self.catch is None and self.proof is not None and self.proof.equal

    @property
    def reason(self) -> str:
        """Why it survived, as far as is known."""
        why = "" if self.proof is None else f"; {self.proof}"
        if self.reaching == 0:
            return f"never reached: what it changes has the same value in all scenarios{why}"
        return f"reached by {self.reaching} scenarios, played on {self.played}, nothing seen{why}"


def likely(module: str) -> list[str]:
    """Return first words of the names of the scenarios that exercise a module."""
    found = [engine for engine, parts in ENGINES.items() if any(part in module.lower() for part in parts)]
    return [*found, "score"] if any(part in module.lower() for part in _CONTROL) else found


def play_mutants(
    mutants: Sequence[tuple[int, Mutant]],
    cases: Sequence[tuple[Case, Reached]],
    bench: Bench,
    *,
    workers: int,
    most: int,
) -> Iterator[MutantResult]:
    """Play mutants, several at a time, and yield what became of each.

    Args:
        mutants: with their numbers in the model.
        cases: scenarios, and which mutants they reach.
        bench: the model that holds all mutants, its configuration, folder and time limit.
        workers: mutants at a time.
        most: scenarios to play for one mutant at most.
    """

    def play(number: int, mutant: Mutant) -> MutantResult:
        folder = folders.made(bench.root, folders.folder_name(f"{number:03}.{mutant.name}"))
        plusargs = (f"+mutant={number}",)
        again = f"{bench.rerun} --number {number}"
        chosen, reaching = worth_playing(cases, number, likely(mutant.module), most)
        plain = (bench.job(case.source, case.seed) for case in chosen)
        jobs = (replace(job, plusargs=plusargs, rerun=again) for job in plain)
        with bench.process(folder, plusargs) as process:
            ended = until_caught(jobs, bench, folder, process)
        return MutantResult(number, mutant, ended.played, reaching, ended.catch, ended.seconds)

    with threads(workers) as pool:
        futures = [pool.submit(play, number, mutant) for number, mutant in mutants]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
