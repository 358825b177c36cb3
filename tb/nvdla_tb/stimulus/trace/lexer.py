"""From the text of a ``.cfg`` file to its commands, each with the line it stands on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nvdla_tb.stimulus.trace.errors import TraceError
from nvdla_tb.stimulus.trace.notes import MARK

_TOKEN = re.compile(
    rf"""
    (?P<blank>\s+)
    | (?P<note>{re.escape(MARK.strip())}[^\n]*)
    | (?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)
    | (?P<word>[\w.]+)
    | (?P<string>"[^"\n\0]*")
    | (?P<mark>[(),;])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


@dataclass(frozen=True)
class Token:
    """One token: ``kind`` is the name of its group in the lexer's expression."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """One command with its arguments; a note is a ``Command`` called ``//`` with the comment as argument."""

    name: str
    arguments: tuple[Token, ...]
    line: int

    @property
    def is_note(self) -> bool:
        """True for a comment that carries a note."""
        return self.name == "//"


def commands(text: str, path: Path) -> Iterator[Command]:
    """Yield the commands and notes of a configuration file in order.

    Line breaks mean no more than blanks do, so a line may hold several commands; the semicolon
    after a command may be left out.

    Args:
        text: The file's content.
        path: Name of the file in messages.

    Raises:
        TraceError: for text that is no command.

    Source: verification suite user guide, Trace Test format, Configuration File Format; comments,
        blanks and both kinds of numbers as in the public nv_small traces.
    """
    stream = _tokens(text, path)
    for token in stream:
        if token.kind == "note":
            yield Command("//", (token,), token.line)
        elif token.kind == "word":
            yield Command(token.text, _arguments(token, stream, path), token.line)
        elif token.text != ";":
            raise TraceError.at(path, token.line, f"a command must begin with its name, not {token.text}")


def _arguments(name: Token, stream: Iterator[Token], path: Path) -> tuple[Token, ...]:
    _expect(name, stream, path, "(")
    arguments: list[Token] = []
    while True:
        token = _next(name, stream, path)
        if token.text == ")" and not arguments:
            return ()
        if token.kind not in ("word", "string"):
            raise TraceError.at(
                path, token.line, f"{name.text}: an argument must be a word or a file, not {token.text}"
            )
        arguments.append(token)
        if _expect(name, stream, path, ",", ")") == ")":
            return tuple(arguments)


def _expect(name: Token, stream: Iterator[Token], path: Path, *allowed: str) -> str:
    token = _next(name, stream, path)
    if token.text not in allowed:
        raise TraceError.at(path, token.line, f"{name.text}: {' or '.join(allowed)} must follow, not {token.text}")
    return token.text


def _next(name: Token, stream: Iterator[Token], path: Path) -> Token:
    token = next(stream, None)
    if token is None:
        raise TraceError.at(path, name.line, f"{name.text} must end with ), not with the file")
    if token.kind == "note":
        raise TraceError.at(path, token.line, f"a note must stand between commands, not inside {name.text}")
    return token


def _tokens(text: str, path: Path) -> Iterator[Token]:
    position, line = 0, 1
    for match in _TOKEN.finditer(text):
        if match.start() > position:
            break
        position, kind = match.end(), str(match.lastgroup)
        # No other token holds line breaks.
        if kind in ("blank", "comment"):
            line += match[0].count("\n")
        else:
            yield Token(kind, match[0], line)
    if position < len(text):
        raise TraceError.at(path, line, _unreadable(text, position))


def _unreadable(text: str, position: int) -> str:
    if text.startswith("/*", position):
        return "a comment must end with */"
    if text[position] == '"':
        return 'a quoted file must end with " on the same line'
    return f"text must be commands and comments, not {text[position]!r}"
