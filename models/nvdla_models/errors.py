"""The error that all refusals share, and its kind for what a configuration lacks."""

from __future__ import annotations


class InputError(Exception):
    """An input that is refused on purpose; the message names the value and the rule.

    Code that shows refusals to the user catches this type alone. It is no ValueError: that is a bug, and keeps its
    traceback.
    """


class LackingError(InputError):
    """An input that needs what a configuration lacks: right hardware of that configuration cannot take it either."""
