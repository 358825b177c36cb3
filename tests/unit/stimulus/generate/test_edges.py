"""Layers at edges: sums of every size and sign, padding on each side, every number of live rows, the least layers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.stimulus.generate.draw.edges import draw_edge
from nvdla_tb.stimulus.generate.draw.ends import draw_ends
from nvdla_tb.stimulus.generate.draw.padding import draw_padded, draw_padding_number
from nvdla_tb.stimulus.generate.draw.sizes import Drawn
from nvdla_tb.stimulus.generate.draw.together import draw_together
from nvdla_tb.stimulus.generate.engines import GENERATORS
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.generate.building import Keys, entry

Draw = Callable[[np.random.Generator, HwConfig, str], list[Drawn]]
SIDES = ("left", "right", "top", "bottom")


def drawn(draw: Draw, engine: str, seeds: int) -> list[Keys]:
    return [each.layer for seed in range(seeds) for each in draw(np.random.default_rng(seed), SMALL, engine)]


def products(layer: Keys) -> int:
    return int(layer["shape"][0]) * math.prod(layer["kernel"])


def test_sums_of_products_come_to_every_power_of_two_with_either_sign() -> None:
    signs: dict[int, set[bool]] = {}
    for layer in drawn(draw_ends, "CONV", 900):
        number = {"lowest": -128, "highest": 127}[layer["numbers"]]
        if layer["weights"][0]:
            signs.setdefault(products(layer).bit_length(), set()).add(number * layer["weights"][0] < 0)
    assert {power for power, both in signs.items() if both == {False, True}} >= set(range(3, 18))


def test_the_largest_sums_are_of_as_many_products_as_the_buffer_has_room_for() -> None:
    most = max(map(products, drawn(draw_ends, "CONV", 200)))
    room = (SMALL.cbuf_bank_number - 2) * SMALL.cbuf_bank_depth * SMALL.cbuf_bank_width_bytes
    assert 0.98 * room < most <= room


def test_sums_of_sdp_step_over_both_ends_of_32_bits_by_a_unit() -> None:
    ends = set()
    for layer in drawn(draw_ends, "SDP", 300):
        stages = [layer[name] for name in ("x1", "x2") if name in layer]
        if all(stage.get("alu_operand") == "register" for stage in stages):
            total = sum(stage["alu_register"] << stage["alu_shift"] for stage in stages)
            ends |= {(total > 0, total + data >= 1 << 31 or total + data < -1 << 31) for data in (-128, 0, 127)}
    assert ends == {(sign, beyond) for sign in (False, True) for beyond in (False, True)}


def test_numbers_of_padding_have_every_size_and_either_sign_and_are_never_0() -> None:
    rng = np.random.default_rng(1)
    numbers = {draw_padding_number(rng, 8) for _ in range(1500)}
    assert 0 not in numbers
    assert numbers >= {-128, -127, 126, 127, *(sign << power for power in range(7) for sign in (-1, 1))}
    assert min(numbers) == -128
    assert max(numbers) == 127


def test_each_side_is_padded_alone_with_every_rest_of_channels() -> None:
    found = set()
    for layer in drawn(draw_padded, "CONV", 1200):
        sides = [side for side, size in zip(SIDES, layer["pad"], strict=True) if size]
        if len(sides) == 1 and "image" not in layer:
            found.add((sides[0], layer["shape"][0] % SMALL.mac_atomic_c_size))
    atom = SMALL.mac_atomic_c_size
    assert found >= {(side, rest) for side in SIDES for rest in (0, 1, atom - 1)}
    assert {rest for _, rest in found} == set(range(atom))


def test_images_of_every_format_are_padded() -> None:
    images = [layer for layer in drawn(draw_padded, "CONV", 400) if "image" in layer]
    assert len({layer["image"]["format"] for layer in images if any(layer["pad"])}) == 13
    assert {layer["image"]["post_extension"] for layer in images} >= {1, 2}


def test_as_many_rows_live_at_a_time_as_the_line_buffer_has_places_each_with_several_surfaces() -> None:
    found: dict[int, set[int]] = {}
    for seed in range(400):
        edge, _ = draw_edge(np.random.default_rng(seed), SMALL, ["PDP"])
        if edge is not None:
            layer, src, _ = edge
            rows = -(-layer["kernel"][1] // layer["stride"][1])
            found.setdefault(rows, set()).add(-(-src.shape[0] // SMALL.memory_atomic_bytes))
    assert all(found[rows] >= {1, 2, 3} for rows in range(1, 9))


def test_layers_come_again_while_answers_to_writes_take_any_number_of_cycles() -> None:
    draws = {name: GENERATORS[name].draw for name in ("SDP", "PDP", "CDP", "CONV")}
    late, pooled = set(), set()
    for seed in range(150):
        layers, port = draw_together(np.random.default_rng(seed), SMALL, draws)
        if len(layers) == 24:
            assert len({id(each) for each in layers}) <= 4
            pooled.add(sum("pool" in each.layer for each in layers[:4]))
            late.add(port["write_latency_cycles"] // 100)
    assert late == {0, 1, 2}
    assert {0, 1} <= pooled <= {0, 1, 2}


@pytest.mark.parametrize("config", [SMALL, FULL], ids=lambda config: config.name)
@pytest.mark.parametrize(("draw", "engine"), [(draw_ends, "SDP"), (draw_ends, "CONV"), (draw_padded, "CONV")])
def test_they_are_legal(config: HwConfig, draw: Draw, engine: str) -> None:
    for seed in range(25):
        layers = [each.layer for each in draw(np.random.default_rng(seed), config, engine)]
        if layers:
            assert refusal(entry(*layers).build(config, seed).ops, config) is None, seed
