"""Plain data from files as dataclasses: every key, type and range is checked by the types of the fields."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from nvdla_models.errors import InputError

T = TypeVar("T")


def converted(raw: Any, kind: type[T], where: str, error: type[InputError] = InputError) -> T:
    """Return plain data as a dataclass.

    Args:
        raw: tables, lists, texts and numbers.
        kind: type to convert to.
        where: its name in messages.
        error: type of the exceptions to raise.

    Raises:
        InputError: of the type ``error``, naming the key, what is allowed and what is there.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as why:
        raise error(f"{where}: {why}") from why
