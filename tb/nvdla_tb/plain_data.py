"""Plain data from files as Structs and dataclasses: every key, type and range is checked by the types of the fields.

Types say what a file may hold, ``msgspec`` decodes it, and this module alone makes a refusal of it::

    class Level(msgspec.Struct, forbid_unknown_fields=True):
        seeds: Annotated[int, msgspec.Meta(ge=1)]

    converted({"seeds": 0}, Level, "levels.toml")     # levels.toml: seeds must be an integer of at least 1, not 0
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from threading import RLock
from typing import Any, TypeVar

import msgspec
from msgspec import inspect as kinds

from nvdla_models.errors import InputError
from nvdla_models.reading import shown

T = TypeVar("T")

_CONVERTING = RLock()
"""msgspec 0.22 crashes when two threads meet a type for the first time: one uses what the other has half resolved."""


def converted(raw: Any, kind: type[T], where: str, error: type[InputError] = InputError, path: str = "") -> T:
    """Return plain data as a value of a type.

    Args:
        raw: tables, lists, texts and numbers.
        kind: type to convert to.
        where: its name in messages.
        error: type of the exceptions to raise.
        path: the keys that lead to it, such as ``layer[3]``.

    Raises:
        InputError: of the type ``error``, naming the key, what is allowed and what is there.
    """
    try:
        with _CONVERTING:
            return msgspec.convert(raw, kind)
    except msgspec.ValidationError as why:
        problem = next(_problems(raw, kinds.type_info(kind), path), str(why))
        raise error(f"{where}: {problem}") from why
    except InputError as why:  # of a rule for several keys
        raise error(f"{where}: {_joined(path, str(why))}") from why


def decoded(data: str | bytes, kind: type[T]) -> T:
    """Return the JSON that a program of this project, or a tool, has just written, as a value of a type.

    Raises:
        msgspec.DecodeError: when it is none; what a user may have written goes through ``converted``.
    """
    with _CONVERTING:
        return msgspec.json.decode(data, type=kind)


def check_fields(value: msgspec.Struct, error: type[InputError]) -> None:
    """Check the fields of a Struct that Python code has made, as ``converted`` checks those of a file.

    Raises:
        InputError: of the type ``error``, naming the field, what is allowed and what is there.
    """
    for field in _fields(type(value)):
        for problem in _problems(getattr(value, field.name), field.type, field.name):
            raise error(problem)


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[kinds.Field, ...]:
    info = kinds.type_info(kind)
    assert isinstance(info, kinds.StructType)
    return info.fields


def _problems(raw: Any, kind: kinds.Type, path: str) -> Iterator[str]:
    """Yield what a value breaks of a type, each beginning with the path of its key."""
    match kind:
        case _ if not _is_of(raw, kind):
            yield _must(path, kind, raw)
        case kinds.UnionType():
            found = [list(_problems(raw, one, path)) for one in kind.types if _is_of(raw, one)]
            if all(found):
                yield found[0][0]
        case kinds.StructType() | kinds.DataclassType() if isinstance(raw, Mapping):
            yield from _problems_of_table(raw, kind, path)
        case kinds.DictType():
            for key, value in raw.items():
                if not _is_of(key, kind.key_type):
                    yield _must(f"a key of {path}", kind.key_type, key)
                yield from _problems(value, kind.value_type, _joined(path, key))
        case kinds.ListType() | kinds.VarTupleType():
            for number, value in enumerate(raw):
                yield from _problems(value, kind.item_type, f"{path}[{number}]")
        case kinds.TupleType():
            pairs = zip(raw, kind.item_types, strict=True)
            if any(problem for value, one in pairs for problem in _problems(value, one, path)):
                yield _must(path, kind, raw)


def _problems_of_table(
    raw: Mapping[str, Any], kind: kinds.StructType | kinds.DataclassType, path: str
) -> Iterator[str]:
    tag = kind.tag_field if isinstance(kind, kinds.StructType) else None
    closed = isinstance(kind, kinds.StructType) and kind.forbid_unknown_fields
    fields = {field.encode_name: field for field in kind.fields}
    allowed = [*([] if tag is None else [tag]), *fields]
    for key, value in raw.items():
        if key in fields:
            yield from _problems(value, fields[key].type, _joined(path, key))
        elif key not in allowed and closed:
            yield f"{_joined(path, key)} is unknown; allowed: {', '.join(allowed)}"
    for key, field in fields.items():
        if field.required and key not in raw:
            yield f"{_joined(path, key)} is missing"


def _joined(path: str, key: str) -> str:
    return f"{path}.{shown(key)}" if path else shown(key)


def _must(path: str, kind: kinds.Type, raw: Any) -> str:
    wanted = _wanted(kind)
    tables = [one for one in wanted if isinstance(one, kinds.StructType)]
    if isinstance(raw, Mapping) and tables and tables[0].tag_field is not None:
        # Of the tables that are allowed none has this tag.
        path, raw = _joined(path, tables[0].tag_field), raw.get(tables[0].tag_field)
        wanted = [kinds.LiteralType(tuple(one.tag for one in tables))]
    words = " or ".join(dict.fromkeys(_allowed(one) for one in wanted))
    is_name = isinstance(raw, str) and raw != "" and isinstance(wanted[0], kinds.EnumType | kinds.LiteralType)
    return f"{path} must be {words}, not {shown(raw if is_name else repr(raw))}".lstrip()


def _wanted(kind: kinds.Type) -> list[kinds.Type]:
    """Return the types that a file may hold: TOML has no null."""
    types = kind.types if isinstance(kind, kinds.UnionType) else (kind,)
    return [one for one in types if not isinstance(one, kinds.NoneType)]


def _is_of(raw: Any, kind: kinds.Type) -> bool:
    """Return whether a value is one of a type, whatever its parts are."""
    match kind:
        case kinds.UnionType():
            return any(_is_of(raw, one) for one in kind.types)
        case kinds.StructType():
            return isinstance(raw, kind.cls) or (isinstance(raw, Mapping) and raw.get(kind.tag_field) == kind.tag)
        case kinds.DictType() | kinds.DataclassType():
            return isinstance(raw, Mapping)
        case kinds.TupleType():
            return isinstance(raw, list | tuple) and len(raw) == len(kind.item_types)
        case kinds.ListType() | kinds.VarTupleType():
            least, most = kind.min_length or 0, kind.max_length
            return isinstance(raw, list | tuple) and least <= len(raw) and (most is None or len(raw) <= most)
        case kinds.LiteralType() | kinds.EnumType():
            return any(raw == value and type(raw) is type(value) for value in _values(kind))
        case kinds.IntType() | kinds.FloatType():
            numbers = (int,) if isinstance(kind, kinds.IntType) else (int, float)
            return type(raw) in numbers and all(holds(raw, limit) for _, holds, limit in _limits(kind))
        case kinds.StrType():
            fits = isinstance(raw, str) and len(raw) >= (kind.min_length or 0)
            return fits and (kind.pattern is None or re.search(kind.pattern, raw) is not None)
        case kinds.BoolType():
            return isinstance(raw, bool)
        case kinds.NoneType():
            return raw is None
        case _:
            return True


def _values(kind: kinds.LiteralType | kinds.EnumType) -> tuple[Any, ...]:
    return kind.values if isinstance(kind, kinds.LiteralType) else tuple(member.value for member in kind.cls)


def _limits(kind: kinds.IntType | kinds.FloatType) -> list[tuple[str, Callable[[float, float], bool], float]]:
    """Return the limits of a number: words, comparison, and limit."""
    found = (
        ("at least", operator.ge, kind.ge),
        ("above", operator.gt, kind.gt),
        ("at most", operator.le, kind.le),
        ("below", operator.lt, kind.lt),
    )
    return [(words, holds, limit) for words, holds, limit in found if limit is not None]


def _allowed(kind: kinds.Type, number: int = 1) -> str:
    """Return what a type allows, in words; with ``number``, of so many of them."""
    plain = _WORDS.get(type(kind))
    match kind:
        case kinds.IntType() | kinds.FloatType() if kind.ge is not None and kind.le is not None:
            each = " each" if number > 1 else ""
            return f"{_counted(*_WORDS[type(kind)], number)} from {kind.ge} to {kind.le}{each}"
        case kinds.IntType() | kinds.FloatType() if _limits(kind):
            limits = " and ".join(f"{words} {limit}" for words, _, limit in _limits(kind))
            return f"{_counted(*_WORDS[type(kind)], number)} of {limits}"
        case kinds.LiteralType() | kinds.EnumType():
            values = [str(value) for value in _values(kind)]
            return f"one of {', '.join(values)}" if len(values) > 1 else values[0]
        case kinds.StrType() if kind.pattern is not None:
            return f"a text like {kind.pattern}"
        case kinds.ListType() | kinds.VarTupleType() if kind.min_length:
            return f"a list of at least {kind.min_length}"
        case kinds.TupleType() if len(set(map(repr, kind.item_types))) == 1:
            return _allowed(kind.item_types[0], len(kind.item_types))
        case _:
            return "something else" if plain is None else _counted(*plain, number)


def _counted(article: str, word: str, number: int) -> str:
    return f"{article} {word}".lstrip() if number == 1 else f"{number} {word}s"


_WORDS: dict[type[kinds.Type], tuple[str, str]] = {
    kinds.BoolType: ("", "true or false"),
    kinds.IntType: ("an", "integer"),
    kinds.FloatType: ("a", "number"),
    kinds.StrType: ("a", "text"),
    kinds.ListType: ("a", "list"),
    kinds.VarTupleType: ("a", "list"),
    kinds.TupleType: ("a", "list"),
    kinds.DictType: ("a", "table"),
    kinds.DataclassType: ("a", "table"),
    kinds.StructType: ("a", "table"),
}
