"""Layers of RUBIK and BDMA at random, which move data without changing them."""

from __future__ import annotations

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description, draw_gaps, draw_precision, draw_shape, one_of

_MODES = ("contract", "split", "merge")
_STRIDES = (1, 2, 2, 3, 4)
_MOST_ELEMENTS = 3000
_MOST_CHANNELS = 100
_MOST_LINE_UNITS = 40
_MOST_LINES = 12
_MOST_GAP_UNITS = 9


def draw_rubik(
    rng: np.random.Generator, config: HwConfig, before: Cube | None
) -> tuple[Description, Cube | None] | None:
    """Draw a layer of RUBIK, None where it cannot read what was before it; planes are read by no other layer."""
    mode = one_of(rng, _MODES)
    if before is not None and mode == "merge":
        return None
    precision = draw_precision(rng, config, before)
    stride = [one_of(rng, _STRIDES) for _ in range(2)] if mode == "contract" else [1, 1]
    if before is not None:
        shape = before.shape
    elif mode == "contract":
        channels = int(rng.integers(1, 3)) * config.atom_elements(precision) * stride[0] * stride[1]
        shape = (channels, int(rng.integers(1, 9)), int(rng.integers(1, 20)))
    else:
        channels, height, width = draw_shape(rng, config, _MOST_ELEMENTS, precision)
        shape = (min(channels, _MOST_CHANNELS), height, width)
    multiple = config.atom_elements(precision) * stride[0] * stride[1]
    if mode == "contract" and shape[0] % multiple:
        return None
    keys: Description = {"chain": True}
    if before is None:
        keys = {"shape": list(shape), **({} if precision is Precision.INT8 else {"precision": precision.value})}
        if mode != "merge":
            keys["src_gaps"] = list(draw_gaps(rng, shape))
    out = (shape[0] // (stride[0] * stride[1]), shape[1] * stride[1], shape[2] * stride[0])
    layer: Description = {"engine": "RUBIK", "mode": mode, **keys}
    if mode == "contract":
        layer["stride"] = stride
    if mode == "split":
        return layer, None
    dst = Cube(out, draw_gaps(rng, out), precision)
    return {**layer, "dst_gaps": list(dst.gaps)}, dst


def draw_bdma(
    rng: np.random.Generator, config: HwConfig, before: Cube | None
) -> tuple[Description, Cube | None] | None:
    """Draw a copy by BDMA, None where it would have to read a cube; no other layer reads what it writes."""
    if before is not None:
        return None
    lines = [one_of(rng, [1, 2, int(rng.integers(1, _MOST_LINES + 1))]) for _ in range(2)]
    layer: Description = {
        "engine": "BDMA",
        "lines": [*lines, one_of(rng, [1, 2, int(rng.integers(1, _MOST_LINE_UNITS + 1))])],
        **{f"{end}_gaps": [int(gap) for gap in rng.integers(0, _MOST_GAP_UNITS, 2)] for end in ("src", "dst")},
    }
    return layer, None
