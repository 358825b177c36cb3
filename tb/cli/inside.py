"""After a run: some of the failures whose cause is unknown are played again to see where inside they arise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tb.cli.console import Console
from tb.report.summary import groups
from tb.run import folders
from tb.run.inside import is_worth_it, watched
from tb.run.jobs import Job, Setup
from tb.run.result import Result

_MOST_GROUPS, _MOST_TRIES = 3, 4
"""Groups of failures of which one is watched, and how many of a group are tried: of images little is compared."""


def with_handovers(
    results: Sequence[Result], played: Mapping[str, tuple[Job, Setup]], root: Path, console: Console
) -> list[Result]:
    """Return results in which of each large group without a known cause one says where inside it arises.

    Args:
        results: All results of a run.
        played: By the identity of a result, the job and what played it.
        root: Folder of the run.
        console: Where it is said what is played again.
    """
    found: dict[str, Result] = {}
    unknown = [group for group in groups(results) if group.lacks_cause][:_MOST_GROUPS]
    for group in unknown:
        candidates = [result for result in group.members if is_worth_it(result)]
        for result in sorted(candidates, key=lambda result: result.verdict.cycles)[:_MOST_TRIES]:
            console.progress(f"playing {result.identity} again, to see where inside it goes wrong")
            job, setup = played[result.identity]
            again = watched(job, result, setup, folders.place(root, folders.folder_name(result.identity)))
            found[result.identity] = again
            if again.explained is not None and again.explained.located:
                break
    console.clear()
    return [found.get(result.identity, result) for result in results]
