"""JSON schemas of types, each key with what its docstring says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

import msgspec
from msgspec import inspect as kinds

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n     +.+)*)", re.MULTILINE)


def schema_parts(*types: type[msgspec.Struct]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """Return references to types, and the schemas of these and of all tables in them by name."""
    references, parts = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for kind in types:
        for table in _tables(kinds.type_info(kind), set()):
            part = parts[table.__name__]
            part["description"] = cleandoc(table.__doc__ or "").partition("\n\nAttributes:\n")[0]
            for key, about in _attributes(table):
                if key in part["properties"]:
                    part["properties"][key]["description"] = about
    return references, parts


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a file."""
    (reference,), parts = schema_parts(kind)
    return {"$schema": DIALECT, **reference, "$defs": parts}


def _attributes(table: type) -> Iterator[tuple[str, str]]:
    """Yield the attributes that the docstrings of a class and of those that it is made of name, the own ones last."""
    for each in reversed(table.__mro__):
        for key, about in _ATTRIBUTE.findall(cleandoc(each.__doc__ or "").partition("\n\nAttributes:\n")[2]):
            yield key, " ".join(about.split())


def _tables(kind: kinds.Type, seen: set[type]) -> Iterator[type]:
    """Yield the classes of a type's tables."""
    if isinstance(kind, kinds.StructType):
        if kind.cls in seen:
            return
        seen.add(kind.cls)
        yield kind.cls
        parts: list[kinds.Type] = [field.type for field in kind.fields]
    else:
        parts = [*getattr(kind, "types", ()), *getattr(kind, "item_types", ())]
        parts += [getattr(kind, name) for name in ("item_type", "value_type") if hasattr(kind, name)]
    for part in parts:
        yield from _tables(part, seen)
