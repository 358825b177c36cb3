"""Random scenarios reach the limits of the fields, at a cost that is bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nvdla_models.cbuf import bank_bytes
from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.memory import MemoryFault, MemoryImage
from nvdla_tb.nvdla.program.ops import RegWrite
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.draw.numbers import Cube
from nvdla_tb.stimulus.generate.draw.settings import draw_settings
from nvdla_tb.stimulus.generate.draw.sizes import Drawn, Work, draw_reaching, draw_reaching_shape, work_of
from nvdla_tb.stimulus.generate.engines import draw_far
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.generate.random import ENGINES, random_entry
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import entry, refused

pytestmark = pytest.mark.slow

LARGE = HwConfig.load("nv_large")
MANY = 1 << 18


def far(engine: str, cycles: int, seeds: int, config: HwConfig = SMALL) -> Iterator[list[Drawn]]:
    return (draw_far(np.random.default_rng([seed, 1]), config, engine, cycles) for seed in range(seeds))


@pytest.fixture(scope="module")
def rows() -> list[list[dict[str, Any]]]:
    """Return the convolutions that many seeds draw together."""
    return [[each.layer for each in found] for found in far("CONV", MANY, 1200)]


@pytest.mark.parametrize(("engine", "columns"), [("SDP", 8192), ("PDP", 8160), ("CDP", 8192)])
def test_each_axis_reaches_its_limit(engine: str, columns: int) -> None:
    shapes = [each.src.shape for found in far(engine, MANY, 300) for each in found]
    assert [max(shape[axis] for shape in shapes) for axis in range(2)] == [8192, 8192]
    assert max(shape[2] for shape in shapes) >= columns


def test_convolutions_reach_their_limits(rows: list[list[dict[str, Any]]]) -> None:
    convs = [layer for row in rows for layer in row]
    shapes = [layer["shape"] for layer in convs if "image" not in layer]
    images = [layer["shape"] for layer in convs if "image" in layer]
    assert min(max(shape[axis] for shape in shapes) - limit for axis, limit in enumerate((8192, 4096, 8192))) >= -1
    assert min(max(shape[axis] for shape in images) - limit for axis, limit in ((1, 4096), (2, 8192))) >= -1
    assert max(layer["kernels"] for layer in convs) == 8192
    for key, limit in (("kernel", 32), ("stride", 8), ("dilation", 32)):
        assert [max(layer[key][axis] for layer in convs) for axis in range(2)] == [limit, limit], key
    assert [max(layer["pad"][side] for layer in convs) for side in range(4)] == [31, 63, 31, 63]


def test_the_buffer_is_divided_in_every_way(rows: list[list[dict[str, Any]]]) -> None:
    banks = [layer["banks"] for row in rows for layer in row]
    assert {data for data, _ in banks} == {weight for _, weight in banks} == set(range(1, 32))
    assert {data + weight for data, weight in banks} == set(range(2, 33))


def test_weights_are_fetched_a_group_at_a_time(rows: list[list[dict[str, Any]]]) -> None:
    convs = [layer for row in rows for layer in row]
    fetched = [layer["kernels"] * layer["shape"][0] * int(np.prod(layer["kernel"])) for layer in convs]
    beyond = [nbytes > bank_bytes(SMALL, layer["banks"][1]) for layer, nbytes in zip(convs, fetched, strict=True)]
    assert sum(beyond) > len(convs) // 50


def test_convolutions_follow_each_other_in_the_same_banks_until_data_wrap(rows: list[list[dict[str, Any]]]) -> None:
    several = [row for row in rows if len(row) > 1]
    assert len(several) > len(rows) // 10
    for row in several:
        assert len({tuple(layer["banks"]) for layer in row}) == 1
        assert all(layer["tight_weights"] for layer in row)
    cubes = [row for row in several if not any("image" in layer for layer in row)]
    entries = [sum(int(np.prod(layer["shape"])) // 8 for layer in row) for row in cubes]
    wraps = [total > row[0]["banks"][0] * SMALL.cbuf_bank_depth for row, total in zip(cubes, entries, strict=True)]
    assert sum(wraps) > len(cubes) // 4


def test_parts_and_their_columns_reach_their_limits() -> None:
    cut = [each.layer for found in far("PDP", MANY, 1500) for each in found if each.layer["split"] > 1]
    assert {layer["split"] for layer in cut} >= {2, 3, 4, 15, 16, 17, 31, 32, 33, 63, 64, 255, 256}
    columns = {layer["split_columns"][end] for layer in cut for end in (0, 1)}
    assert columns >= {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128}
    assert {layer["stride"][axis] for layer in cut for axis in (0, 1)} >= {15, 16}


def test_ports_stall_and_wait_as_long_as_work_is_little() -> None:
    drawn = [draw_settings(np.random.default_rng(seed), Work(500, 50)) for seed in range(1500)]
    for name, limit in (("ready_stall", 0.99), ("valid_stall", 0.99), ("latency_cycles", 8192)):
        assert max(settings["port"][name] for settings in drawn) == limit
    assert max(settings["port"]["jitter_cycles"] for settings in drawn) == 8192
    assert max(settings["csb_stall"] for settings in drawn) > 0.95
    for seed in range(300):
        port = draw_settings(np.random.default_rng(seed), Work(200_000, 20_000))["port"]
        assert port["latency_cycles"] <= 1200
        assert max(port["ready_stall"], port["valid_stall"]) <= 0.85


@pytest.mark.parametrize("engine", ["SDP", "PDP", "CDP", "CONV"])
@pytest.mark.parametrize("cycles", [1 << 12, 1 << 15, 1 << 18])
def test_the_cost_is_bounded(engine: str, cycles: int) -> None:
    drawn = [found for found in far(engine, cycles, 100) if found]
    works = [sum(work_of(SMALL, each.layer, each.src, each.dst).cycles for each in found) for found in drawn]
    assert len(works) > 60
    assert cycles // 2 < max(works) <= 2 * cycles
    assert np.mean(works) <= cycles


def test_layers_at_their_limits_are_few() -> None:
    works = []
    for seed in range(400):
        layers = random_entry(SMALL, seed, ENGINES).data["layer"]
        works.append(max(np.prod(layer["shape"]) for layer in layers if "shape" in layer))
    assert np.mean(np.array(works) > 16_000) < 0.15


@pytest.mark.parametrize("config", [SMALL, LARGE], ids=lambda config: config.name)
@pytest.mark.parametrize("engine", ["SDP", "PDP", "CDP", "CONV"])
def test_layers_at_their_limits_are_legal(config: HwConfig, engine: str) -> None:
    for seed in range(25):
        found = draw_far(np.random.default_rng([seed, 2]), config, engine, 1 << 15)
        if found:
            assert refusal(entry(*(each.layer for each in found)).build(config, seed).ops, config) is None, seed


def test_engines_without_such_limits_are_passed_over() -> None:
    assert draw_far(np.random.default_rng(1), LARGE, "RUBIK", 1 << 15) == []


def test_numbers_come_from_beside_every_power_of_two() -> None:
    rng = np.random.default_rng(1)
    found = [draw_reaching(rng, 8192) for _ in range(5000)]
    assert set(found) >= {(1 << bit) + step for bit in range(2, 13) for step in (-1, 0, 1)} | {8191, 8192}
    assert {draw_reaching(rng, 5, 3) for _ in range(200)} == {3, 4, 5}


def test_long_cubes_are_thin() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        channels, height, width = draw_reaching_shape(rng, SMALL, SMALL.feature_data_types[0], 1000)
        assert -(-channels // 8) * height * width <= 1000


@pytest.mark.parametrize("bit", [12, 16, 20, 31])
def test_cubes_lie_around_the_border_that_carries_ask_for(bit: int) -> None:
    layer = {"engine": "SDP", "shape": [9, 5, 7]}
    probe = entry(layer, carries=[bit, bit])
    reached = [(start ^ end).bit_length() - 1 for seed in range(8) for start, end in carried(probe, seed)]
    assert bit in reached
    assert max(reached) <= 31


def carried(probe: PlanEntry, seed: int) -> list[tuple[int, int]]:
    """Return first and last address of what a scenario of one SDP layer reads and writes."""
    found = {op.register: op.value for op in probe.build(SMALL, seed).ops if isinstance(op, RegWrite)}
    nbytes = 2 * 5 * 7 * 8
    starts = (found["SDP_RDMA.D_SRC_BASE_ADDR_LOW"], found["SDP.D_DST_BASE_ADDR_LOW"])
    return [(start, start + nbytes - 1) for start in starts]


CARRIED = {
    ("sdp", "SDP_RDMA.D_SRC_BASE_ADDR_LOW"): ("SDP_RDMA.D_SRC_LINE_STRIDE", "SDP_RDMA.D_SRC_SURFACE_STRIDE", 12, 6),
    ("sdp", "SDP_RDMA.D_BS_BASE_ADDR_LOW"): ("SDP_RDMA.D_BS_LINE_STRIDE", "SDP_RDMA.D_BS_SURFACE_STRIDE", 12, 12),
    ("sdp", "SDP_RDMA.D_BN_BASE_ADDR_LOW"): ("SDP_RDMA.D_BN_LINE_STRIDE", "SDP_RDMA.D_BN_SURFACE_STRIDE", 12, 12),
    ("sdp", "SDP.D_DST_BASE_ADDR_LOW"): ("SDP.D_DST_LINE_STRIDE", "SDP.D_DST_SURFACE_STRIDE", 12, 6),
    ("pdp", "PDP_RDMA.D_SRC_BASE_ADDR_LOW"): ("PDP_RDMA.D_SRC_LINE_STRIDE", "PDP_RDMA.D_SRC_SURFACE_STRIDE", 24, 12),
    ("pdp", "PDP.D_DST_BASE_ADDR_LOW"): ("PDP.D_DST_LINE_STRIDE", "PDP.D_DST_SURFACE_STRIDE", 12, 6),
    ("cdp", "CDP_RDMA.D_SRC_BASE_ADDR_LOW"): ("CDP_RDMA.D_SRC_LINE_STRIDE", "CDP_RDMA.D_SRC_SURFACE_STRIDE", 12, 6),
    ("cdp", "CDP.D_DST_BASE_ADDR_LOW"): ("CDP.D_DST_LINE_STRIDE", "CDP.D_DST_SURFACE_STRIDE", 12, 6),
    ("conv", "CDMA.D_DAIN_ADDR_LOW_0"): ("CDMA.D_LINE_STRIDE", "CDMA.D_SURF_STRIDE", 12, 6),
    ("conv", "SDP.D_DST_BASE_ADDR_LOW"): ("SDP.D_DST_LINE_STRIDE", "SDP.D_DST_SURFACE_STRIDE", 11, 5),
}
"""Base registers of each engine's addresses: those of their strides, and how many lines and atoms there are."""


@pytest.mark.parametrize(("engine", "base"), CARRIED)
def test_atoms_lines_and_surfaces_step_over_the_border_of_each_address_bit(engine: str, base: str) -> None:
    """A carry that is lost between two lines, or two surfaces, may show only at the one after them."""
    line_register, surface_register, lines, atoms = CARRIED[engine, base]
    written = registers_of(f"limits_carries_{engine}_each_bit")
    (line,), (surface,) = set(written[line_register]), set(written[surface_register])
    starts = written[base]
    at_lines = {highest_change(start + n * line, line) for start in starts for n in range(lines - 2)}
    at_atoms = {
        highest_change(start + n * line + m * 8, 8) for start in starts for n in range(lines) for m in range(atoms - 1)
    }
    for steps in (at_atoms, at_lines, {highest_change(start, surface) for start in starts}):
        assert steps >= set(range(12, 30))


@pytest.mark.parametrize(("engine", "base"), [("conv", "CDMA.D_WEIGHT_ADDR_LOW"), ("image", "CDMA.D_DAIN_ADDR_LOW_0")])
def test_weights_and_images_step_over_the_border_of_each_address_bit(engine: str, base: str) -> None:
    starts = registers_of(f"limits_carries_{engine}_each_bit")[base]
    assert {highest_change(start, 800) for start in starts} >= set(range(12, 30))


def registers_of(scenario: str) -> dict[str, list[int]]:
    """Return all that a scenario of the plan of limits writes to each register."""
    (found,) = (each for each in load_plan(PLANS / "nv_small_limits.toml") if each.name == scenario)
    written: dict[str, list[int]] = {}
    for op in found.build(SMALL, 1).ops:
        if isinstance(op, RegWrite):
            written.setdefault(op.register, []).append(op.value)
    return written


def highest_change(address: int, step: int) -> int:
    """Return the highest bit that a step changes of an address."""
    return (address ^ address + step).bit_length() - 1


PIXEL = {"engine": "SDP", "shape": [1, 1, 1]}


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (entry({**PIXEL, "carry": 11}), "probe: layer[0].carry must be 12 to 31, not 11"),
        (entry({**PIXEL, "carry": 32}), "probe: layer[0].carry must be 12 to 31, not 32"),
        (entry(PIXEL, carries=[12, 32]), "probe: carries must be a span within 12 to 31, not 12 to 32"),
    ],
)
def test_bits_that_no_cube_can_carry_into_are_refused(probe: PlanEntry, message: str) -> None:
    with refused(message):
        probe.build(SMALL, 1)


def test_carries_reach_the_upper_word_of_addresses_where_there_is_one() -> None:
    entries = [random_entry(LARGE, seed, ENGINES).data for seed in range(600)]
    assert max(data["carries"][1] for data in entries if "carries" in data) == LARGE.memif_address_width_bits - 1
    lowest = {data["carries"][0] for data in entries if "carries" in data}
    assert 12 in lowest
    assert len({bit for bit in lowest if bit >= 32}) > 24


def test_a_wanted_address_is_taken_when_it_is_free_and_others_keep_away_from_it() -> None:
    memory = MemoryImage(base=0x1000, limit=1 << 20)
    assert memory.allocate(64, "a", 32, [0x2FE0]) == 0x2FE0
    assert memory.allocate(64, "b", 32, [0x2FF0, 0x3000, 0x5000]) == 0x5000
    assert memory.allocate(0x1D00, "c", 32) == 0x1100
    assert memory.allocate(0x1C00, "d", 32, [1 << 20]) == 0x3120
    with pytest.raises(MemoryFault, match="must lie in"):
        memory.allocate(1 << 20, "e", 32, [0])
    assert [allocation.name for allocation in memory.allocations] == ["c", "a", "d", "b"]


def test_work_grows_with_what_is_read_written_and_multiplied() -> None:
    cube = Cube((8, 4, 5))
    plain = work_of(SMALL, {"engine": "SDP"}, cube, cube)
    assert plain == Work(160, 40)
    operands = {"engine": "SDP", "x1": {"alu_operand": "element", "operand_bytes": 2}}
    assert work_of(SMALL, operands, cube, cube).accesses == 80
    conv = work_of(SMALL, {"engine": "CONV", "kernels": 8, "kernel": [3, 3]}, cube, Cube((8, 2, 3)))
    assert conv.accesses == 20 + 6 + 72
    assert conv.cycles == 9 * 6 + conv.accesses + 6 * 8
    assert plain + conv == Work(plain.cycles + conv.cycles, plain.accesses + conv.accesses)
