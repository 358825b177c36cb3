"""Plays bugs on the scenarios of their unit until one catches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.config import HwConfig
from tb.launch.build import Built
from tb.regress.jobs import Job, JobResult, run_job
from tb.scenario import Scenario
from tb.score.catalogue import Bug, Place
from tb.score.judge import Catch, catch_of
from tb.score.operands import Alteration, alterations
from tb.score.scenarios import Source
from tb.verdict import Outcome

Play = Callable[[Job, Path], JobResult]


@dataclass(frozen=True)
class BugResult:
    """What became of a bug.

    Attributes:
        bug: the bug.
        played: scenarios that were played.
        catch: how it was caught, None for a survivor.
        seconds: of simulation.
    """

    bug: Bug
    played: int
    catch: Catch | None
    seconds: float

    @property
    def explained(self) -> bool | None:
        """Whether the explainer's first cause is right; None when the bug is of a kind without one."""
        if not self.bug.kind.has_cause:
            return None
        return self.catch is not None and self.catch.cause in self.bug.causes


@dataclass(frozen=True)
class Bench:
    """What bugs are played on.

    Attributes:
        built: the compiled device.
        config: its configuration.
        root: folder of everything that runs leave behind.
        timeout_seconds: of one simulation.
    """

    built: Built
    config: HwConfig
    root: Path
    timeout_seconds: float

    def play(self, job: Job, folder: Path) -> JobResult:
        """Play one job in a folder."""
        return run_job(job, self.built, self.config.name, folder, self.timeout_seconds, waves=False)


def play_bugs(
    cases: Sequence[tuple[Bug, Sequence[Source]]], bench: Bench, *, seed: int, workers: int, play: Play | None = None
) -> Iterator[BugResult]:
    """Play bugs, several at a time, and yield what became of each.

    Args:
        cases: bugs with the scenarios of their units.
        bench: what they are played on.
        seed: of all data.
        workers: simulations at a time.
        play: plays one job in a folder; None for ``bench.play``.
    """
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(play_bug, bug, found, bench, seed, play or bench.play) for bug, found in cases]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def false_alarms(found: Sequence[Source], bench: Bench, *, seed: int, workers: int) -> Iterator[JobResult]:
    """Play scenarios on the device without a bug, and yield those that do not pass.

    Args:
        found: the scenarios.
        bench: what they are played on.
        seed: of all data.
        workers: simulations at a time.
    """
    with ThreadPoolExecutor(workers) as pool:
        futures = [
            pool.submit(bench.play, _job(source.name, source.build(bench.config, seed), seed), folder)
            for source in found
            for folder in (bench.root / "without" / source.name,)
        ]
        for future in as_completed(futures):
            result = future.result()
            if result.outcome is not Outcome.PASSED:
                yield result


def _job(name: str, scenario: Scenario, seed: int) -> Job:
    return Job(name, seed, f"python -m tb score --seed {seed}", lambda: scenario)


def play_bug(bug: Bug, found: Sequence[Source], bench: Bench, seed: int, play: Play) -> BugResult:
    """Play a bug on scenarios until one catches it.

    Args:
        bug: the bug.
        found: scenarios, the first one first.
        bench: what it is played on.
        seed: of all data.
        play: plays one job in a folder.
    """
    folder = bench.root / bug.name
    played, seconds = 0, 0.0
    for source in found:
        job = job_of(bug, source, bench, seed)
        if job is None:
            continue
        played += 1
        result = play(job, folder / source.name)
        seconds += result.seconds
        catch = catch_of(result, played)
        if catch is not None:
            return BugResult(bug, played, catch, seconds)
    return BugResult(bug, played, None, seconds)


def job_of(bug: Bug, source: Source, bench: Bench, seed: int) -> Job | None:
    """Return the job that plays a scenario with a bug; None when it has no operand that the bug could change."""
    scenario = source.build(bench.config, seed)

    plain = _job(source.name, scenario, seed)
    rerun = f"python -m tb score --only {bug.name} --seed {seed}"
    if bug.place is Place.RTL:
        return replace(plain, rerun=rerun, plusargs=(f"+bug={bug.name}",))
    changes = alterations(bug.name, scenario, bench.config)
    if not changes:
        return None
    path = bench.root / bug.name / f"{source.name}.npz"
    save_alterations(changes, path)
    return replace(plain, rerun=rerun, variables={"NVDLA_ALTERED": str(path.resolve())})


def save_alterations(changes: Sequence[Alteration], path: Path) -> None:
    """Write bytes that only the device finds, an array a place, named ``RAM_ADDRESS``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {f"{change.ram.value}_{change.address:x}": change.data for change in changes}
    np.savez(path, **arrays)
