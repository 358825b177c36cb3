"""After a run: some of the failures are played again to see where inside they arise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tb.cli.console import Console
from tb.report.summary import cause_of, groups
from tb.run import folders
from tb.run.inside import convolves, is_worth_it, watched
from tb.run.jobs import Job, Setup
from tb.run.result import Result

_MOST_GROUPS, _MOST_TRIES, _MOST_WHEN_WRONG = 3, 8, 24
"""Groups of failures that are watched; how many of a group are tried until one says where the fault lies, as of
images little is compared; and how many when that speaks against the cause of the group."""


def with_handovers(
    results: Sequence[Result],
    played: Mapping[str, tuple[Job, Setup]],
    root: Path,
    console: Console,
    watch: Callable[[Job, Result, Setup, Path], Result] = watched,
) -> list[Result]:
    """Return results in which of each large group of convolutions one says where inside it arises.

    Args:
        results: All results of a run.
        played: By the identity of a result, the job and what played it.
        root: Folder of the run.
        console: Where it is said what is played again.
        watch: Plays a failure again.
    """
    found: dict[str, Result] = {}
    for group in groups(results)[:_MOST_GROUPS]:
        candidates = [result for result in group.members if is_worth_it(result)]
        tries = _MOST_TRIES
        for number, result in enumerate(sorted(candidates, key=lambda result: result.verdict.cycles)):
            if number >= tries:
                break
            console.progress(f"playing {result.identity} again, to see where inside it goes wrong")
            job, setup = played[result.identity]
            again = watch(job, result, setup, folders.place(root, folders.folder_name(result.identity)))
            found[result.identity] = again
            if again.explained is None or (convolves(result) and not again.explained.located):
                continue
            if cause_of(again) == cause_of(result):
                break
            # The cause that was stated lies elsewhere; so it may in all others of the group.
            tries = _MOST_WHEN_WRONG
    console.clear()
    return [found.get(result.identity, result) for result in results]
