"""Configurations of the Deep Learning HDL processor."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from dlhdl_models.layout import DlhdlType, parallel_transfer_number, thread_number
from nvdla_models.errors import InputError
from nvdla_models.reading import read_toml, shown
from nvdla_tb.paths import HDL
from nvdla_tb.plain_data import converted

SYSTEM = "dlhdl"
"""The name of the system: of its plan, of all embedded cores together, and in the configuration of a user's core."""

PLAN = Path(__file__).with_name("plans") / f"{SYSTEM}.toml"
"""The plan of the system."""

EMBEDDED = tuple((data_type, number) for data_type in DlhdlType for number in (4, 9, 16, 64))
"""Data type and ConvThreadNumber of the embedded cores."""

EMBEDDED_HEADER = HDL / "dlhdl" / "dlhdl_addr.h"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """What a user's file says of a core."""

    system: Literal["dlhdl"]
    conv_thread_number: int
    data_type: DlhdlType
    registers: str


@dataclass(frozen=True)
class DlhdlConfig:
    """One core; ``DlhdlConfig.load("dlhdl_int8_4")`` is embedded.

    Args:
        name: its name.
        conv_thread_number: ConvThreadNumber of the processor's configuration, a square.
        data_type: ProcessorDataType.
        header: register header of the core.

    Raises:
        InputError: when ConvThreadNumber is no square.
    """

    name: str
    conv_thread_number: int
    data_type: DlhdlType
    header: Path = EMBEDDED_HEADER

    def __post_init__(self) -> None:
        thread_number(self.conv_thread_number)

    @property
    def threads(self) -> int:
        """Thread number C."""
        return thread_number(self.conv_thread_number)

    @property
    def parallel(self) -> int:
        """Parallel transfer data number N: values of one beat."""
        return parallel_transfer_number(self.threads)

    @property
    def beat_bytes(self) -> int:
        """Bytes that one beat carries, B."""
        return self.parallel * self.data_type.dtype.itemsize

    @property
    def alignment_bytes(self) -> int:
        """Number of bytes that offsets are multiples of."""
        return max(self.beat_bytes, 16)

    @property
    def parameters(self) -> dict[str, int]:
        """Parameters of the embedded core's top module.

        Source: ``docs/dlhdl.md``, "Parameters".
        """
        return {
            "CONV_THREAD_NUMBER": self.conv_thread_number,
            "DATA_TYPE": 0 if self.data_type is DlhdlType.INT8 else 1,
        }

    @classmethod
    def load(cls, name_or_path: str) -> DlhdlConfig:
        """Return an embedded core by its name, ``dlhdl_int8_4`` and its like, or that of a ``.toml`` file.

        Raises:
            InputError: for an unknown name, an unknown, missing or ill-typed key.
        """
        known = {config.name: config for config in embedded_configs()}
        if name_or_path in known:
            return known[name_or_path]
        path = Path(name_or_path)
        if path.suffix != ".toml" or not os.path.isfile(path):
            names = ", ".join(known)
            raise InputError(
                f"configuration must be one of {names} or an existing .toml file, not {shown(name_or_path)}"
            )
        return _read(path)


def embedded_configs() -> tuple[DlhdlConfig, ...]:
    """Return the configurations of all embedded cores."""
    return tuple(
        DlhdlConfig(f"{SYSTEM}_{data_type.value}_{number}", number, data_type) for data_type, number in EMBEDDED
    )


def _read(path: Path) -> DlhdlConfig:
    found = converted(read_toml(path), _File, str(path))
    return DlhdlConfig(path.stem, found.conv_thread_number, found.data_type, path.parent / found.registers)
