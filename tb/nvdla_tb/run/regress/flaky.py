"""Tests whose ending does not follow from what was played: right and wrong with the same seed and content."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.regress.store import Store

_SAYS_NOTHING = (Ending.NOT_PLAYED, Ending.LOST, Ending.TIMEOUT, Ending.BUILD_ERROR)
"""Endings that the machine may be the reason of."""


@dataclass(frozen=True)
class FlakyTest:
    """A test that ended in several ways.

    Attributes:
        key: ``TEST.SEED``, configuration and simulator.
        runs: by ending, the numbers of the runs.
        rerun: the command that plays it again.
    """

    key: str
    runs: dict[Ending, list[int]]
    rerun: str


@dataclass(frozen=True)
class Repeated:
    """What a store says of tests that were played several times.

    Attributes:
        tests: how many were, with the same seed, content and arguments.
        flaky: those of them that ended in several ways.
        apart: how many were played with the same seed and content, but with different arguments, which levels choose.
    """

    tests: int
    flaky: list[FlakyTest]
    apart: int


def flaky(store: Store) -> Repeated:
    """Return what was played several times with the same seed, content and arguments, and how it ended.

    The content is RTL, configuration, plan, testbench, simulator and back end; what a run without a record of it has
    played is left out.
    """
    found: dict[tuple[object, ...], dict[Ending, list[int]]] = {}
    reruns: dict[tuple[object, ...], str] = {}
    for run in store.runs():
        endings = store.endings(run)
        for task in store.tasks(run):
            ending = endings[task.key]
            if task.dut.evidence and ending not in _SAYS_NOTHING:
                same = (task.key, task.kind, task.source, task.dut, task.exact, task.plusargs)
                found.setdefault(same, {}).setdefault(ending, []).append(run.id)
                reruns[same] = task.rerun
    again = {same: runs for same, runs in found.items() if sum(map(len, runs.values())) > 1}
    several = [FlakyTest(str(same[0]), runs, reruns[same]) for same, runs in again.items() if len(runs) > 1]
    arguments = Counter(same[:-1] for same in found)
    return Repeated(len(again), several, sum(count > 1 for count in arguments.values()))
