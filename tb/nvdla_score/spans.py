"""Finds the expressions of Verilog that may be chosen while a simulation runs: conditions and right-hand sides."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"\b(?P<block>always\w*|initial)\b|\b(?P<open>begin|case[xz]?|fork)\b|\b(?P<close>end|endcase|join)\b"
    r"|\b(?P<hidden>function|task)\b.*?\bend(?:function|task)\b|(?P<condition>\bif\s*)(?=\()"
    r"|\b(?:else|generate|endgenerate|endmodule)\b|(?P<bracket>[(\[{])|(?P<semicolon>;)",
    re.DOTALL,
)
_ELSE = re.compile(r"\s*else\b")
_FIXED = re.compile(
    r"\s*(?:input|output|inout|parameter|localparam|defparam|genvar|integer|real|reg|logic|int|for|initial|specparam)\b"
)
"""Beginnings of statements that are evaluated before the simulation runs, or only once."""

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def spans(code: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the run-time expressions of a module begin and end, in order; none lies inside another.

    These are the conditions of ``if`` in procedures, and the right-hand sides of assignments there, of ``assign``
    and of nets that are declared with a value. Functions, parameters and initial values are not among them.

    Args:
        code: text without comments, strings and directives.
        start: where the module's items begin.
        end: where they end.
    """
    procedural, initial, depth = False, False, 0
    at = statement = start
    while found := _TOKEN.search(code, at, end):
        at = found.end()
        if found["bracket"]:
            at = closing(code, found.start(), end) + 1
            if not at:
                return
            continue
        if found["condition"]:
            opening = at
            at = closing(code, opening, end) + 1
            if not at:
                return
            if procedural and not initial:
                yield opening + 1, at - 1
            statement = at
            continue
        if found["semicolon"]:
            if not initial and (value := _right_hand_side(code, statement, found.start())):
                yield value
        elif found["block"]:
            procedural, initial, depth = True, found["block"] == "initial", 0
        elif found["open"]:
            depth += procedural
        elif found["close"]:
            depth -= procedural
        statement = at
        ends = found["semicolon"] or found["close"]
        if procedural and ends and depth == 0 and not _ELSE.match(code, at):
            procedural = initial = False


def _right_hand_side(code: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the value of an assignment lies, or None when the statement is none of the right kind."""
    if _FIXED.match(code, start, end):
        return None
    at, value = start, -1
    while at < end:
        if code[at] in _CLOSING:
            at = closing(code, at, end)
            if at < 0:
                return None
        elif code[at] in ")]}" or (value >= 0 and code[at] == ","):
            return None
        elif code[at] == "=" and value < 0:
            if code[at + 1] == "=" or code[at - 1] in "=!>":
                return None
            value = at + 1
        at += 1
    if value < 0 or code[value:end].lstrip()[:1] in ("", "#", "@"):
        return None
    return value, end


def closing(text: str, opening: int, end: int) -> int:
    """Return where the bracket closes that opens at a place, or -1."""
    opens = text[opening]
    closes = _CLOSING[opens]
    depth = 0
    for at in range(opening, end):
        depth += (text[at] == opens) - (text[at] == closes)
        if depth == 0:
            return at
    return -1
