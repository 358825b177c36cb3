"""Scenarios and layers from descriptions, as a plan makes them."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.memory import MemoryImage
from nvdla_tb.stimulus.generate.engines import build_layer
from nvdla_tb.stimulus.generate.errors import PlanError, of_key
from nvdla_tb.stimulus.generate.layers.entries import layer_entry
from nvdla_tb.stimulus.generate.layers.workshop import Workshop
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.generate.random import ENGINES, random_entry
from tests.unit.nvdla.samples import SMALL

Keys = dict[str, Any]
L = TypeVar("L", bound=Layer)


def entry(*layers: object, **data: Any) -> PlanEntry:
    """Return a scenario of nv_small that messages call ``probe``."""
    return PlanEntry("probe", "a test's", "nv_small", {"layer": list(layers), **data})


def build_all(*descriptions: Keys) -> tuple[Workshop, list[Layer]]:
    """Return layers of nv_small, and the workshop with their memory."""
    shop = Workshop(SMALL, MemoryImage(limit=1 << 32), np.random.default_rng(1))
    layers: list[Layer] = []
    for number, description in enumerate(descriptions):
        entry = layer_entry(description, "probe")
        with of_key("probe"):
            layers.append(build_layer(shop, f"l{number}", entry, layers))
    return shop, layers


def build_one(kind: type[L], description: Keys) -> L:
    """Return the layer of a kind that a description becomes."""
    (layer,) = build_all(description)[1]
    assert isinstance(layer, kind)
    return layer


def drawn_layers(config: HwConfig, seeds: int) -> list[Keys]:
    """Return the layers of the random scenarios of so many seeds, without their data."""
    return [layer for seed in range(seeds) for layer in random_entry(config, seed, ENGINES).data["layer"]]


def of(drawn: list[Keys], *engines: str) -> list[Keys]:
    """Return the layers of some engines."""
    return [layer for layer in drawn if layer["engine"] in engines]


def refused(message: str) -> pytest.RaisesExc[PlanError]:
    """Expect a refusal with exactly this message."""
    return pytest.raises(PlanError, match=rf"^{re.escape(message)}$")
