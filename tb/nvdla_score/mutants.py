"""Plays mutants on the scenarios that reach them until one fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from nvdla_score.equivalent import Proof
from nvdla_score.journal import Catch, Played
from nvdla_score.mutate import Mutant
from nvdla_score.play import Bench, until_caught
from nvdla_score.reach import Case, Reached, worth_playing
from nvdla_score.units import Naming, naming
from nvdla_tb.counting import counted
from nvdla_tb.explain.units import Unit
from nvdla_tb.run import folders
from nvdla_tb.run.process import as_ended

_CONV = ("conv", "fc", "stream", "batch")
_CONTROL = ("registers", "register", "groups", "interrupts", "units", "illegal", "reset")
_MEMORY = ("pressure", "memory", "slow", "stalls", "border", "long")
EXERCISES = {
    "sdp": ("sdp", "add"),
    "pdp": ("pdp", "max", "average"),
    "cdp": ("cdp",),
    **dict.fromkeys(("conv", "cdma", "cbuf", "csc", "cmac", "cacc"), _CONV),
    "img": ("image", "images"),
    "cvt": ("converter", "converters", "image", "images"),
    **dict.fromkeys(("_reg", "regfile", "csb", "glb", "intr"), _CONTROL),
    **dict.fromkeys(("mcif", "xxif", "dmaif", "_cq", "lat_fifo"), _MEMORY),
}
"""Parts of the names of modules, and words in the names of scenarios that exercise these modules."""


@dataclass(frozen=True)
class MutantResult:
    """The outcome of a mutant.

    Attributes:
        number: number of the mutant, from 1, the value of ``+mutant=``.
        mutant: the mutant.
        unit: to which its module belongs, None for one that several have.
        reaching: scenarios in which the change makes a difference where it stands.
        ended: what became of it when it was played.
        proof: whether a survivor was proved to be equivalent, None when nobody asked.
    """

    number: int
    mutant: Mutant
    unit: Unit | None
    reaching: int
    ended: Played
    proof: Proof | None = None

    @property
    def catch(self) -> Catch | None:
        """How it was caught, None for a survivor."""
        return self.ended.catch

    @property
    def equivalent(self) -> bool:
        """Whether it was proved that nothing can tell it from the original."""
        return self.catch is None and self.proof is not None and self.proof.equal

    @property
    def naming(self) -> Naming | None:
        """The worth of the units that are named; None for a survivor."""
        return None if self.catch is None else naming(self.unit, self.catch)

    @property
    def cut(self) -> int:
        """Scenarios that reach a survivor and were not played on it, because of the most for one mutant."""
        return 0 if self.catch is not None else self.reaching - self.ended.played

    @property
    def reason(self) -> str:
        """Why it survived, as far as is known."""
        why = "" if self.proof is None else f"; {self.proof}"
        if self.reaching == 0:
            return f"never reached: what it changes has the same value in all scenarios{why}"
        cut = f", {self.cut} cut by --each" if self.cut else ""
        return f"reached by {counted(self.reaching, 'scenario')}, played on {self.ended.played}{cut}, nothing seen{why}"


def likely(module: str) -> set[str]:
    """Return words in the names of scenarios that exercise a module."""
    return {word for part, words in EXERCISES.items() if part in module.lower() for word in words}


def noted(number: int, mutant: Mutant) -> int | None:
    """Return the number by which runs note a mutant; None when it is evaluated once, before the first of them."""
    return None if mutant.fixed else number


def play_mutants(
    mutants: Sequence[tuple[int, Mutant]],
    cases: Sequence[tuple[Case, Reached]],
    bench: Bench,
    *,
    workers: int,
    most: int,
) -> Iterator[tuple[Mutant, Played]]:
    """Play mutants, several at a time, and yield what became of each.

    Args:
        mutants: with their numbers in the model.
        cases: scenarios, and which mutants they reach.
        bench: the model that holds all mutants, its configuration, folder and time limit.
        workers: mutants at a time.
        most: scenarios to play for one mutant at most.
    """

    def play(numbered: tuple[int, Mutant]) -> tuple[Mutant, Played]:
        number, mutant = numbered
        folder = folders.made(bench.root, folders.folder_name(f"{number:03}.{mutant.name}"))
        plusargs = (f"+mutant={number}",)
        again = f"{bench.rerun} --number {number}"
        chosen = worth_playing(cases, noted(number, mutant), likely(mutant.module), most)
        plain = (bench.job(case.source, case.seed) for case in chosen)
        jobs = (replace(job, plusargs=plusargs, rerun=again) for job in plain)
        with closing(bench.shared(folder, plusargs)) as process:
            return mutant, until_caught(jobs, bench, folder, process)

    yield from as_ended(workers, play, mutants)
