"""The parser of every command line: an option is given by its whole name."""

from __future__ import annotations

import argparse
from typing import Any


class Parser(argparse.ArgumentParser):
    """A parser that takes no abbreviated option; those of its subcommands are of this class, too.

    ::

        parser = Parser(prog="nvdla-tb")
        parser.add_argument("--seeds", type=int)
        parser.parse_args(["--seed", "3"])  # refused: --seeds is another option
    """

    def __init__(self, **given: Any) -> None:
        """Take what ``argparse.ArgumentParser`` takes by name, but for ``allow_abbrev``."""
        super().__init__(allow_abbrev=False, **given)
