"""The error that all refusals share, and its kind for what a configuration lacks."""

from __future__ import annotations

_LINE_CHARACTERS = 4000
"""More than any message of ours has; the values that files hold have no limit."""


class InputError(Exception):
    r"""An input that is refused on purpose; the message names the value and the rule.

    Code that shows refusals to the user catches this type alone. It is no ValueError: that is a bug, and keeps its
    traceback. Its text can be shown on any terminal whatever files hold::

        raise InputError("key must be one of a, b, not \x1b[2J")      # shown as: key must be one of a, b, not \x1b[2J
        raise InputError("ports differ:", "  clk is missing")         # two lines

    Args:
        lines: The message, a line each; a line break within one is escaped, as is all that is not printable.
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
    """An input that needs what a configuration lacks: right hardware of that configuration cannot take it either."""
