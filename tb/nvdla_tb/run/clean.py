"""Remove logs and pages of runs, not the cache of models; needs nothing but Python."""

from __future__ import annotations

import sys

from nvdla_tb.run.folders import RESULTS, FolderError, empty_results

KEPT = ("regress", "score")
"""Folders with a history, which only ``--all`` removes."""


def main(arguments: list[str]) -> int:
    """Empty the results folder and return the exit code."""
    try:
        empty_results(RESULTS, () if arguments == ["--all"] else KEPT)
    except FolderError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
