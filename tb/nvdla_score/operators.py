"""Mutation operators: what real bugs look like, as one change of an expression each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from nvdla_score.spans import closing

INSIDE = "\N{FULL BLOCK}"
"""Stands for every character of a selection, brackets included: widths and selections are left alone."""

_LITERAL = re.compile(r"\b(\d+)'(s?)([dhb])([0-9a-fA-F]+)\b")
_TERM = rf"[A-Za-z_]\w*{INSIDE}*"
_NUMBER = r"\d+'s?[dhb][0-9a-fA-F]+"
_OPERAND = rf"(?<=[\w)}}{INSIDE}] )"
_CONDITION = rf"(?:[!~]?{_TERM}|\([^()?:]*\))"

_SUM = re.compile(rf"({_TERM})\s*([-+])\s*({_TERM}|{_NUMBER})")
_NAME = re.compile(rf"(?<![\w'.$`]){_TERM}")
_EQUAL = re.compile(rf"({_TERM})\s*==\s*({_TERM})")
_GROUP = re.compile(r"\b(\w*?)d([01])_(\w+)")
_PAIR = re.compile(rf"\{{({_TERM}), *({_TERM})(?= *[,}}])")
_DROPPED = re.compile(rf"({_TERM}) *(?:[-+]|&&?|\|\|?) *({_TERM})(?= *(?:[,)]|$))")
_MASK_BEFORE = re.compile(r"\{\s*\d+\s*\{[^{}]*\}\s*\}\s*&(?!&)\s*")
_MASK_AFTER = re.compile(r"\s*(?<!&)&(?!&)\s*\{\s*\d+\s*\{[^{}]*\}\s*\}")
_EXTENSION = re.compile(rf"\{{\s*\{{\s*\d+\s*\{{\s*({_TERM})\s*\}}\s*\}}\s*,")
_SIGNED = re.compile(r"\$signed\s*(?=\()")
_BRANCHES = re.compile(rf"\?\s*({_TERM})\s*:\s*({_TERM})(?=\s*(?:\)|$))")
_CHAIN = re.compile(rf"({_CONDITION})\s*\?[^?:;]{{1,80}}:\s*({_CONDITION})\s*\?")
_IF = re.compile(r"\bif\s*\($")
_LOADED = re.compile(rf"([A-Za-z_]\w*{INSIDE}*)\s*<=\s*$")
_BLOCK = re.compile(r"\balways\w*\s*@?\s*(?P<edge>\(\s*(?:posedge|negedge)\b)?")
_BRANCH = re.compile(r"\belse\b|\bif\s*\([^;]*?\)|\bcase[xz]?\b")
_OPENED = re.compile(r"\b(?:(begin|case[xz]?|fork)|(end|endcase|join))\b")
_ELSE_IF = re.compile(r"\s*else\s+if\s*\(")
_OPPOSITE = re.compile(r"==\s*1'b[01]\s*$")
_IS_0 = re.compile(r"\)\s*==\s*1'b0\s*$")
_SELECTION = re.compile(r"\[(\d+):(\d+)\]")


class Family(Enum):
    """Description of bugs of a kind."""

    WRAP = "wrap"
    LIMIT = "limit"
    STATE = "state"
    EVENT = "event"
    MASK = "mask"
    CONSTANT = "constant"
    CONDITION = "condition"
    DATA = "data"
    ARITHMETIC = "arithmetic"


@dataclass(frozen=True, eq=False)
class Expression:
    """An expression that may be changed, in its file.

    Attributes:
        plain: the file with blanks for what is no code, and one character for all in brackets.
        text: the file, of the same length.
        start: where the expression begins.
        end: where it ends.
        head: where the items of its module begin.
        widths: bits of the unsigned vectors of the module that end at bit 0, by name.
        names: all names in the module.
    """

    plain: str
    text: str
    start: int
    end: int
    head: int
    widths: Mapping[str, int]
    names: frozenset[str]

    def matches(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """Yield the places in the expression that match."""
        return pattern.finditer(self.plain, self.start, self.end)

    def original(self, found: re.Match[str], group: int = 0) -> str:
        """Return the text of the file at a match."""
        return self.text[slice(*found.span(group))]

    def width(self, term: str) -> int | None:
        """Return the bits of a name or a selection, None when they are not known."""
        name, bracket, selection = term.partition("[")
        if not bracket:
            return self.widths.get(name)
        bounds = _SELECTION.fullmatch(bracket + selection)
        known = bounds is not None and name in self.widths
        return int(bounds[1]) - int(bounds[2]) + 1 if bounds is not None and known else None

    @property
    def condition(self) -> str | None:
        """The condition of an ``if`` that this is, None for a value and for one that asks for a reset."""
        found = _IF.search(self.plain, max(0, self.start - 40), self.start)
        text = self.text[self.start : self.end]
        return text if found and found.end() == self.start and not _asks_reset(text) else None

    @property
    def has_variables(self) -> bool:
        """Whether the expression names anything."""
        return any(self.matches(_NAME))

    @property
    def asks_for_x(self) -> bool:
        """Whether this is the condition ``(x) == 1'b0`` after ``(x) == 1'b1``: all that remains after both is X."""
        condition = self.condition
        return condition is not None and _IS_0.search(condition) is not None

    @property
    def clocked(self) -> bool:
        """Whether the expression is in a block that an edge starts."""
        blocks = self._before(_BLOCK)
        return bool(blocks) and blocks[-1]["edge"] is not None

    @property
    def resets(self) -> bool:
        """Whether the expression is what a register gets in a reset."""
        asked = [found[0] for found in self._before(_BRANCH)]
        return bool(asked) and asked[-1].startswith("if") and _asks_reset(asked[-1])

    def _before(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        return list(pattern.finditer(self.plain, max(self.head, self.start - 4000), self.start))


Found = Iterator[tuple[int, int, str]]
"""Start and end of a text, and what replaces it."""

Finder = Callable[[Expression], Found]
"""From an expression to what may be replaced in it."""


@dataclass(frozen=True)
class Kind:
    """A mutation operator: its family, and what it may replace."""

    family: Family
    find: Finder


def _asks_reset(condition: str) -> bool:
    return "rst" in condition or "reset" in condition


def _each(pattern: re.Pattern[str], after: Callable[[Expression, re.Match[str]], str | None], group: int = 0) -> Finder:
    """Return the finder of what a pattern's group matches; ``after`` returns what replaces it, None for nothing."""

    def find(expression: Expression) -> Found:
        for found in expression.matches(pattern):
            text = after(expression, found)
            if text is not None:
                yield *found.span(group), text

    return find


def _replaced(pattern: str, after: str) -> Finder:
    return _each(re.compile(pattern), lambda expression, found: after)


def _stands_alone(expression: Expression, found: re.Match[str]) -> bool:
    """Return whether no operator that binds as tightly stands beside a match."""
    before = expression.plain[expression.start : found.start()].rstrip()[-1:]
    after = expression.plain[found.end() : expression.end].lstrip()[:1]
    return before not in [*"+-*/%", "~", "!", "'", ".", "`"] and after not in [*"+-*/%", "[", INSIDE, "("]


def _carries(expression: Expression) -> Found:
    """Yield sums and differences whose carry into one bit is lost, as if two narrow adders stood side by side."""
    for found in expression.matches(_SUM):
        first, sign, second = (expression.original(found, group) for group in (1, 2, 3))
        width = max(expression.width(first) or 0, expression.width(second) or 0)
        if width < 3 or not _stands_alone(expression, found) or "s" in second.partition("'")[2][:1]:
            continue
        for bit in sorted({width // 2, width - 1} | ({8} if width > 10 else set())):
            high = f"(({first} >> {bit}) {sign} ({second} >> {bit})) << {bit}"
            yield found.start(), found.end(), f"(({high}) | (({first} {sign} {second}) & {{{bit}{{1'b1}}}}))"


def _narrowed(expression: Expression) -> Found:
    """Yield values that have lost their top bit."""
    for found in expression.matches(_NAME):
        term = expression.original(found)
        width = expression.width(term)
        if width is None or width < 3 or expression.plain[found.end() : expression.end].lstrip()[:1] in ("(", INSIDE):
            continue
        bounds = _SELECTION.search(term)
        high, low = (int(bounds[1]), int(bounds[2])) if bounds else (width - 1, 0)
        yield found.start(), found.end(), f"{{1'b0, {term.partition('[')[0]}[{high - 1}:{low}]}}"


def _less_one(expression: Expression, found: re.Match[str]) -> str | None:
    """Return n - 1 for n in a comparison."""
    second = expression.original(found, 2)
    return f"({second} - 1'b1)" if (expression.width(second) or 0) > 1 and _stands_alone(expression, found) else None


def _constants(step: int) -> Finder:
    def find(expression: Expression) -> Found:
        for found in expression.matches(_LITERAL):
            width, base = int(found[1]), {"d": 10, "h": 16, "b": 2}[found[3]]
            value = int(found[4], base)
            if width > 1 and value == 0:
                continue  # wide zeros are mostly resets and fillings
            other = value + step
            if step > 0 and other == 1 << width:
                other = value - 1
            elif step < 0 and (width == 1 or value + 1 == 1 << width):
                continue  # the operator that adds one does the same
            digits = {10: f"{other:d}", 16: f"{other:x}", 2: f"{other:b}"}[base]
            yield found.start(), found.end(), f"{found[1]}'{found[2]}{found[3]}{digits}"

    return find


def _swapped(form: str) -> Callable[[Expression, re.Match[str]], str | None]:
    """Return what makes two different terms of a match change places."""

    def after(expression: Expression, found: re.Match[str]) -> str | None:
        first, second = expression.original(found, 1), expression.original(found, 2)
        return form.format(second, first) if first != second else None

    return after


def _dropped(expression: Expression) -> Found:
    """Yield pairs of terms of which one remains."""
    for found in expression.matches(_DROPPED):
        yield found.start(), found.end(), expression.original(found, 1)
        before = expression.plain[expression.start : found.start()].rstrip()[-1:]
        if before in ("", "(") and "-" not in found[0]:
            yield found.start(), found.end(), expression.original(found, 2)


def _masks(expression: Expression) -> Found:
    for pattern in (_MASK_BEFORE, _MASK_AFTER):
        for found in expression.matches(pattern):
            yield *found.span(), " " if found[0].endswith("&") else ""


def _extensions(expression: Expression, found: re.Match[str]) -> str | None:
    """Return zero for the sign bit that extends a value."""
    return "1'b0" if INSIDE in found[1] and ":" not in expression.original(found, 1) else None


def _unsigned(expression: Expression) -> Found:
    """Yield signed values that become unsigned ones; the expression remains signed, so that the original one may."""
    for found in expression.matches(_SIGNED):
        close = closing(expression.plain, found.end(), expression.end)
        if close > 0:
            value = expression.text[found.end() + 1 : close]
            yield found.end(), close + 1, f"({{1'b0, {value}}})"


def _groups(expression: Expression, found: re.Match[str]) -> str | None:
    """Return the name of the other register group for one of a group."""
    other = f"{found[1]}d{1 - int(found[2])}_{found[3]}"
    return other if other in expression.names else None


def _whole(after: Callable[[str], str], clocked: bool) -> Finder:
    """Return the finder of a whole condition that asks for no reset."""

    def find(expression: Expression) -> Found:
        condition = expression.condition
        if condition is not None and (expression.clocked or not clocked):
            yield expression.start, expression.end, after(condition)

    return find


def _kept(expression: Expression) -> Found:
    """Yield values that a register does not load: it keeps its own, as a signed value beside one that may be signed."""
    found = _LOADED.search(expression.plain, max(expression.head, expression.start - 200), expression.start)
    if found and expression.clocked and not expression.resets:
        kept = expression.original(found, 1)
        if kept != expression.text[expression.start : expression.end].strip():
            yield expression.start, expression.end, f" $signed({kept})"


def _clear_wins(expression: Expression) -> Found:
    """Yield conditions that give way to the one of the next branch."""
    condition = expression.condition
    other = None if condition is None else _next_condition(expression.plain, expression.text, expression.end + 1)
    # Of a condition and its opposite, the one cannot win over the other.
    if other and _OPPOSITE.sub("", str(condition)).strip() != _OPPOSITE.sub("", other).strip():
        yield expression.start, expression.end, f"({condition}) && !({other})"
    for found in expression.matches(_CHAIN):
        before = expression.plain[expression.start : found.start()].rstrip()[-1:]
        if before in ("", "(", ":"):
            first, second = expression.original(found, 1), expression.original(found, 2)
            yield found.start(1), found.end(1), f"({first} && !{second})"


def _next_condition(plain: str, text: str, at: int) -> str | None:
    """Return the condition of the ``else if`` that follows a statement, None without one."""
    rest = plain[at : at + 4000]
    body = len(rest) - len(rest.lstrip())
    if not re.match(r"begin\b", rest[body:]):
        end = rest.find(";") + 1
        if re.search(r"\b(?:if|case[xz]?|for)\b", rest[:end]):
            return None
    else:
        depth = end = 0
        for found in _OPENED.finditer(rest, body):
            depth += 1 if found[1] else -1
            if depth == 0:
                end = found.end()
                break
    found_else = _ELSE_IF.match(rest, end) if end else None
    if found_else is None:
        return None
    opening = at + found_else.end() - 1
    close = closing(plain, opening, len(plain))
    condition = text[opening + 1 : close]
    return condition if close > 0 and not _asks_reset(condition) else None


KINDS: dict[str, Kind] = {
    "carry dropped": Kind(Family.WRAP, _carries),
    "top bit lost": Kind(Family.WRAP, _narrowed),
    "== n - 1 for == n": Kind(Family.LIMIT, _each(_EQUAL, _less_one, 2)),
    "<= for <": Kind(Family.LIMIT, _replaced(rf"{_OPERAND}<(?= )", "<=")),
    ">= for >": Kind(Family.LIMIT, _replaced(rf"{_OPERAND}>(?= )", ">=")),
    "< for <=": Kind(Family.LIMIT, _replaced(rf"{_OPERAND}<=(?= )", "<")),
    "> for >=": Kind(Family.LIMIT, _replaced(rf"{_OPERAND}>=(?= )", ">")),
    "enable removed": Kind(Family.STATE, _whole(lambda condition: "1'b1", clocked=True)),
    "value kept": Kind(Family.STATE, _kept),
    "other group": Kind(Family.STATE, _each(_GROUP, _groups)),
    "event lost": Kind(Family.EVENT, _whole(lambda condition: "1'b0", clocked=True)),
    "clear wins": Kind(Family.EVENT, _clear_wins),
    "dropped term": Kind(Family.EVENT, _dropped),
    "mask removed": Kind(Family.MASK, _masks),
    "&& for ||": Kind(Family.CONDITION, _replaced(r"\|\|", "&&")),
    "|| for &&": Kind(Family.CONDITION, _replaced(r"&&", "||")),
    "!= for ==": Kind(Family.CONDITION, _replaced(r"(?<![=!])==(?!=)", "!=")),
    "== for !=": Kind(Family.CONDITION, _replaced(r"!=(?!=)", "==")),
    "inverted condition": Kind(Family.CONDITION, _whole(lambda condition: f"!({condition})", clocked=False)),
    "constant + 1": Kind(Family.CONSTANT, _constants(1)),
    "constant - 1": Kind(Family.CONSTANT, _constants(-1)),
    "sign extension dropped": Kind(Family.DATA, _each(_EXTENSION, _extensions, 1)),
    "unsigned": Kind(Family.DATA, _unsigned),
    ">> for >>>": Kind(Family.DATA, _replaced(r">>>", ">>")),
    "swapped concatenation": Kind(Family.DATA, _each(_PAIR, _swapped("{{{}, {}"))),
    "swapped branches": Kind(Family.DATA, _each(_BRANCHES, _swapped("? {} : {}"))),
    "- for +": Kind(Family.ARITHMETIC, _replaced(rf"{_OPERAND}\+(?= )", "-")),
    "+ for -": Kind(Family.ARITHMETIC, _replaced(rf"{_OPERAND}-(?= )", "+")),
}
"""All operators by name."""

WEIGHTS = {
    **dict.fromkeys(Family, 2),
    **dict.fromkeys((Family.WRAP, Family.LIMIT, Family.STATE, Family.EVENT), 3),
    Family.ARITHMETIC: 1,
}
"""How often a family is drawn, compared with the others."""
