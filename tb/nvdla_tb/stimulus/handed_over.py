"""A scenario as data, on its way from the launcher to the simulator: a file that only the same testbench reads.

What is to last, or comes from elsewhere, is a trace.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.program.ops import Op
from nvdla_tb.stimulus.scenario import Scenario, ScenarioError
from nvdla_tb.stimulus.settings import BenchSettings
from nvdla_tb.writing import writing

FILE_NAME = "scenario.msgpack"

_KINDS: dict[str, msgspec.msgpack.Decoder[Op]] = {kind.__name__: msgspec.msgpack.Decoder(kind) for kind in get_args(Op)}


class _Handed(msgspec.Struct, array_like=True):
    """A scenario whose operations stand beside the names of their types."""

    name: str
    config: str
    seed: int
    settings: BenchSettings
    ops: list[tuple[str, msgspec.Raw]]


def hand_over(scenario: Scenario, folder: Path) -> None:
    """Write a scenario to a folder, which is made when it is missing."""
    encode = msgspec.msgpack.Encoder().encode
    ops = [(type(op).__name__, msgspec.Raw(encode(op))) for op in scenario.ops]
    handed = _Handed(scenario.name, scenario.config, scenario.seed, scenario.settings, ops)
    with writing(folder / FILE_NAME):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE_NAME).write_bytes(encode(handed))


def taken(folder: Path, config: HwConfig) -> Scenario:
    """Return the scenario that ``hand_over`` has written to a folder.

    Raises:
        ScenarioError: for one that is written for another configuration.
    """
    handed = msgspec.msgpack.decode((folder / FILE_NAME).read_bytes(), type=_Handed)
    if handed.config != config.name:
        raise ScenarioError(f"a scenario for {handed.config} must not be played on {config.name}")
    ops = tuple(_KINDS[kind].decode(op) for kind, op in handed.ops)
    return Scenario(handed.name, handed.config, ops, handed.seed, handed.settings)
