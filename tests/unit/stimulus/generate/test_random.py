"""Random scenarios: legal, reproducible, and wide enough to reach the corners that matter."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nvdla_models.cbuf import bank_bytes
from nvdla_models.config import HwConfig
from nvdla_models.layout import pixel_format, supported_formats
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer, PooledLayer
from nvdla_tb.stimulus.generate.random import ENGINES, engines_of, random_entry
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import FULL, SMALL
from tests.unit.stimulus.generate.building import build_all, drawn_layers, of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def drawn() -> list[dict[str, Any]]:
    return drawn_layers(SMALL, 3000)


def test_operands_of_some_convolutions_are_sparse(drawn: list[dict[str, Any]]) -> None:
    convolutions = [layer for layer in of(drawn, "CONV") if layer.get("weights")]
    assert 0.05 < np.mean([layer.get("sparse_weights", False) for layer in convolutions]) < 0.2
    own = [layer for layer in convolutions if "shape" in layer and "image" not in layer]
    assert 0.05 < np.mean([layer.get("numbers") == "sparse" for layer in own]) < 0.2


LACKING = [
    replace(SMALL, **{f"{unit}_enable": False, f"{unit}_throughput": 0}) for unit in ("sdp_bs", "sdp_bn", "pdp", "cdp")
]


@pytest.mark.parametrize(("config", "seeds"), [(SMALL, 120), (FULL, 60), *((config, 60) for config in LACKING)])
def test_random_scenarios_are_legal_wherever_a_unit_is_missing(config: HwConfig, seeds: int) -> None:
    for seed in range(seeds):
        scenario = random_entry(config, seed, engines_of(config)).build(config, seed)
        assert refusal(scenario.ops, config) is None, seed


# One cube in ten holds a single number.
@pytest.mark.parametrize(
    ("config", "engine", "seeds", "constant"),
    [
        *((SMALL, engine, 80, 0.35) for engine in ("SDP", "PDP", "CDP")),
        (SMALL, "CONV", 40, 0.4),
        *((FULL, engine, 12, 0.4) for engine in ENGINES),
    ],
)
def test_most_layers_write_more_than_one_value(config: HwConfig, engine: str, seeds: int, constant: float) -> None:
    layers, shares = 0, []
    for seed in range(seeds):
        played = play_model(random_entry(config, seed, (engine,)).build(config, seed), config)
        written = [expectation.data[expectation.must_write] for expectation in played.expectations]
        layers += len(written)
        # The same layer may come 24 times in a scenario.
        shares.append(np.mean([len(np.unique(data)) == 1 for data in written]))
    assert layers > seeds
    assert np.mean(shares) < constant


def test_late_answers_and_few_requests_at_a_time_do_not_meet_in_long_scenarios() -> None:
    # Of 6,860 accesses with a latency of 1,200 cycles.
    entry = random_entry(SMALL, 941, ENGINES)
    assert entry.data["settings"]["port"]["latency_cycles"] == 1200
    assert entry.data["preset"]["MCIF.CFG_OUTSTANDING_CNT"] & 0xFF > 10


def test_the_same_seed_gives_the_same_description_and_another_seed_another() -> None:
    assert random_entry(SMALL, 7, ENGINES) == random_entry(SMALL, 7, ENGINES)
    assert random_entry(SMALL, 7, ENGINES) != random_entry(SMALL, 8, ENGINES)


@pytest.mark.parametrize("engine", engines_of(SMALL))
def test_only_the_engines_that_are_asked_for_are_drawn(engine: str) -> None:
    layers = [layer for seed in range(50) for layer in random_entry(SMALL, seed, (engine,)).data["layer"]]
    assert {layer["engine"] for layer in layers} == {engine}
    assert any("chain" in layer for layer in layers)


def test_the_convolution_buffer_holds_what_all_layers_of_a_scenario_leave_behind() -> None:
    for seed in range(60):
        left = 0
        for layer in build_all(*random_entry(SMALL, seed, ("CONV", "PDP")).data["layer"])[1]:
            last = layer.producer if isinstance(layer, PooledLayer) else layer
            if isinstance(last, ConvLayer):
                weights = last.weights.layout
                group = weights.group_elements[0] + WEIGHT_SIZE_ALIGNMENT_BYTES
                needed = left + weights.nbytes if left else min(weights.nbytes, group)
                assert needed <= bank_bytes(SMALL, last.cbuf.weight_banks), seed
                left += weights.nbytes


def test_two_of_five_weights_start_at_another_atom_than_the_table_asks_for(drawn: list[dict[str, Any]]) -> None:
    skips = [layer.get("weights_skip", 0) for layer in of(drawn, "CONV")]
    assert 0.35 < sum(map(bool, skips)) / len(skips) < 0.5
    assert set(skips) == set(range(32))


def test_every_engine_has_its_share(drawn: list[dict[str, Any]]) -> None:
    counts = Counter(layer["engine"] for layer in drawn)
    assert set(counts) == set(engines_of(SMALL))
    assert min(counts.values()) > len(drawn) // 8


def test_every_pixel_format_of_8_bits_is_drawn_with_every_x_offset(drawn: list[dict[str, Any]]) -> None:
    images = [layer["image"] for layer in of(drawn, "CONV") if "image" in layer]
    found = {(image["format"], image["x_offset"]) for image in images}
    formats = [pixel_format(name) for name in supported_formats(SMALL)]
    expected = {
        (pixels.name, offset)
        for pixels in formats
        if pixels.precision is Precision.INT8
        for offset in range(pixels.max_x_offset(SMALL) + 1)
    }
    assert found == expected
    assert {image["post_extension"] for image in images} == {1, 2, 4}
    assert {image.get("signed") for image in images} == {None, False, True}
    assert {"mean" in image for image in images} == {False, True}


def test_windows_reach_their_corners(drawn: list[dict[str, Any]]) -> None:
    pools, convs = of(drawn, "PDP"), of(drawn, "CONV")
    assert {layer["kernel"][axis] for layer in pools for axis in (0, 1)} == set(range(1, 9))
    assert {layer.get("split", 1) for layer in pools} >= {*range(1, 8), 255, 256}
    assert {"reciprocals" in layer for layer in pools} == {False, True}
    assert {"pad_values" in layer for layer in pools} == {False, True}
    assert max(layer["shape"][2] for layer in pools if "shape" in layer) > 1000
    assert {layer["method"] for layer in pools} == {"max", "min", "average"}
    assert {layer["stride"][axis] for layer in convs for axis in (0, 1)} == set(range(1, 9))
    assert {layer["kernel"][axis] for layer in convs for axis in (0, 1)} >= {*range(1, 9), 31, 32}
    assert {layer["dilation"][axis] for layer in convs for axis in (0, 1)} >= {1, 2, 3, 7, 31, 32}
    assert 31 in {layer["pad"][side] for layer in convs for side in (0, 2)}
    assert max(layer["pad"][side] for layer in convs for side in (1, 3)) > 31
    assert {layer["truncate"] for layer in convs} == set(range(32))


def test_sdp_and_convolutions_are_pooled_on_the_fly_where_pdp_is_asked_for(drawn: list[dict[str, Any]]) -> None:
    for engine in ("SDP", "CONV"):
        # A convolution of which the next one takes something is not pooled.
        layers = [layer for layer in of(drawn, engine) if "keep" not in layer]
        pools = [layer["pool"] for layer in layers if "pool" in layer]
        assert len(layers) // 12 < len(pools) < len(layers) // 4
        assert {pool["method"] for pool in pools} == {"max", "min", "average"}
        alone = [layer for seed in range(50) for layer in random_entry(SMALL, seed, (engine,)).data["layer"]]
        assert not any("pool" in layer for layer in alone)


def test_channels_lie_at_the_edges_of_an_atom(drawn: list[dict[str, Any]]) -> None:
    for engine in engines_of(SMALL):
        channels = {layer["shape"][0] for layer in of(drawn, engine) if "shape" in layer}
        assert {1, 7, 8, 9, 16, 17} <= channels, engine


def test_operands_come_from_everywhere_in_every_stage(drawn: list[dict[str, Any]]) -> None:
    for engine in ("SDP", "CONV"):
        for stage in ("x1", "x2"):
            stages = [layer[stage] for layer in of(drawn, engine) if stage in layer]
            for unit in ("alu", "mul"):
                found = {s[f"{unit}_operand"] for s in stages if f"{unit}_operand" in s}
                assert found == {"register", "channel", "element"}, (engine, stage, unit)


def test_tables_are_linear_and_exponential_and_windows_of_all_sizes(drawn: list[dict[str, Any]]) -> None:
    layers = of(drawn, "CDP")
    assert {layer.get("local_size") for layer in layers} == {None, 3, 5, 7, 9}
    tables = [layer["lut"] for layer in layers if "lut" in layer]
    assert {"exponent" in lut["le"] for lut in tables} == {False, True}
    assert not any("exponent" in lut["lo"] for lut in tables)
    kept = [layer for layer in layers if layer.get("same_lut")]
    assert len(kept) == len(layers) - len(tables) > len(layers) // 50


def test_large_cubes_fit_below_the_end_of_the_address_space() -> None:
    entry = random_entry(SMALL, 1325, ENGINES)
    assert entry.data["base"] > 0xFE00_0000
    assert entry.build(SMALL, 1325).ops


def test_convolutions_reuse_data_weights_and_both(drawn: list[dict[str, Any]]) -> None:
    convolutions = of(drawn, "CONV")
    reused = Counter(tuple(layer.get("reuse", ())) for layer in convolutions)
    for parts in (("data",), ("weights",), ("data", "weights")):
        assert reused[parts] > len(convolutions) // 50, parts
    partly = [layer for layer in convolutions if layer.get("release_slices")]
    assert len(partly) > len(convolutions) // 50
    assert any("image" in layer and "data" in layer.get("reuse", ()) for layer in convolutions)


def test_a_scenario_of_crossed_interrupts_has_a_layer_even_if_the_first_ones_drawn_are_too_long() -> None:
    # None of the layers that this seed tries first is short enough.
    entry = random_entry(HwConfig.load("nv_small"), 4400, ENGINES)
    assert entry.data["interrupts"] == "crossed"
    assert entry.data["layer"]
