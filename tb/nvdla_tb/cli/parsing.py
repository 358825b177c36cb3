"""The parser of every command line: options by their whole names, words refused with the nearest; and renamed ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

_NEAR = 0.7
"""How alike a name must be to be the one that is meant, of 1."""


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviated option; those of its subcommands are of this class, too.

    What a subcommand does not know is refused with the usage of that subcommand.

    ::

        parser = Parser(prog="nvdla-tb")
        parser.add_argument("--seeds", type=int)
        parser.parse_args(["--seesd", "3"])  # unrecognized arguments: --seesd 3; closest: --seeds

    A choice that there is not is refused with the nearest one, too.
    """

    def __init__(self, **given: Any) -> None:
        """Take what ``argparse.ArgumentParser`` takes by name, but for ``allow_abbrev``."""
        super().__init__(allow_abbrev=False, **given)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse words, of which all must be known: argparse leaves those of a subcommand to the parser above it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            options = [option for option in self._option_string_actions if option.startswith("--")]
            wrong = [word.partition("=")[0] for word in unknown if word.startswith("-")]
            meant = closest(near for word in wrong for near in _nearest(word, options))
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = get_close_matches(str(value), map(str, action.choices or ()), 1)
            raise argparse.ArgumentError(action, f"{error.message}{closest(near)}") from None


def closest(names: Iterable[str]) -> str:
    """Return the part of a refusal that says which names may be meant; nothing without any."""
    said = ", ".join(names)
    return f"; closest: {said}" if said else ""


def _nearest(word: str, options: Sequence[str]) -> list[str]:
    """Return the option that begins so, else the one that is most alike, if there is one."""
    return [option for option in options if option.startswith(word)][:1] or get_close_matches(word, options, 1, _NEAR)


class Renamed(argparse.Action):
    """The former name of an option, which is taken for one release and hints at the new one.

    ::

        parser.add_argument("--seed", type=int)
        parser.add_argument("--first", action=Renamed, now="--seed", type=int)
    """

    def __init__(self, option_strings: Sequence[str], dest: str, now: str, **given: Any) -> None:
        """Take the new name, ``now``, and the type that both have; the help shows the new one alone."""
        given |= {"help": argparse.SUPPRESS, "default": argparse.SUPPRESS}
        super().__init__(option_strings, now.removeprefix("--").replace("-", "_"), **given)
        self._now = now

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Set the value of the new option."""
        print(f"hint: {option} is now {self._now}; the next release does not know {option}", file=sys.stderr)
        setattr(namespace, self.dest, values)
