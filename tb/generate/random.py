"""Random scenarios: descriptions drawn from everything that a plan can say, weighted towards corners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from models.config import HwConfig
from models.precision import Precision
from tb.generate.plan import PlanEntry
from tb.layers import LINE_BUFFER_ELEMENTS

Description = dict[str, Any]

_MOST_LAYERS = 4
_MOST_ELEMENTS = 3000
"""Elements of one cube, so that a scenario takes seconds."""


def random_entry(config: HwConfig, seed: int, engines: tuple[str, ...]) -> PlanEntry:
    """Return a scenario's description; the same seed gives the same one.

    Args:
        config: Configuration that must be able to run it.
        seed: Any non-negative integer.
        engines: Names of the engines to draw from.
    """
    rng = np.random.default_rng([seed, 0x5EED])
    layers = [_LAYERS[str(rng.choice(engines))](rng, config) for _ in range(rng.integers(1, _MOST_LAYERS + 1))]
    data = {
        "order": str(rng.choice(["in_turn", "back_to_back"])),
        "settings": {"csb_stall": _sometimes(rng, 0.3, 0.4, 0.0), "port": _port(rng)},
        "layer": layers,
    }
    return PlanEntry("random", "drawn from the seed", config.name, data)


def _port(rng: np.random.Generator) -> Description:
    return {
        "latency_cycles": int(rng.choice([1, 5, 50, 50, 300])),
        "jitter_cycles": int(_sometimes(rng, 0.4, int(rng.integers(1, 100)), 0)),
        "ready_stall": _sometimes(rng, 0.3, round(float(rng.uniform(0.1, 0.8)), 2), 0.0),
        "valid_stall": _sometimes(rng, 0.3, round(float(rng.uniform(0.1, 0.8)), 2), 0.0),
        "reorder": bool(rng.random() < 0.4),
    }


def _sdp(rng: np.random.Generator, config: HwConfig) -> Description:
    layer: Description = {"engine": "SDP", "shape": _shape(rng, config)}
    if layer["shape"][1:] != [1, 1]:
        layer |= {"src_gaps": _gaps(rng), "dst_gaps": _gaps(rng)}
    for stage in ("x1", "x2"):
        if rng.random() < 0.6:
            layer[stage] = _stage(rng)
    if rng.random() < 0.6:
        layer["converter"] = [_wide(rng, 32), _wide(rng, 16), int(rng.choice([0, 1, 4, 8, 15, 20, 31, 48, 63]))]
    return layer


def _stage(rng: np.random.Generator) -> Description:
    stage: Description = {"mul_shift": _shift(rng), "relu": bool(rng.random() < 0.4)}
    memory = str(rng.choice(["channel", "element"]))
    if rng.random() < 0.7:
        stage |= {"alu": str(rng.choice(["max", "min", "sum"])), "alu_shift": _shift(rng)}
        stage["alu_operand"] = str(rng.choice(["register", memory]))
    if rng.random() < 0.7:
        stage |= {"mul": True, "prelu": bool(rng.random() < 0.3)}
        stage["mul_operand"] = str(rng.choice(["register", memory]))
    stage["operand_bytes"] = int(rng.integers(1, 3))
    return stage


def _pdp(rng: np.random.Generator, config: HwConfig) -> Description:
    kernel = [int(rng.integers(1, 9)), int(rng.integers(1, 9))]
    stride = [int(rng.integers(1, 5)), int(rng.integers(1, 5))]
    pad = [int(rng.integers(0, kernel[axis])) for axis in (0, 0, 1, 1)]
    rows = -(-kernel[1] // stride[1])
    widest = LINE_BUFFER_ELEMENTS >> (rows - 1).bit_length()
    sizes = []
    for axis, most in ((1, 8), (0, min(widest, 20))):
        padding = pad[2 * axis] + pad[2 * axis + 1]
        # The window count must leave at least one element of the cube itself.
        least = max(1, -(-(padding + 1 - kernel[axis]) // stride[axis]) + 1)
        count = int(rng.integers(least, max(least, most) + 1))
        sizes.append((count - 1) * stride[axis] + kernel[axis] - padding)
    return {
        "engine": "PDP",
        "shape": [_channels(rng, config, most=24), *sizes],
        "method": str(rng.choice(["max", "min", "average"])),
        "kernel": kernel,
        "stride": stride,
        "pad": pad,
        "pad_value": int(rng.integers(-128, 128)),
        "src_gaps": _gaps(rng),
        "dst_gaps": _gaps(rng),
    }


_LAYERS: dict[str, Callable[[np.random.Generator, HwConfig], Description]] = {"SDP": _sdp, "PDP": _pdp}
ENGINES = tuple(_LAYERS)


def _shape(rng: np.random.Generator, config: HwConfig) -> list[int]:
    if rng.random() < 0.1:
        return [_channels(rng, config, most=200), 1, 1]
    height, width = (int(rng.choice([1, 2, int(rng.integers(1, 12)), int(rng.integers(1, 40))])) for _ in range(2))
    atom = config.atom_elements(Precision.INT8)
    return [_channels(rng, config, most=max(_MOST_ELEMENTS // (height * width), atom)), height, width]


def _channels(rng: np.random.Generator, config: HwConfig, most: int) -> int:
    """Draw a channel count: often one, or one below, at or above a multiple of the atom."""
    atom = config.atom_elements(Precision.INT8)
    corners = [1, atom - 1, atom, atom + 1, 2 * atom, 2 * atom + 1]
    drawn = int(rng.choice(corners)) if rng.random() < 0.5 else int(rng.integers(1, most + 1))
    return max(1, min(drawn, most))


def _gaps(rng: np.random.Generator) -> list[int]:
    return [int(rng.integers(1, 9)), int(rng.integers(1, 33))] if rng.random() < 0.4 else [0, 0]


def _shift(rng: np.random.Generator) -> int:
    return int(rng.choice([0, 0, 1, 2, 5, 8, 16, 31, 32, 63, int(rng.integers(0, 64))]))


def _wide(rng: np.random.Generator, bits: int) -> int:
    """Draw a signed number of any magnitude up to ``bits`` bits, the limits among them."""
    limit = 1 << (bits - 1)
    if rng.random() < 0.1:
        return int(rng.choice([-limit, limit - 1]))
    magnitude = 1 << int(rng.integers(1, bits))
    return int(rng.integers(-magnitude, magnitude))


def _sometimes(rng: np.random.Generator, probability: float, value: Any, otherwise: Any) -> Any:
    return value if rng.random() < probability else otherwise
