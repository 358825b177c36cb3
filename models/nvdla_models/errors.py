"""The one type of refusals, and its subtype for parts that a configuration lacks."""

from __future__ import annotations

_LINE_CHARACTERS = 4000
"""More than any message of ours has; the values that files hold have no limit."""


class InputError(Exception):
    r"""A refused input; the message names the value and the rule.

    ::

        raise InputError("key must be one of a, b, not \x1b[2J")      # shown as: key must be one of a, b, not \x1b[2J
        raise InputError("ports differ:", "  clk is missing")         # two lines

    Code that shows refusals to the user catches this type alone. It is no ValueError, because a ValueError is a bug and
    keeps its traceback.

    Args:
        lines: Lines of the message. Line breaks and other unprintable characters within a line are escaped.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)

    def __str__(self) -> str:
        """Return the lines, printable and not endless."""
        return "\n".join(printable(line, _LINE_CHARACTERS) for line in self.args)


def printable(text: str, most: int) -> str:
    """Return text on one line, with at most so many characters, and with escapes for what is not printable."""
    escaped = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[: most + 1])
    return escaped if len(escaped) <= most else f"{escaped[:most]}..."


class LackingError(InputError):
    """An input that needs a part that the configuration lacks, so that correct hardware cannot take it either."""
