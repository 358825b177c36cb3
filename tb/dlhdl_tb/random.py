"""Random scenarios of the Deep Learning HDL processor: descriptions as a plan has them, weighted towards corners."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.network import INPUT
from dlhdl_tb.scenario import DlhdlEntry

Description = dict[str, Any]
Shape = tuple[int, ...]

_MOST_LAYERS = 4
_MOST_STEPS = 3000
"""Beats that a layer may multiply: an embedded core takes one a cycle."""

_KINDS = {"conv": 5, "max_pool": 2, "average_pool": 2, "fc": 3, "add": 3}
"""How often layers of a kind are wanted."""


def random_entry(config: DlhdlConfig, seed: int) -> DlhdlEntry:
    """Return a scenario's description for a core; the same seed, 0 or more, gives the same one."""
    rng = np.random.default_rng([seed, 0xD1])
    image = rng.random() < 0.85
    sizes = (_features(config, rng), *(int(n) for n in rng.integers(1, 8, 2))) if image else (_features(config, rng),)
    shapes: dict[int, Shape] = {INPUT: sizes}
    layers = []
    for number in range(int(rng.integers(1, _MOST_LAYERS + 1))):
        layer, shapes[number] = _layer(config, shapes, rng)
        layers.append(layer)
    data = {"input": list(sizes), "layer": layers, **_host(config, rng), "settings": {"port": _port(rng)}}
    return DlhdlEntry("random", f"random layers and a random host, seed {seed}", data)


def _features(config: DlhdlConfig, rng: np.random.Generator) -> int:
    """Return a number of features: one at a corner of blocks and beats, or any."""
    c, n = config.threads, config.parallel
    corners = (1, c - 1, c, c + 1, n, n + 1, 2 * c, 2 * n + 1)
    return int(rng.choice(corners) if rng.random() < 0.7 else rng.integers(1, 3 * n + 1))


def _layer(config: DlhdlConfig, shapes: dict[int, Shape], rng: np.random.Generator) -> tuple[Description, Shape]:
    """Return a layer and the shape of its result; what is drawn is always one that the core can play."""
    # The newest result is most likely wanted, so that layers follow each other.
    newest = len(shapes) - 2
    source = newest if rng.random() < 0.75 else int(rng.integers(INPUT, newest + 1))
    shape = shapes[source]
    names = [name for name in _KINDS if len(shape) == 3 or name in ("fc", "add")]
    weights = np.array([_KINDS[name] for name in names], dtype=float)
    kind = str(rng.choice(names, p=weights / weights.sum()))
    layer: Description = {"kind": kind, "source": source, "relu": bool(rng.random() < 0.4)}
    if kind == "add":
        same = [number for number, other in shapes.items() if other == shape]
        return layer | {"second": int(rng.choice(same))}, shape
    features = _features(config, rng)
    if kind == "fc":
        return layer | {"features": features}, (features,)
    kernel = [int(n) for n in rng.integers(1, 4, 2)]
    padding = [int(rng.integers(0, kernel[side % 2])) for side in range(4)]
    steps = -(-shape[0] // config.threads) * prod(kernel) * shape[1] * shape[2]
    if kind == "conv":
        features = max(1, min(features, _MOST_STEPS // steps))
        layer["features"] = features
    stride = [int(n) for n in rng.integers(1, 4, 2)]
    spans = (shape[2] + padding[0] + padding[2], shape[1] + padding[1] + padding[3])
    kernel = [min(size, span) for size, span in zip(kernel, spans, strict=True)]
    # Each window of a maximum must have a position in the image.
    padding = [min(padding[side], kernel[side % 2] - 1) for side in range(4)]
    spans = (shape[2] + padding[0] + padding[2], shape[1] + padding[1] + padding[3])
    pixels, rows = ((span - size) // step + 1 for span, size, step in zip(spans, kernel, stride, strict=True))
    layer |= {"kernel": kernel, "stride": stride, "padding": padding}
    return layer, (features if kind == "conv" else shape[0], rows, pixels)


def _host(config: DlhdlConfig, rng: np.random.Generator) -> Description:
    """Return how frames are given."""
    data: Description = {"frames": int(rng.integers(1, 5))}
    if rng.random() < 0.5:
        data |= {"mode": "stream", "endless": bool(rng.random() < 0.3)}
        data |= {f"{side}_slots": int(rng.integers(1, 4)) for side in ("input", "output")}
        data |= {f"{side}_wait_cycles": int(rng.choice((0, 0, 50, 800))) for side in ("input", "output")}
    data["custom_addresses"] = bool(rng.random() < 0.3)
    data["loud_padding"] = bool(rng.random() < 0.5)
    if rng.random() < 0.4:
        data["skew_bytes"] = 4096 - config.alignment_bytes * int(rng.integers(1, 9))
    if rng.random() < 0.15:
        data["reset_within"] = 1000
    return data


def _port(rng: np.random.Generator) -> Description:
    """Return latency and stalls of memory."""
    port: Description = {}
    if rng.random() < 0.5:
        port = {"latency_cycles": int(rng.choice((1, 4, 30, 80))), "jitter_cycles": int(rng.choice((0, 0, 7, 20)))}
    if rng.random() < 0.5:
        port |= {name: round(float(rng.random() * 0.6), 2) for name in ("ready_stall", "valid_stall")}
    return port
