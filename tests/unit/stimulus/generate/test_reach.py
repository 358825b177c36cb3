"""Random scenarios reach ends of buffers and meetings of layers by construction, within so many seeds."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_tb.coverage.model import CoverageModel, model_of
from nvdla_tb.coverage.reach import reached
from nvdla_tb.nvdla.program.ops import Poll, RegWrite
from nvdla_tb.stimulus.generate.draw.together import draw_together
from nvdla_tb.stimulus.generate.engines import GENERATORS
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.generate.random import engines_of, random_entry
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import entry

pytestmark = pytest.mark.slow

ENGINES = engines_of(SMALL)


@pytest.fixture(scope="module")
def model() -> CoverageModel:
    return model_of("nv_small")


@pytest.fixture(scope="module")
def first(model: CoverageModel) -> dict[str, int]:
    """Return the first of 400 seeds that reaches each bin."""
    found: dict[str, int] = {}
    for seed in range(400):
        for name in reached(model, random_entry(SMALL, seed, ENGINES).build(SMALL, seed)):
            found.setdefault(name, seed)
    return found


def test_lines_wrap_in_24_data_banks_or_more_within_the_first_tens_of_seeds(first: dict[str, int]) -> None:
    for end in ("one_after", "after"):
        assert first[f"CONV.data_share*data_end=almost_all*{end}"] < 60


@pytest.mark.parametrize(
    ("item", "seeds"),
    [
        ("CONV.data_end", 100),
        ("CONV.weight_end", 400),
        ("SYSTEM.unit*both_groups", 50),
        ("SYSTEM.writes", 25),
        ("SYSTEM.unit*writes", 300),
        ("SYSTEM.both_groups*writes", 50),
        ("INTERRUPTS.event*cleared", 150),
        ("PDP.buffer_room", 60),
        ("PDP.rows_at_once:each*buffer_room", 400),
        ("PDP.four_paddings*method", 200),
        ("CONV.padded*tail", 400),
        ("SYSTEM.unit*write_latency", 50),
        ("SYSTEM.both_groups*write_latency", 50),
        ("SDP.x1.memory.channels", 400),
        ("SDP.x1.prelu*ready_stall", 400),
    ],
)
def test_each_bin_is_reached_within_so_many_seeds(
    model: CoverageModel, first: dict[str, int], item: str, seeds: int
) -> None:
    (bins,) = model.items_like((item,))
    late = {name: first.get(name) for key in bins.keys if first.get(name := bins.bin_name(key), seeds) >= seeds}
    assert late == {}


def crossed() -> list[PlanEntry]:
    drawn = [random_entry(SMALL, seed, ENGINES) for seed in range(150)]
    return [each for each in drawn if each.data.get("interrupts") == "crossed"]


def test_bits_of_other_sources_are_cleared_without_a_break_until_a_layer_is_done() -> None:
    assert len(crossed()) > 5
    for described in crossed():
        ops = described.build(SMALL, 1).ops
        ends = [at for at, op in enumerate(ops) if isinstance(op, Poll) and op.register == "GLB.S_INTR_STATUS"]
        for at in ends:
            if not isinstance(ops[at - 1], Poll):
                storm = ops[at - 160 : at]
                assert all(isinstance(op, RegWrite) and op.register.startswith("GLB.S_INTR_S") for op in storm)


def short_layers(seed: int) -> tuple[list[dict[str, object]], dict[str, object]]:
    draws = {name: GENERATORS[name].draw for name in ENGINES}
    found, port = draw_together(np.random.default_rng(seed), SMALL, draws)
    return [each.layer for each in found], port


def test_short_layers_meet_in_three_ways_and_are_legal() -> None:
    late, between, held = 0, 0, 0
    for seed in range(60):
        layers, port = short_layers(seed)
        names = [layer["engine"] for layer in layers]
        late += len(set(names)) == 1 and "write_latency_cycles" in port
        between += bool(port["reorder"]) and len(names) > 2 and names[0] == names[2] != names[1]
        held += port.get("pause_channels") == "b" and len(set(names)) > 1
        assert refusal(entry(*layers, order="back_to_back").build(SMALL, seed).ops, SMALL) is None, seed
    assert min(late, between, held) > 8
