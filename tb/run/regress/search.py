"""Looking at many scenarios on the workers of a cluster, to find the few that reach what is still missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from dask.distributed import Client

from tb.coverage.steer import Candidate, choose, reached
from tb.run.regress.cluster import talking
from tb.run.regress.worker import collector_of
from tb.run.task import Task

_TASKS_AT_A_TIME = 40


def search(
    client: Client, model: Path, tasks: Sequence[Task], wanted: Iterable[str], most: int | None = None
) -> list[Task]:
    """Return the tasks that together reach what is wanted, the most useful first.

    Args:
        client: the cluster.
        model: folder of the coverage model.
        tasks: tasks to look at.
        wanted: names of bins.
        most: how many tasks to return at most, or None.
    """
    names = sorted(wanted)
    looked = _look(client, model, tasks, names)
    candidates = [Candidate(number, hits) for number, hits in enumerate(looked)]
    return [tasks[candidate.seed] for candidate in choose(candidates, names, most)]


def reach(client: Client, model: Path, tasks: Sequence[Task], names: Iterable[str]) -> set[str]:
    """Return which of some bins tasks would reach together."""
    return set().union(*_look(client, model, tasks, sorted(names)))


def look(tasks: Sequence[Task], model: Path, names: Sequence[str]) -> list[list[int]]:
    """Return for each task, on a worker, the numbers of the named bins that it would reach; none when refused."""
    numbers = {name: number for number, name in enumerate(names)}
    found: list[list[int]] = []
    for task in tasks:
        job = task.job()
        if job.test is not None or job.refused is not None:
            found.append([])
            continue
        hits = reached(collector_of(model, task.dut.config), job.nvdla_scenario())
        found.append(sorted(numbers[name] for name in hits if name in numbers))
    return found


def _look(client: Client, model: Path, tasks: Sequence[Task], names: Sequence[str]) -> list[frozenset[str]]:
    parts = [tasks[start : start + _TASKS_AT_A_TIME] for start in range(0, len(tasks), _TASKS_AT_A_TIME)]
    with talking():
        futures = [client.submit(look, part, model=model, names=names, pure=False) for part in parts]
        numbers = [found for future in futures for found in future.result()]
    return [frozenset(names[number] for number in found) for found in numbers]
