"""Random scenarios: descriptions drawn from everything that a plan can say, weighted towards corners."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from models.config import HwConfig
from models.errors import InputError
from models.winograd_transform import TILE
from tb.stimulus.generate.draw.cdp import draw_cdp
from tb.stimulus.generate.draw.conv import draw_conv
from tb.stimulus.generate.draw.moving import draw_bdma, draw_rubik
from tb.stimulus.generate.draw.numbers import Cube, Description
from tb.stimulus.generate.draw.pdp import draw_pdp, draw_pooled
from tb.stimulus.generate.draw.sdp import draw_sdp
from tb.stimulus.generate.plan import PlanEntry

_Drawer = Callable[[np.random.Generator, HwConfig, Cube | None], tuple[Description, Cube | None] | None]
_DRAWERS: dict[str, _Drawer] = {
    "SDP": draw_sdp,
    "PDP": draw_pdp,
    "CDP": draw_cdp,
    "CONV": draw_conv,
    "RUBIK": draw_rubik,
    "BDMA": draw_bdma,
}
ENGINES = tuple(_DRAWERS)

_BASES = (0, 0x8000_0000, 0x8000_0000, 0xFE00_0000)
_LATENCIES = (0, 1, 5, 50, 300, 1200)
_LATENCY_SHARES = (0.12, 0.12, 0.3, 0.34, 0.1, 0.02)
"""Long latencies are rare, because they make a scenario take a minute."""

_MOST_LAYERS = 4
_CHAINED = 0.35
_COUNTED = 0.5
"""Of the scenarios whose layers run one after the other."""

_ENDED_BY_SDP = ("SDP", "CONV")
_NOT_POOLED = {"output_precision", "winograd", "batch"}
"""What PDP does not take on the fly."""

_POOLED = 0.2
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
    data: Description = {
        "order": str(rng.choice(["in_turn", "back_to_back"])),
        "settings": {"csb_stall": _sometimes(rng, 0.3, 0.4, 0.0), "port": _port(rng)},
        "base": int(rng.choice(_BASES)) + 8 * int(rng.integers(0, 1 << 13)),
        "layer": _layers(rng, config, engines),
    }
    data["counters"] = data["order"] == "in_turn" and bool(rng.random() < _COUNTED)
    return PlanEntry("random", "drawn from the seed", config.name, data)


def engines_of(config: HwConfig) -> tuple[str, ...]:
    """Return the engines that a build has."""
    enabled = {
        "PDP": config.pdp_enable,
        "CDP": config.cdp_enable,
        "RUBIK": config.rubik_enable,
        "BDMA": config.bdma_enable,
    }
    absent = {name for name, there in enabled.items() if not there}
    return tuple(engine for engine in ENGINES if engine not in absent)


def _layers(rng: np.random.Generator, config: HwConfig, engines: tuple[str, ...]) -> list[Description]:
    """Draw layers; some read what the one before them wrote."""
    layers: list[Description] = []
    written: Cube | None = None
    weights = 0
    count = int(rng.integers(1, _MOST_LAYERS + 1))
    while len(layers) < count:
        before = written if rng.random() < _CHAINED else None
        drawn = _DRAWERS[str(rng.choice(engines))](rng, config, before)
        if drawn is None or weights + _weights(drawn[0], before) > _MOST_WEIGHTS:
            continue
        weights += _weights(drawn[0], before)
        layer, written = drawn
        if written is not None and _may_be_pooled(layer) and "PDP" in engines and rng.random() < _POOLED:
            layer, written = draw_pooled(rng, layer, written)
        layers.append(layer)
    return layers


def _may_be_pooled(layer: Description) -> bool:
    """Return whether PDP can take what a layer ends with on the fly."""
    return layer["engine"] in _ENDED_BY_SDP and _NOT_POOLED.isdisjoint(layer)


def _weights(layer: Description, before: Cube | None) -> int:
    """Return how many weights a layer has."""
    if layer["engine"] != "CONV":
        return 0
    channels = layer["shape"][0] if before is None else before.shape[0]
    taps = TILE * TILE if layer.get("winograd") else math.prod(layer["kernel"])
    return int(layer["kernels"]) * int(channels) * taps


def _port(rng: np.random.Generator) -> Description:
    return {
        "latency_cycles": int(rng.choice(_LATENCIES, p=_LATENCY_SHARES)),
        "jitter_cycles": int(_sometimes(rng, 0.4, int(rng.integers(1, 100)), 0)),
        "ready_stall": _sometimes(rng, 0.3, round(float(rng.uniform(0.1, 0.8)), 2), 0.0),
        "valid_stall": _sometimes(rng, 0.3, round(float(rng.uniform(0.1, 0.8)), 2), 0.0),
        "reorder": bool(rng.random() < 0.4),
    }


def _sometimes(rng: np.random.Generator, probability: float, value: Any, otherwise: Any) -> Any:
    return value if rng.random() < probability else otherwise
