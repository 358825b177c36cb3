"""What a shell completes: subcommands, options, and the names and files that options take."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import argcomplete
from argcomplete.completers import BaseCompleter
from argcomplete.lexers import split_line
from argcomplete.shell_integration import shellcode

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.errors import InputError
from nvdla_tb.cli.patterns import plan_named
from nvdla_tb.cli.run import plans_of
from nvdla_tb.cli.run_options import output_file
from nvdla_tb.coverage.model import model_of
from nvdla_tb.paths import COMMAND
from nvdla_tb.run.nvdla import NVDLA
from nvdla_tb.run.plans import builtin_plans
from nvdla_tb.run.regress.features import FEATURES, load_feature_plan
from nvdla_tb.run.systems import added, system_of
from nvdla_tb.stimulus.generate.random import ENGINES

_FILES = (Path, output_file, plan_named)
"""Types of options that take files."""

_NAMES_AND_FILES = ("config", "cycles_against", "name")
"""Options and arguments that take a name or a file."""


def complete(parser: argparse.ArgumentParser) -> None:
    """Print what completes the command line that the shell asks for, and exit."""
    argcomplete.autocomplete(parser, default_completer=Completer(), always_complete_options="long")


def script(shell: str) -> str:
    """Return the script with which a shell asks."""
    return shellcode([COMMAND], shell=shell)


def chosen() -> str:
    """Return the subcommand of the command line that the shell asks for; empty before there is one."""
    *_, words, _ = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))
    return next((word for word in words[1:] if not word.startswith("-")), "")


class Completer(BaseCompleter):
    """Completes the value of any option or argument: names that it takes, then files if it takes them.

    ::

        argcomplete.autocomplete(parser, default_completer=Completer())
    """

    def __call__(
        self, *, prefix: str, action: argparse.Action, parser: argparse.ArgumentParser, parsed_args: argparse.Namespace
    ) -> list[str]:
        """Return what begins as the user has begun."""
        known = _KNOWN.get(action.dest)
        found: list[str] = []
        # The command says what is wrong with its files; a completion has no place for it.
        with suppress(InputError, OSError):
            found += known(prefix, parsed_args) if known else ()
        if action.type in _FILES or action.dest in _NAMES_AND_FILES:
            found += _files(prefix)
        return [name for name in found if name.startswith(prefix) and name.isprintable()]


def _files(prefix: str) -> Iterator[str]:
    """Yield the files and folders that begin so, with their path as the user writes it."""
    folder, begun = os.path.split(prefix)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.startswith(begun) and (begun or not entry.name.startswith(".")):
                    yield os.path.join(folder, entry.name) + ("/" if entry.is_dir() else "")
    except OSError:
        return


def _configs(prefix: str, args: argparse.Namespace) -> list[str]:
    own = [name for system in added() for name in (system.name, *(config.name for config in system.embedded()))]
    return [*builtin_names(), *own]


def _plans(prefix: str, args: argparse.Namespace) -> list[str]:
    return list(builtin_plans())


def _levels(prefix: str, args: argparse.Namespace) -> list[str]:
    plan = load_feature_plan(FEATURES, model_of(args.config))
    return [level.name for level in plan.levels]


def _patterns(prefix: str, args: argparse.Namespace) -> list[str]:
    """Return the names for the last pattern of a list: scenarios, or engines of random ones."""
    before, comma, _ = prefix.rpartition(",")
    return [f"{before}{comma}{name}" for name in _chosen_from(args)]


def _chosen_from(args: argparse.Namespace) -> Sequence[str]:
    if getattr(args, "kind", None) == "random":
        return ENGINES
    if args.command not in ("run", "regress"):
        return ()
    system = system_of(args.config)
    own = plans_of(args.plan, HwConfig.load(args.config)) if system is NVDLA else [args.plan or system.plan]
    return [entry.name for path in own for entry in system.load_plan(path)]


_KNOWN: dict[str, Callable[[str, argparse.Namespace], list[str]]] = {
    "config": _configs,
    "name": _configs,
    "plan": _plans,
    "level": _levels,
    "only": _patterns,
}
"""By the name of an option or argument, the names that it takes."""
