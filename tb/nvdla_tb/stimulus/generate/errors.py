"""The error that all refusals of plans share, and the keys that it names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nvdla_models.errors import InputError


class PlanError(InputError):
    """A plan that cannot be understood; the message names the place, the key and what is allowed."""


@contextmanager
def of_key(key: str) -> Iterator[None]:
    """Name a key before what refuses the table of the key, which the block builds.

    Raises:
        PlanError: for any refusal; one of another type names no key of the table.
    """
    try:
        yield
    except PlanError as error:
        raise PlanError(f"{key}.{error}") from error
    except InputError as error:
        raise PlanError(f"{key}: {error}") from error
