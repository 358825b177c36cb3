"""Counts in words."""

from __future__ import annotations


def counted(count: int, one: str, more: str = "") -> str:
    """Return how many there are of something.

    ::

        counted(1, "test")                  # 1 test
        counted(0, "wrong byte")            # 0 wrong bytes
        counted(2, "entry", "entries")      # 2 entries

    Args:
        count: how many.
        one: the word for one of them.
        more: the word for none and for several, if it is not ``one`` with an s.
    """
    return f"{count} {one if count == 1 else more or f'{one}s'}"
