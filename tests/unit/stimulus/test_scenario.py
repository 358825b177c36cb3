"""Memory operations of scenarios: images to operations and back."""

from __future__ import annotations

import re

import pytest

from nvdla_tb.nvdla.memory import Allocation, MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import (
    CheckCrc,
    CheckNothing,
    Comparison,
    MemInit,
    MemLoad,
    Poll,
    RegRead,
    SyncWait,
    target_of,
)
from nvdla_tb.stimulus.scenario import Scenario, ScenarioError, apply_memory_op, memory_ops


def rebuilt(image: MemoryImage) -> MemoryImage:
    copy = MemoryImage()
    for op in memory_ops(image, Ram.MC):
        assert isinstance(op, MemInit | MemLoad)
        apply_memory_op({Ram.MC: copy}, op)
    return copy


def test_an_image_survives_its_operations() -> None:
    image = MemoryImage()
    for name, address, nbytes in (("src", 0x100, 32), ("dst", 0x200, 64), ("bias", 0x300, 16)):
        image.allocate_at(name, address, nbytes)
    image.write(0x104, b"abc")
    image.write(0x110, b"defg")
    image.write(0x300, bytes(range(16)))
    copy = rebuilt(image)
    assert [(a.address, a.nbytes) for a in copy.allocations] == [(0x100, 32), (0x200, 64), (0x300, 16)]
    assert copy.allocation_at(0x11F) == Allocation("src", 0x100, 32)
    assert copy.read(0x100, 32)[4:7] == b"abc"
    assert copy.read(0x110, 16) == b"defg" + bytes(12)
    assert copy.written(0x100, 32).tolist() == [4 <= n < 7 or n >= 16 for n in range(32)]
    assert copy.read(0x200, 64) == bytes(64)
    assert copy.read(0x300, 16) == bytes(range(16))


def test_two_allocations_of_one_name_keep_their_own_bytes() -> None:
    image = MemoryImage()
    for address, data in ((0x100, b"a" * 8), (0x200, b"b" * 8)):
        image.allocate_at("cube", address, 8)
        image.write(address, data)
    ops = memory_ops(image, Ram.MC)
    assert [op.file_name for op in ops if isinstance(op, MemLoad)] == ["cube_100.dat", "cube_200.dat"]
    copy = rebuilt(image)
    assert (copy.read(0x100, 8), copy.read(0x200, 8)) == (b"a" * 8, b"b" * 8)


def test_an_init_fills_and_a_shorter_load_replaces_its_head() -> None:
    image = MemoryImage()
    apply_memory_op({Ram.MC: image}, MemInit(Ram.MC, 0x100, 16, 0x55))
    apply_memory_op({Ram.MC: image}, MemLoad(Ram.MC, 0x100, ((0, b"ab"), (4, b"c")), "in.dat"))
    assert image.read(0x100, 16) == b"ab\x55\x55c" + b"\x55" * 11
    assert image.allocations == (Allocation("region_100", 0x100, 16),)


def test_a_ram_that_the_configuration_lacks_is_refused() -> None:
    message = "MemInit: ram must be one of MC, not CVSRAM"
    with pytest.raises(ScenarioError, match=rf"^{re.escape(message)}$"):
        apply_memory_op({Ram.MC: MemoryImage()}, MemInit(Ram.CVSRAM, 0, 8))


def test_a_scenario_lists_its_golden_results() -> None:
    crc = CheckCrc("done", Ram.MC, 0, 8, 0x1234)
    assert Scenario("one", "nv_small", (RegRead("SDP.S_STATUS"), crc, CheckNothing("done")), 1).checks == (crc,)


def test_operations_know_whose_sequence_they_belong_to() -> None:
    assert target_of(Poll("SDP.S_STATUS", 0)) == "SDP"
    assert target_of(SyncWait("PDP", "done")) == "PDP"
    assert target_of(MemInit(Ram.MC, 0, 8)) is None


@pytest.mark.parametrize(
    ("comparison", "held"),
    [
        (Comparison.EQUAL, [False, True, False]),
        (Comparison.GREATER, [False, False, True]),
        (Comparison.LESS, [True, False, False]),
        (Comparison.NOT_EQUAL, [True, False, True]),
        (Comparison.NOT_GREATER, [True, True, False]),
        (Comparison.NOT_LESS, [False, True, True]),
    ],
)
def test_polls_compare_the_value_read_with_the_one_expected(comparison: Comparison, held: list[bool]) -> None:
    assert [comparison.holds(read, 5) for read in (4, 5, 6)] == held
