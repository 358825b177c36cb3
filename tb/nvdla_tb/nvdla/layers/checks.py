"""Rules that layers of all engines obey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision


class _Layout(Protocol):
    @property
    def config(self) -> HwConfig: ...


def check_configs(src: _Layout, others: Mapping[str, _Layout]) -> None:
    """Check that all layouts are for the configuration of the input's.

    Raises:
        InputError: naming the layout that is not.
    """
    for name, layout in others.items():
        if layout.config != src.config:
            raise InputError(f"{name} must be laid out for {src.config.name} as src, not {layout.config.name}")


def check_shape(name: str, got: tuple[int, ...], wanted: tuple[int, ...], whose: str = "") -> None:
    """Check the shape of a cube; ``whose`` says where it comes from, such as " of src".

    Raises:
        InputError: when it is another.
    """
    if got != wanted:
        raise InputError(f"{name} must have the shape {wanted}{whose}, not {got}")


def check_precision(name: str, got: Precision, wanted: Precision, whose: str = "") -> None:
    """Check the precision of a cube; ``whose`` is as above.

    Raises:
        InputError: when it is another.
    """
    if got is not wanted:
        raise InputError(f"{name} must have the precision {wanted.name}{whose}, not {got.name}")
