"""Bytes that a test alters for the device alone, and what is refused."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Altered
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import MemLoad
from nvdla_tb.sim.altered import Alterations
from nvdla_tb.sim.judging import PortJudge, checked_name
from nvdla_tb.stimulus.scenario import memory_ops
from nvdla_tb.stimulus.settings import BenchSettings, PortSettings


def test_the_model_goes_on_to_read_what_was_there() -> None:
    memory = MemoryImage()
    address = memory.allocate(8, "cube")
    memory.write(address, np.arange(8, dtype=np.uint8))
    altered = Alterations({Ram.MC: memory})
    altered.alter(Ram.MC, address + 2, np.array([99], np.uint8))
    assert list(memory.read(address, 4)) == [0, 1, 99, 3]
    assert list(altered.read(Ram.MC, address, 4)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("ram", "data", "message"),
    [
        (Ram.CVSRAM, np.zeros(1, np.uint8), r"ram must be Ram\.MC, not <Ram\.CVSRAM: 'CVSRAM'>"),
        ("MC", np.zeros(1, np.uint8), r"ram must be Ram\.MC, not 'MC'"),
        (Ram.MC, 5, r"data must be a numpy array of uint8 with one axis, not int"),
        (
            Ram.MC,
            np.zeros((1, 2), np.int16),
            r"data must be a numpy array of uint8 with one axis, not int16 of the shape \(1, 2\)",
        ),
    ],
)
def test_other_memories_and_data_are_refused(ram: object, data: object, message: str) -> None:
    altered = Alterations({Ram.MC: MemoryImage()})
    with pytest.raises(InputError, match=f"^{message}$"):
        altered.alter(cast("Any", ram), 0x8000_0000, cast("Any", data))


@pytest.mark.parametrize("address", [0.5, True, "src", MemoryImage()])
def test_an_address_is_an_integer(address: object) -> None:
    altered = Alterations({Ram.MC: MemoryImage()})
    message = f"address must be an integer, such as src.address, not {type(address).__name__}"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        altered.alter(Ram.MC, cast("Any", address), np.zeros(1, np.uint8))


def test_what_the_model_reads_is_what_is_played_again_and_numbers_of_numpy_are_addresses() -> None:
    memory = MemoryImage()
    address = memory.allocate(8, "cube")
    memory.write(address, np.arange(8, dtype=np.uint8))
    altered = Alterations({Ram.MC: memory})
    assert altered.alter(Ram.MC, cast("Any", np.int64(address + 2)), np.array([99], np.uint8)) == Altered(
        Ram.MC, address + 2, 1
    )
    (load,) = (op for op in memory_ops(memory, Ram.MC) if isinstance(op, MemLoad))
    undone = altered.undone(load)
    assert isinstance(undone, MemLoad)
    assert (load.chunks[0][1][2], undone.chunks[0][1][2]) == (99, 2)
    assert [(place, data.tolist()) for place, data in altered.places] == [(address + 2, [99])]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        (0x1000, r"0x1000 is 0x7ffff000 below cube"),
        (0x8000_0006, r"0x80000008 is 0x0 past the end of cube"),
        (0x8000_0020, r"0x80000020 was never written"),
        (1 << 60, r"0x1000000000000000 is 0xfffffff7fffffd8 past the end of result"),
    ],
)
def test_a_fault_where_no_layer_reads_is_refused(address: int, why: str) -> None:
    memory = MemoryImage()
    memory.allocate_at("cube", 0x8000_0000, 8)
    memory.write(0x8000_0000, np.arange(8, dtype=np.uint8))
    memory.allocate_at("result", 0x8000_0020, 8)
    altered = Alterations({Ram.MC: memory})
    with pytest.raises(InputError, match=f"^address must be that of bytes which the device can read: {why}$"):
        altered.alter(Ram.MC, address, np.zeros(4, np.uint8))
    assert list(memory.read(0x8000_0000, 8)) == list(range(8))


def test_findings_are_expected_by_their_check() -> None:
    judge = PortJudge.__new__(PortJudge)
    with pytest.raises(InputError, match=r"^checks must be members of Check, such as Check\.VALUE, not 'value'$"):
        judge.expect_findings(cast("Any", "value"))
    with pytest.raises(InputError, match=r"^checks must be of what the device does: a test must not expect its own "):
        judge.expect_findings(Check.RAISED)


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        ("nv_small", None, "config must be HwConfig, not str: HwConfig.load('nv_small')"),
        (BenchSettings(), None, "config must be HwConfig, not BenchSettings: pass it as settings=..."),
        (3, None, "config must be HwConfig, not int"),
        (None, PortSettings(), "settings must be BenchSettings, not PortSettings"),
    ],
)
def test_a_bench_starts_with_a_configuration_and_settings(config: object, settings: object, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        checked_name(config, settings)
    assert checked_name(None, None) is None
