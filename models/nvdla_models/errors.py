"""The one error that all refusals share."""

from __future__ import annotations


class InputError(Exception):
    """An input that is refused on purpose; the message names the value and the rule.

    Code that shows refusals to the user catches this type alone. It is no ValueError: that is a bug, and keeps its
    traceback.
    """
