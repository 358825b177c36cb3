"""``bisect``: find the commit of the RTL that broke a test."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import resolved, shown
from nvdla_tb.cli.console import Console
from nvdla_tb.cli.dut import again, dut_arguments
from nvdla_tb.cli.dut_options import BUILD_ROOT, add_dut_options
from nvdla_tb.cli.patterns import only_option, plan_option
from nvdla_tb.cli.run import seed_option
from nvdla_tb.cli.run_options import plusarg_option
from nvdla_tb.run import folders
from nvdla_tb.run.history import History

_CLONE, _RESULTS = "rtl", "results"
_VERDICTS = {0: "passes", 1: "fails"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("good", metavar="GOOD", help="commit on which the scenarios pass")
    parser.add_argument("bad", metavar="BAD", help="later commit on which one fails")
    only_option(parser, "scenarios")
    plan_option(parser)
    seed_option(parser)
    add_dut_options(parser)
    plusarg_option(parser)


def main(args: argparse.Namespace) -> int:
    """Carry the subcommand out and return the exit code: 0 when the commit was found.

    Raises:
        InputError: for RTL in no repository, commits that there are not, and scenarios that do not tell them apart.
    """
    if args.rtl is None:
        raise InputError("--rtl must be given: the history of your RTL is searched")
    console = Console()
    filelist = resolved(args.rtl)
    root = folders.made(BUILD_ROOT, "bisect")
    with folders.alone(root / ".lock", lambda: print("another bisect runs here: waiting for its end", flush=True)):
        clone = folders.emptied(root, _CLONE)
        with console.waiting("copying the history"):
            history = History.of(filelist, clone)
        command = _command(args, history.folder / history.below / filelist.name, root)
        good, bad = history.commit(args.good), history.commit(args.bad)
        player = _Player(history, command, console)
        for name, commit, wanted in (("GOOD", good, 0), ("BAD", bad, 1)):
            code = player.play(name, commit)
            if code != wanted:
                ended = "all passed" if code == 0 else "one failed" if code == 1 else f"they {player.why}"
                raise InputError(f"scenarios must {'fail' if wanted else 'pass'} on {name}, {commit[:12]}: {ended}")
        found = history.search(good, bad, player.step)
    if found is None:
        print("no single commit was found: those between could not be built or played")
        return 1
    print(f"first bad commit: {shown(history.describe(found))}")
    return 0


class _Player:
    """Plays the scenarios on commits, and says of each how they ended.

    Attributes:
        why: Why the last commit could not be played.
    """

    def __init__(self, history: History, command: list[str], console: Console) -> None:
        self._history, self._command, self._console, self.why = history, command, console, ""

    def play(self, what: str, commit: str) -> int:
        """Return the exit code of a commit, which is ``what`` in the search."""
        about = f"{what}: commit {self._history.subject(commit)}"
        with self._console.waiting(f"{about}, building and playing"):
            code, said = self._history.play(commit, self._command)
        self.why = f"could not be played: {shown(said)}"
        self._console.say(f"{about}: {_VERDICTS.get(code, self.why)}")
        return code

    def step(self, commit: str, number: int, left: int) -> int:
        """Return the exit code of a commit that the search has come to."""
        return self.play(f"step {number}, about {left} left", commit)


def _command(args: argparse.Namespace, filelist: Path, root: Path) -> list[str]:
    """Return the command that plays the scenarios on the RTL of the copy."""
    options = argparse.Namespace(**{**vars(args), "rtl": filelist})
    words = [*again(args, "plan", "seed"), *(word for name in args.only or () for word in ("--only", name))]
    words += [word for text in args.plusarg for word in ("--plusarg", text)]
    results = str(resolved(folders.made(root, _RESULTS)))
    run = [sys.executable, "-m", "nvdla_tb", "run", "--quiet", "--explain", "0", "--results", results]
    return [*run, *words, *shlex.split(dut_arguments(options))]
