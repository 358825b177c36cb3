"""The one error that all refusals share."""

from __future__ import annotations


class InputError(ValueError):
    """A value that cannot be, refused on purpose: the message names it and the rule.

    Whoever shows refusals to the user catches this one alone; any other ValueError is a bug and keeps its traceback.
    """
