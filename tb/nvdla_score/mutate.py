"""Mutants of Verilog sources: one lexical change each, on expressions, chosen by a seed."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from nvdla_models.errors import InputError
from nvdla_score.operators import INSIDE, KINDS, WEIGHTS, Expression, Family
from nvdla_score.spans import spans
from nvdla_score.yosys import read_source

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_NOT_SYNTHESIZED = re.compile(
    r"(?://|/\*)[ \t]*\w+[ \t]+translate_off\b.*?(?:(?://|/\*)[ \t]*\w+[ \t]+translate_on\b[^\n]*|\Z)", re.DOTALL
)
_MODULE = re.compile(r"\bmodule\s+(\w+)(.*?)\bendmodule\b", re.DOTALL)
_MODULE_NAME = re.compile(r"\bmodule\s+(\w+)")
_CONDITIONAL = re.compile(r"^[ \t]*`(ifdef|ifndef|else|elsif|endif)\b[ \t]*(\w*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*`[^\n]*", re.MULTILINE)
# What is declared, not computed.
_DECLARATION = re.compile(
    r"^[ \t]*(?:(?:input|output|inout|parameter|localparam|genvar|integer|function|task|initial|for)\b|`)[^;\n]*",
    re.MULTILINE,
)
_SELECTION = re.compile(r"\[[^\[\]]*\]")
_VECTOR = re.compile(
    r"\b(?:input|output|inout|reg|wire|logic)\s+\[([\d+\- ]+):([\d+\- ]+)\]\s*(\w+(?:\s*,\s*\w+)*)\s*[;,=)]"
)
"""Declares unsigned vectors with bounds that are numbers, or sums of them."""
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes:
        path: the file.
        module: in which it is.
        line: line of the change, from 1.
        kind: kind of the change, as ``+ for -``.
        start: where the text that is replaced begins.
        before: that text.
        after: new text.
        span: where the expression begins and ends that it is in.
        fixed: whether that expression has no variable.
    """

    path: Path
    module: str
    line: int
    kind: str
    start: int
    before: str
    after: str
    span: tuple[int, int]
    fixed: bool

    @property
    def family(self) -> Family:
        """Description of bugs of its kind."""
        return KINDS[self.kind].family

    @property
    def name(self) -> str:
        """The identity of the mutant: module, line, place in the file, and the new text."""
        return f"{self.module}.{self.line}.{self.start}.{zlib.crc32(self.after.encode()):08x}"

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


def choose(
    files: Sequence[Path],
    count: int,
    seed: int,
    modules: str = "*",
    instantiated: Collection[str] | None = None,
    defines: Collection[str] = (),
) -> list[Mutant]:
    """Return mutants of some modules, spread over families of bugs, modules and kinds of changes.

    A family is drawn by its weight; a module by how many places of the family it has, of which a large module's
    count less, and the less the more of its mutants were drawn; then a kind, then a place.

    Args:
        files: sources to choose from.
        count: how many; fewer when there are not so many.
        seed: seed of the choice.
        modules: shell patterns of the modules' names, comma-separated.
        instantiated: names of the modules that the design consists of, None for all.
        defines: names of the macros that are defined when the design is built.

    Raises:
        InputError: when nothing can be changed.
    """
    if count < 1:
        raise InputError(f"count must be at least 1, not {count}")
    rng = np.random.default_rng([seed, 0x3417])
    lots: dict[Family, dict[str, dict[str, list[Mutant]]]] = {}
    for path in files:
        for mutant in mutants_of(path, modules, instantiated, defines):
            lots.setdefault(mutant.family, {}).setdefault(mutant.module, {}).setdefault(mutant.kind, []).append(mutant)
    if not lots:
        raise InputError(f"modules must match a module with expressions, not {modules}")
    chosen: list[Mutant] = []
    drawn: dict[str, int] = {}
    while len(chosen) < count and any(lots.values()):
        families = [family for family in Family if lots.get(family)]
        of_family = lots[families[_drawn(rng, [WEIGHTS[family] for family in families])]]
        names = list(of_family)
        places = [sum(map(len, of_family[name].values())) for name in names]
        shares = [found**0.5 / (1 + drawn.get(name, 0)) ** 2 for name, found in zip(names, places, strict=True)]
        module = names[_drawn(rng, shares)]
        kinds = list(of_family[module])
        kind = kinds[int(rng.integers(len(kinds)))]
        lot = of_family[module][kind]
        chosen.append(lot.pop(int(rng.integers(len(lot)))))
        drawn[module] = drawn.get(module, 0) + 1
        if not lot:
            del of_family[module][kind]
        if not of_family[module]:
            del of_family[module]
    return chosen


def _drawn(rng: np.random.Generator, weights: Sequence[float]) -> int:
    """Return the number of one of several things, drawn by their weights."""
    shares = np.array(weights, dtype=np.float64)
    return int(rng.choice(len(shares), p=shares / shares.sum()))


def mutants_of(
    path: Path, modules: str = "*", instantiated: Collection[str] | None = None, defines: Collection[str] = ()
) -> Iterator[Mutant]:
    """Yield every mutant of the modules of a file whose names match one of the shell patterns.

    The arguments are those of ``choose``.
    """
    text = read_source(path)
    if instantiated is not None and not any(name in instantiated for name in _MODULE_NAME.findall(text)):
        return
    code = without_comments(text, defines)
    plain = visible(code)
    for name, head, end in modules_of(plain):
        if not any(fnmatchcase(name, pattern) for pattern in modules.split(",")):
            continue
        if instantiated is not None and name not in instantiated:
            continue
        begin = plain.rindex("module", 0, head)
        widths, names = vectors(code[begin:end]), frozenset(_WORD.findall(code, begin, end))
        for start, stop in spans(code, head, end):
            expression = Expression(plain, text, start, stop, head, widths, names)
            if expression.asks_for_x:
                continue
            for kind, operator in KINDS.items():
                for at, behind, after in operator.find(expression):
                    if text[at:behind] != after:
                        line = text.count("\n", 0, at) + 1
                        fixed = not expression.has_variables
                        yield Mutant(path, name, line, kind, at, text[at:behind], after, (start, stop), fixed)


def vectors(code: str) -> dict[str, int]:
    """Return the bits of the unsigned vectors that end at bit 0, by name, of a module without comments."""
    widths: dict[str, int] = {}
    for found in _VECTOR.finditer(code):
        high, low = (_sum(bound) for bound in found.group(1, 2))
        if high is not None and low == 0 and high > 0:
            widths |= {name.strip(): high + 1 for name in found[3].split(",")}
    return widths


def _sum(text: str) -> int | None:
    """Return the value of a sum of numbers, None for what is none."""
    terms = re.findall(r"([-+]?)\s*(\d+)", text)
    return sum(-int(digits) if sign == "-" else int(digits) for sign, digits in terms) if terms else None


def modules_of(plain: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, begin of the items and end of every module of a text without comments."""
    for module in _MODULE.finditer(plain):
        yield module[1], plain.index(";", module.start(2)) + 1, module.end(2)


def without_comments(text: str, defines: Collection[str] = ()) -> str:
    """Return text of the same length with blanks for comments, strings, directives and what they leave out."""
    synthesized = _NOT_SYNTHESIZED.sub(_blank, text)
    return _DIRECTIVE.sub(_blank, _without_conditionals(_COMMENT.sub(_blank, synthesized), defines))


def visible(code: str) -> str:
    """Return text of the same length with blanks for what is declared, and one character for all in brackets."""
    text = _DECLARATION.sub(_blank, code)
    previous = ""
    while previous != text:
        previous, text = text, _SELECTION.sub(lambda found: re.sub(r"[^\n]", INSIDE, found[0]), text)
    return text


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


@dataclass
class _Conditional:
    """A conditional that is open: whether it is about SYNTHESIS, had a branch that is compiled, and is in none."""

    aid: bool
    taken: bool
    hidden: bool


def _without_conditionals(text: str, defines: Collection[str]) -> str:
    """Blank branches that are not compiled, and all that asks for SYNTHESIS: assertions and simulation aids."""
    kept: list[str] = []
    stack: list[_Conditional] = []
    at = 0
    for found in _CONDITIONAL.finditer(text):
        part = text[at : found.start()]
        hidden = any(conditional.hidden for conditional in stack)
        kept.append(re.sub(r"[^\n]", " ", part) if hidden else part)
        kept.append(" " * len(found[0]))
        at = found.end()
        word, name = found[1], found[2]
        if word in ("ifdef", "ifndef"):
            aid, compiled = name == "SYNTHESIS", (word == "ifdef") == (name in defines)
            stack.append(_Conditional(aid, compiled, aid or not compiled))
        elif stack and word == "endif":
            stack.pop()
        elif stack:
            inner = stack[-1]
            compiled = not inner.taken and (word == "else" or name in defines)
            inner.taken |= compiled
            inner.hidden = inner.aid or not compiled
    kept.append(text[at:])
    return "".join(kept)


def _flat(text: str) -> str:
    return " ".join(text.split())
