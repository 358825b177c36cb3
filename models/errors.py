"""The one error that all refusals share."""

from __future__ import annotations


class InputError(Exception):
    """A value that cannot be, refused on purpose: the message names it and the rule.

    Whoever shows refusals to the user catches this one alone. It is no ValueError, so that neither can be taken for
    the other: a ValueError is a bug and keeps its traceback.
    """
