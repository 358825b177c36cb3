"""Random scenarios: descriptions drawn from everything that a plan can say, weighted towards corners."""

from __future__ import annotations

import math

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_models.winograd_transform import TILE
from nvdla_tb.nvdla import engines as hardware
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description
from nvdla_tb.stimulus.generate.draw.pdp import draw_pooled
from nvdla_tb.stimulus.generate.draw.reuse import draw_followers, may_be_followed
from nvdla_tb.stimulus.generate.draw.settings import draw_pauses, draw_settings
from nvdla_tb.stimulus.generate.draw.sizes import Work, work_of
from nvdla_tb.stimulus.generate.engines import GENERATORS, draw_far
from nvdla_tb.stimulus.generate.layers.workshop import LEAST_CARRY
from nvdla_tb.stimulus.generate.plan import PlanEntry

ENGINES = tuple(GENERATORS)

_BASES = (0, 0x8000_0000, 0x8000_0000, 0xFE00_0000)
_CARRYING = 0.4

_FAR = 0.2
_FEWEST_CYCLES, _MOST_CYCLES = 1 << 12, 1 << 18
"""Of the layers that reach limits, in a scenario; as often between two powers of two as between any others."""

_PRESET = 0.25
"""Of the scenarios: those that program the memory interface."""

_RESET = 0.08
_EARLIEST_RESET, _LATEST_RESET = 1 << 9, 1 << 15
"""How often all is done anew after a reset, in cycles; as often between two powers of two as between any others."""

_WEIGHTS = ("CFG_RD_WEIGHT_0", "CFG_RD_WEIGHT_1", "CFG_RD_WEIGHT_2", "CFG_WR_WEIGHT_0", "CFG_WR_WEIGHT_1")

_MOST_LAYERS = 4
_CHAINED = 0.35
_COUNTED = 0.5
"""Of the scenarios whose layers run one after the other."""

_ENDED_BY_SDP = ("SDP", "CONV")
_NOT_POOLED = {"output_precision", "winograd", "batch"}
"""Keys of layers that PDP does not take on the fly."""

_POOLED = 0.2
_FOLLOWED = 0.15
"""Of the convolutions that may leave something in the buffer: those that others take it from."""

_SAME_TABLES = 0.5
"""Of the layers of CDP after another one: those that keep its tables, so that both groups may wait."""

_MOST_WEIGHTS = 60_000
"""Of all convolutions of a scenario, so that the convolution buffer has room for all of them at once."""


def random_entry(config: HwConfig, seed: int, engines: tuple[str, ...]) -> PlanEntry:
    """Return a scenario's description; the same seed gives the same one.

    Args:
        config: Configuration that must be able to run it.
        seed: Any non-negative integer.
        engines: Names of the engines to draw from; those that the build lacks are passed over.

    Raises:
        InputError: when the build has none of them.
    """
    engines = tuple(engine for engine in engines if engine in engines_of(config))
    if not engines:
        raise InputError(f"engines must be of {', '.join(engines_of(config))} for {config.name}")
    rng = np.random.default_rng([seed, 0x5EED])
    layers, work = _layers(rng, config, engines)
    data: Description = {
        "order": str(rng.choice(["in_turn", "back_to_back"])),
        "settings": draw_settings(rng, work),
        "base": int(rng.choice(_BASES)) + 8 * int(rng.integers(0, 1 << 13)),
        "layer": layers,
    }
    if rng.random() < _CARRYING:
        data["carries"] = _carries(rng, config)
    data["counters"] = data["order"] == "in_turn" and bool(rng.random() < _COUNTED)
    data["settings"]["port"] |= draw_pauses(rng)
    if rng.random() < _PRESET:
        data["preset"] = _memory_interface(rng)
    if rng.random() < _RESET:
        cycle = 2 ** rng.uniform(math.log2(_EARLIEST_RESET), math.log2(_LATEST_RESET))
        data["settings"]["reset_cycle"] = round(cycle)
    return PlanEntry("random", "drawn from the seed", config.name, data)


def _memory_interface(rng: np.random.Generator) -> dict[str, int]:
    """Draw weights of all clients from 1 to 255, small ones as often as large ones, and limits of what may wait."""
    words = {}
    for register in _WEIGHTS:
        weights = np.floor(2 ** rng.uniform(0, 8, 4)).astype(int)
        words[f"MCIF.{register}"] = int.from_bytes(bytes(weights.tolist()), "little")
    limits = np.floor(2 ** rng.uniform(0, 8, 2)).astype(int)
    words["MCIF.CFG_OUTSTANDING_CNT"] = int.from_bytes(bytes(limits.tolist()), "little")
    return words


def _carries(rng: np.random.Generator, config: HwConfig) -> list[int]:
    """Draw which address bits cubes carry into: any, or one."""
    highest = config.memif_address_width_bits - 1
    bit = int(rng.integers(LEAST_CARRY, highest + 1))
    return [LEAST_CARRY, highest] if rng.random() < 0.5 else [bit, bit]


def engines_of(config: HwConfig) -> tuple[str, ...]:
    """Return the names of the engines that a build has."""
    return tuple(engine.name for engine in hardware.engines_of(config))


def _layers(rng: np.random.Generator, config: HwConfig, engines: tuple[str, ...]) -> tuple[list[Description], Work]:
    """Draw layers, and return with them about how much work they are; some read what the one before them wrote.

    Now and then the first ones reach limits of their fields; fewer others follow then.
    """
    layers: list[Description] = []
    work = Work(0, 0)
    written: Cube | None = None
    weights = 0
    tables: Precision | None = None
    count = int(rng.integers(1, _MOST_LAYERS + 1))
    if rng.random() < _FAR:
        cycles = round(2 ** rng.uniform(math.log2(_FEWEST_CYCLES), math.log2(_MOST_CYCLES)))
        for far in draw_far(rng, config, str(rng.choice(engines)), cycles):
            layers.append(far.layer)
            work += work_of(config, far.layer, far.src, far.dst)
            weights += _weights(far.layer, far.src)
            tables = far.src.precision if far.layer["engine"] == "CDP" else tables
        count = len(layers) + int(rng.integers(0, 2)) if layers else count
    reaches = bool(layers)
    while len(layers) < count:
        before = written if rng.random() < _CHAINED else None
        drawn = GENERATORS[str(rng.choice(engines))].draw(rng, config, before)
        if drawn is None:
            continue
        layer, dst = drawn
        src = before or Cube(layer.get("shape", (1, 1, 1)))
        of_it = _weights(layer, src)
        if of_it and weights + of_it > _MOST_WEIGHTS:
            continue
        weights += of_it
        if layer["engine"] == "CDP" and dst is not None:
            if tables is dst.precision and rng.random() < _SAME_TABLES:
                layer = {key: value for key, value in layer.items() if key != "lut"} | {"same_lut": True}
            tables = dst.precision
        work += work_of(config, layer, src, dst or src)
        written = dst
        if not reaches and may_be_followed(layer) and rng.random() < _FOLLOWED:
            followers = draw_followers(rng, config, layer)
            more = sum(_weights(each.layer, each.src) for each in followers)
            if followers and weights + more <= _MOST_WEIGHTS:
                weights += more
                for each in followers:
                    layers.append(layer)
                    layer, written = each.layer, each.dst
                    work += work_of(config, layer, each.src, each.dst)
        pooled = layer["engine"] in _ENDED_BY_SDP and _NOT_POOLED.isdisjoint(layer) and "PDP" in engines
        if written is not None and pooled and rng.random() < _POOLED:
            layer, written = draw_pooled(rng, layer, written)
        layers.append(layer)
    return layers, work


def _weights(layer: Description, src: Cube) -> int:
    """Return how many weights a layer has."""
    if layer["engine"] != "CONV":
        return 0
    taps = TILE * TILE if layer.get("winograd") else math.prod(layer["kernel"])
    return int(layer["kernels"]) * src.shape[0] * taps
