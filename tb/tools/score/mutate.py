"""Mutants of Verilog sources: one lexical change each, on expressions, chosen by a seed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from models.errors import InputError
from tb.tools.score.spans import spans

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_NOT_SYNTHESIZED = re.compile(
    r"(?://|/\*)[ \t]*\w+[ \t]+translate_off\b.*?(?:(?://|/\*)[ \t]*\w+[ \t]+translate_on\b[^\n]*|\Z)", re.DOTALL
)
_MODULE = re.compile(r"\bmodule\s+(\w+)(.*?)\bendmodule\b", re.DOTALL)
_CONDITIONAL = re.compile(r"^[ \t]*`(ifdef|ifndef|else|elsif|endif)\b[ \t]*(\w*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*`[^\n]*", re.MULTILINE)
# What is declared, not computed.
_DECLARATION = re.compile(
    r"^[ \t]*(?:(?:input|output|inout|parameter|localparam|genvar|integer|function|task|initial|for)\b|`)[^;\n]*",
    re.MULTILINE,
)
_INSIDE = "\N{FULL BLOCK}"
"""Stands for every character of a selection, brackets included: widths and selections are left alone."""
_SELECTION = re.compile(r"\[[^\[\]]*\]")
_LITERAL = re.compile(r"\b(\d+)'(s?)([dhb])([0-9a-fA-F]+)\b")
_TERM = rf"[A-Za-z_]\w*{_INSIDE}*"
_PAIR = re.compile(rf"\{{({_TERM}), *({_TERM})\}}")
_SUM = re.compile(rf"({_TERM}) *[-+&|] *{_TERM}(?= *(?:[,)]|$))")
_IF = re.compile(r"\bif\s*\($")


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes:
        path: the file.
        module: in which it is.
        line: of the change, from 1.
        kind: of the change, as ``+ for -``.
        start: where the text that is replaced begins.
        before: that text.
        after: what it becomes.
        span: where the expression begins and ends that it is in.
    """

    path: Path
    module: str
    line: int
    kind: str
    start: int
    before: str
    after: str
    span: tuple[int, int]

    @property
    def name(self) -> str:
        """What tells it apart: module, line and column in the file."""
        return f"{self.module}.{self.line}.{self.start}"

    def __str__(self) -> str:
        """Return the mutant in one line."""
        return f"{self.path.name}:{self.line} ({self.module}): {self.kind}: {_flat(self.before)} -> {_flat(self.after)}"

    def expression(self, text: str) -> str:
        """Return the expression with the change, from the file's text.

        Raises:
            InputError: when the text is not the one that the mutant was made from.
        """
        start, end = self.span
        changed_end = self.start + len(self.before)
        if text[self.start : changed_end] != self.before:
            raise InputError(
                f"{self.path.name} must hold {self.before!r} at {self.start}, not {text[self.start : changed_end]!r}"
            )
        return text[start : self.start] + self.after + text[changed_end:end]


def choose(files: Sequence[Path], count: int, seed: int, modules: str = "*") -> list[Mutant]:
    """Return mutants of some modules, spread over modules and kinds of changes.

    Args:
        files: sources to choose from.
        count: how many; fewer when there are not so many.
        seed: of the choice.
        modules: shell patterns of the modules' names, comma-separated.

    Raises:
        InputError: when nothing can be changed.
    """
    if count < 1:
        raise InputError(f"count must be at least 1, not {count}")
    rng = np.random.default_rng([seed, 0x3417])
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for path in files:
        for mutant in mutants_of(path, modules):
            groups.setdefault((mutant.module, mutant.kind), []).append(mutant)
    if not groups:
        raise InputError(f"modules must match a module with expressions, not {modules}")
    lots = [[lot[n] for n in rng.permutation(len(lot))] for lot in groups.values()]
    lots = [lots[n] for n in rng.permutation(len(lots))]
    chosen: list[Mutant] = []
    while len(chosen) < count and any(lots):
        for lot in lots:
            if lot and len(chosen) < count:
                chosen.append(lot.pop())
    return chosen


def mutants_of(path: Path, modules: str = "*") -> Iterator[Mutant]:
    """Yield every mutant of the modules of a file whose names match one of the shell patterns."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    code = without_comments(text)
    plain = visible(code)
    for name, head, end in modules_of(plain):
        if not any(fnmatchcase(name, pattern) for pattern in modules.split(",")):
            continue
        for start, stop in spans(code, head, end):
            for kind, find in KINDS.items():
                for at, behind, after in find(plain, text, start, stop):
                    line = text.count("\n", 0, at) + 1
                    yield Mutant(path, name, line, kind, at, text[at:behind], after, (start, stop))


def modules_of(plain: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, begin of the items and end of every module of a text without comments."""
    for module in _MODULE.finditer(plain):
        yield module[1], plain.index(";", module.start(2)) + 1, module.end(2)


def without_comments(text: str) -> str:
    """Return text of the same length with blanks for comments, strings, directives and what they leave out."""
    synthesized = _NOT_SYNTHESIZED.sub(_blank, text)
    return _DIRECTIVE.sub(_blank, _without_conditionals(_COMMENT.sub(_blank, synthesized)))


def visible(code: str) -> str:
    """Return text of the same length with blanks for what is declared, and one character for all in brackets."""
    text = _DECLARATION.sub(_blank, code)
    previous = ""
    while previous != text:
        previous, text = text, _SELECTION.sub(lambda found: re.sub(r"[^\n]", _INSIDE, found[0]), text)
    return text


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _without_conditionals(text: str) -> str:
    """Blank what stands behind ``ifdef``, and all that asks for SYNTHESIS: assertions and simulation aids."""
    kept, hidden, stack, aids = [], 0, [], []
    at = 0
    for found in _CONDITIONAL.finditer(text):
        part = text[at : found.start()]
        kept.append(re.sub(r"[^\n]", " ", part) if hidden else part)
        kept.append(" " * len(found[0]))
        at = found.end()
        word, name = found[1], found[2]
        if word in ("ifdef", "ifndef"):
            aids.append(name == "SYNTHESIS")
            stack.append(word == "ifdef" or aids[-1])
            hidden += stack[-1]
        elif stack and word == "endif":
            hidden -= stack.pop()
            aids.pop()
        elif stack:
            hidden -= stack[-1]
            stack[-1] = aids[-1] or not stack[-1]
            hidden += stack[-1]
    kept.append(text[at:])
    return "".join(kept)


Found = Iterator[tuple[int, int, str]]
"""Start and end of a text, and what replaces it."""

Finder = Callable[[str, str, int, int], Found]
"""From visible text, the same with everything, start and end, to what may be replaced there."""


def _replaced(pattern: str, after: str) -> Finder:
    compiled = re.compile(pattern)

    def find(plain: str, text: str, start: int, end: int) -> Found:
        del text
        for found in compiled.finditer(plain, start, end):
            yield found.start(), found.end(), after

    return find


def _constants(plain: str, text: str, start: int, end: int) -> Found:
    del text
    for found in _LITERAL.finditer(plain, start, end):
        width, base = int(found[1]), {"d": 10, "h": 16, "b": 2}[found[3]]
        value = int(found[4], base)
        if width > 1 and value == 0:
            continue  # wide zeros are mostly resets and fillings
        other = value + 1 if value + 1 < 1 << width else value - 1
        digits = {10: f"{other:d}", 16: f"{other:x}", 2: f"{other:b}"}[base]
        yield found.start(), found.end(), f"{found[1]}'{found[2]}{found[3]}{digits}"


def _concatenations(plain: str, text: str, start: int, end: int) -> Found:
    for found in _PAIR.finditer(plain, start, end):
        first, second = text[slice(*found.span(1))], text[slice(*found.span(2))]
        if first != second:
            yield found.start(), found.end(), f"{{{second}, {first}}}"


def _dropped(plain: str, text: str, start: int, end: int) -> Found:
    for found in _SUM.finditer(plain, start, end):
        yield found.start(), found.end(), text[slice(*found.span(1))]


def _conditions(plain: str, text: str, start: int, end: int) -> Found:
    condition = text[start:end]
    is_condition = _IF.search(plain, max(0, start - 40), start)
    if is_condition and is_condition.end() == start and "rst" not in condition and "reset" not in condition:
        yield start, end, f"!({condition})"


def _flat(text: str) -> str:
    return " ".join(text.split())


_OPERAND = rf"(?<=[\w)}}{_INSIDE}] )"

KINDS: dict[str, Finder] = {
    "- for +": _replaced(rf"{_OPERAND}\+(?= )", "-"),
    "+ for -": _replaced(rf"{_OPERAND}-(?= )", "+"),
    "<= for <": _replaced(rf"{_OPERAND}<(?= )", "<="),
    ">= for >": _replaced(rf"{_OPERAND}>(?= )", ">="),
    "|| for &&": _replaced(r"&&", "||"),
    "&& for ||": _replaced(r"\|\|", "&&"),
    "!= for ==": _replaced(r"(?<![=!])==(?!=)", "!="),
    "== for !=": _replaced(r"!=(?!=)", "=="),
    "constant": _constants,
    "swapped concatenation": _concatenations,
    "dropped term": _dropped,
    "inverted condition": _conditions,
}
