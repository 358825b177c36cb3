"""How layers of each engine come into being: built from a description, drawn from a seed, drawn to reach limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.stimulus.generate.draw.cdp import draw_cdp
from nvdla_tb.stimulus.generate.draw.conv import draw_conv
from nvdla_tb.stimulus.generate.draw.far import draw_long, far_pdp
from nvdla_tb.stimulus.generate.draw.far_conv import far_convs
from nvdla_tb.stimulus.generate.draw.moving import draw_bdma, draw_rubik
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description
from nvdla_tb.stimulus.generate.draw.pdp import draw_pdp
from nvdla_tb.stimulus.generate.draw.sdp import draw_sdp
from nvdla_tb.stimulus.generate.draw.sizes import Drawn, work_of
from nvdla_tb.stimulus.generate.errors import PlanError, of_key
from nvdla_tb.stimulus.generate.layers.cdp import build_cdp
from nvdla_tb.stimulus.generate.layers.conv import build_conv
from nvdla_tb.stimulus.generate.layers.entries import (
    AnyLayerEntry,
    BdmaEntry,
    CdpEntry,
    ConvEntry,
    PdpEntry,
    RubikEntry,
    SdpEntry,
)
from nvdla_tb.stimulus.generate.layers.moving import build_bdma, build_rubik
from nvdla_tb.stimulus.generate.layers.pdp import build_pdp, build_pooled
from nvdla_tb.stimulus.generate.layers.sdp import build_sdp
from nvdla_tb.stimulus.generate.layers.workshop import LEAST_CARRY, Workshop

_TRIES = 30


@dataclass(frozen=True)
class Generator:
    """The makers of layers of one engine.

    Attributes:
        entry: What a plan says of a layer.
        build: From that to the layer, with its data in memory.
        draw: From randomness to a description, and what it writes for a layer that may follow; ``None`` for a draw
            that does not fit.
        reach: The same for layers that reach limits of fields, within a number of cycles; None where an engine has
            none.
    """

    entry: type[AnyLayerEntry]
    build: Callable[[Workshop, str, Any, Sequence[Layer]], Layer]
    draw: Callable[[np.random.Generator, HwConfig, Cube | None], tuple[Description, Cube | None] | None]
    reach: Callable[[np.random.Generator, HwConfig, int], list[Drawn]] | None = None


GENERATORS = {
    "SDP": Generator(SdpEntry, build_sdp, draw_sdp, partial(draw_long, draw_sdp)),
    "PDP": Generator(PdpEntry, build_pdp, draw_pdp, far_pdp),
    "CDP": Generator(CdpEntry, build_cdp, draw_cdp, partial(draw_long, draw_cdp)),
    "CONV": Generator(ConvEntry, build_conv, draw_conv, far_convs),
    "RUBIK": Generator(RubikEntry, build_rubik, draw_rubik),
    "BDMA": Generator(BdmaEntry, build_bdma, draw_bdma),
}
"""By the names of ``nvdla_tb.nvdla.engines``, in their order."""


def build_layer(shop: Workshop, name: str, entry: AnyLayerEntry, earlier: Sequence[Layer]) -> Layer:
    """Return the layer that an entry of a plan asks for, with its data in memory.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        entry: What the plan says of it.
        earlier: The layers before; ``chain = true`` reads the last one's destination.

    Raises:
        InputError: for what no hardware can run, or not after those layers.
    """
    if entry.carry is not None:
        most = shop.config.memif_address_width_bits - 1
        if not LEAST_CARRY <= entry.carry <= most:
            raise PlanError(f"carry must be {LEAST_CARRY} to {most}, not {entry.carry}")
        shop = replace(shop, carry=entry.carry)
    build = next(maker.build for maker in GENERATORS.values() if isinstance(entry, maker.entry))
    layer = build(shop, name, entry, earlier)
    if isinstance(entry, BdmaEntry) or entry.pool is None:
        return layer
    with of_key("pool"):
        return build_pooled(shop, f"{name}_pool", entry.pool, layer)


def draw_far(rng: np.random.Generator, config: HwConfig, engine: str, cycles: int) -> list[Drawn]:
    """Draw layers that reach limits of an engine's fields; none where the engine has no such limits here.

    Args:
        rng: Randomness.
        config: The build.
        engine: One of those that random scenarios have.
        cycles: About how many they may take on the narrowest build; at most twice as many.
    """
    reach = GENERATORS[engine].reach
    if reach is None:
        return []
    for _ in range(_TRIES):
        found = reach(rng, config, cycles)
        if found and sum(work_of(config, each.layer, each.src, each.dst).cycles for each in found) <= 2 * cycles:
            return found
    return []
