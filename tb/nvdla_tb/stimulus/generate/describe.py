"""Reading descriptions: plain tables from TOML whose keys are checked, so that no typing error is ignored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from nvdla_models.errors import InputError
from nvdla_models.reading import shown

E = TypeVar("E", bound=Enum)


class PlanError(InputError):
    """A plan that cannot be understood; the message names the place, the key and what is allowed."""


class Table:
    """One table of a plan; every key must be asked for, and ``done`` refuses the rest."""

    def __init__(self, where: str, data: Mapping[str, Any]) -> None:
        """Wrap ``data``, which messages call ``where``.

        Raises:
            PlanError: when it is no table.
        """
        if not isinstance(data, Mapping):
            raise PlanError(f"{where} must be a table, not {shown(repr(data))}")
        self.where = where
        self._data = dict(data)
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        """Return whether a key is there that nothing asked for yet."""
        self._asked.append(key)
        return key in self._data

    def take(self, key: str, kind: type, default: Any = None, *, required: bool = False) -> Any:
        """Return one value.

        Raises:
            PlanError: when it is missing though required, or of another type.
        """
        self._asked.append(key)
        if key not in self._data:
            if required:
                raise PlanError(f"{self.where} lacks the key {key}")
            return default
        value = self._data.pop(key)
        if type(value) is not kind:
            raise PlanError(f"{self.where}.{key} must be {kind.__name__}, not {shown(repr(value))}")
        return value

    def names(self, key: str, allowed: Sequence[str] | None = None, *, required: bool = False) -> tuple[str, ...]:
        """Return a list of texts, any unless some are allowed; without the key, an empty one.

        Raises:
            PlanError: when it is missing though required, or not such a list.
        """
        values = self.take(key, list, [], required=required)
        if any(type(value) is not str for value in values):
            raise PlanError(f"{self.where}.{key} must be a list of texts, not {shown(repr(values))}")
        for value in values:
            if allowed is not None and value not in allowed:
                raise PlanError(f"{self.where}.{key} must be of {', '.join(allowed)}, not {value}")
        return tuple(values)

    def integers(self, key: str, count: int, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """Return a list of ``count`` integers.

        Raises:
            PlanError: when it is missing without a default, or not such a list.
        """
        values = self.take(key, list, list(default) if default is not None else None, required=default is None)
        if len(values) != count or any(type(value) is not int for value in values):
            raise PlanError(f"{self.where}.{key} must be {count} integers, not {shown(repr(values))}")
        return tuple(values)

    def span(self, key: str, limits: tuple[int, int]) -> tuple[int, int]:
        """Return the smallest and the largest of numbers that are drawn; without the key, the limits.

        Raises:
            PlanError: when they are no such pair within the limits.
        """
        low, high = self.integers(key, 2, limits)
        if not limits[0] <= low <= high <= limits[1]:
            raise PlanError(f"{self.where}.{key} must be a span within {limits[0]} to {limits[1]}, not {low} to {high}")
        return low, high

    def choice(self, key: str, kind: type[E], *, required: bool = False) -> E | None:
        """Return a member of ``kind`` by its lower-case name, None without the key.

        Raises:
            PlanError: when it is missing though required, or for a name that does not exist.
        """
        name = self.take(key, str, required=required)
        if name is None:
            return None
        names = {member.name.lower(): member for member in kind}
        if name not in names:
            raise PlanError(f"{self.where}.{key} must be one of {', '.join(names)}, not {name}")
        return names[name]

    def one_of(self, key: str, allowed: Sequence[str], default: str) -> str:
        """Return one of ``allowed``.

        Raises:
            PlanError: for anything else.
        """
        value: str = self.take(key, str, default)
        if value not in allowed:
            raise PlanError(f"{self.where}.{key} must be one of {', '.join(allowed)}, not {value}")
        return value

    def is_text(self, key: str) -> bool:
        """Return whether a key is there with a text, without taking it."""
        return isinstance(self._data.get(key), str)

    def pairs(self, key: str) -> tuple[tuple[str, int], ...]:
        """Return a table of integers by name; without the key, an empty one.

        Raises:
            PlanError: when it is not such a table.
        """
        data = self.take(key, dict, {})
        for name, value in data.items():
            if type(value) is not int:
                raise PlanError(f"{self.where}.{key}.{name} must be int, not {shown(repr(value))}")
        return tuple(data.items())

    def table(self, key: str) -> Table | None:
        """Return a nested table, or None when it is absent."""
        data = self.take(key, dict)
        return None if data is None else Table(f"{self.where}.{key}", data)

    def done(self) -> None:
        """Refuse keys that nothing asked for.

        Raises:
            PlanError: naming the first one and what is allowed.
        """
        for key in self._data:
            raise PlanError(f"{self.where} has no key {key}; allowed: {', '.join(sorted(set(self._asked)))}")
