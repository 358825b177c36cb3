"""Layers that nv_full computes and nv_small does not: images of all formats, converted cubes, Winograd in INT8."""

from __future__ import annotations

from typing import Any

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.layout import pixel_format, supported_formats
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.scenario import Scenario

CONFIG = HwConfig.load("nv_full")

# Bits that a sum of INT8 and INT16 loses in CACC so that few results saturate.
TRUNCATE = {Precision.INT8: 10, Precision.INT16: 20, Precision.FP16: 0}

CUBES = (5, 3)
"""Of each layer of ``batches``."""


def images(precision: Precision) -> Scenario:
    """Return a convolution of an image of each format that can become ``precision``."""
    rng = np.random.default_rng(3)
    names = [n for n in supported_formats(CONFIG) if precision is Precision.FP16 or not pixel_format(n).is_float]
    return scenario("images", precision, *(image(rng, name, precision) for name in names))


def image(rng: np.random.Generator, format_name: str, precision: Precision) -> dict[str, Any]:
    """Describe a convolution of an image, with a random window, converter and mean, and post-extension."""
    pixels = pixel_format(format_name)
    # Of random floating-point numbers some are no numbers, which would spoil most sums of more.
    most = 3 if pixels.is_float else 4
    kernel, stride = rng.integers(1, most, 2).tolist(), rng.integers(1, 4, 2).tolist()
    width, height = kernel[0] + int(rng.integers(0, 60)), kernel[1] + int(rng.integers(0, 6))
    lines = [n for n in (1, 2, 4) if n * max(kernel[0], stride[0]) * pixels.channels <= 64]
    keys: dict[str, Any] = {
        "shape": [pixels.channels, height, width],
        "kernels": int(rng.integers(1, 40)),
        "kernel": kernel,
        "stride": stride,
        "pad": [int(rng.integers(0, side)) for side in kernel for _ in range(2)],
        "pad_value": int(np.float16(rng.normal()).view(np.uint16) if precision is Precision.FP16 else rng.integers(99)),
        "image": {
            "format": format_name,
            "x_offset": int(rng.integers(0, pixels.max_x_offset(CONFIG) + 1)),
            "post_extension": int(rng.choice(lines)),
        },
    }
    if not pixels.is_float:
        shift = {Precision.INT8: 13, Precision.INT16: 8, Precision.FP16: 14}[precision] - 8 // pixels.precision.nbytes
        keys["input_converter"] = [int(rng.integers(-99, 99)), int(rng.integers(-9, 99)), shift]
        keys["image"]["signed"] = bool(rng.random() < 0.5)
        if rng.random() < 0.5:
            keys["image"]["mean"] = rng.integers(-99, 200, pixels.channels).tolist()
    return keys


def converted_cubes(precision: Precision) -> Scenario:
    """Return two convolutions of cubes that CDMA converts, one of them Winograd."""
    direct = {"shape": [75, 5, 6], "kernels": 20, "kernel": [3, 3], "pad": [1, 1, 1, 1], "pad_value": 7}
    layers = direct | {"input_converter": [3, 41, 5]}, tiled(2) | {"input_converter": [-20, -3, 2]}
    return scenario("converted_cubes", precision, *layers)


def winograd(precision: Precision) -> Scenario:
    """Return convolutions by Winograd; INT8 always truncates before it multiplies, so that few elements saturate."""
    amounts = (2, 2) if precision is Precision.INT8 else (0, 1, 2)
    return scenario("winograd", precision, *(tiled(amount, left) for left, amount in enumerate(amounts)))


def tiled(pre_truncate: int, left: int = 3) -> dict[str, Any]:
    """Describe a convolution by Winograd of a cube that is padded on all sides: out 8 x 12."""
    keys = {"shape": [40, 10 - left, 13 - left], "kernels": 37, "pad": [left, 3, left, 2], "pad_value": -71}
    return {**keys, "winograd": True, "pre_truncate": pre_truncate}


def batches(precision: Precision) -> Scenario:
    """Return batches of ``CUBES``: of single pixels, and by compressed weights with operands of X1 and X2."""
    pixels = {"shape": [50, 1, 1], "kernels": 70, "kernel": [1, 1], "batch": CUBES[0]}
    windows = {"shape": [70, 5, 6], "kernels": 37, "kernel": [3, 2], "pad": [1, 0, 0, 1], "batch": CUBES[1]}
    gaps = {"src_gaps": [1, 2], "dst_gaps": [1, 2], "zero_percent": 50}
    scale = {"mul": True, "mul_operand": "element"} | ({} if precision is Precision.FP16 else {"mul_shift": 6})
    stages = {"x1": {"alu": "sum", "alu_operand": "channel", "operand_bytes": 2}, "x2": scale}
    return scenario("batches", precision, pixels, windows | gaps | stages, counters=True)


def scenario(name: str, precision: Precision, *layers: dict[str, Any], **keys: Any) -> Scenario:
    """Return a scenario of convolutions."""
    common = {"engine": "CONV", "precision": precision.value, "truncate": TRUNCATE[precision]}
    described = {"layer": [common | layer for layer in layers], **keys}
    return PlanEntry(f"{name}_{precision.value}", "", CONFIG.name, described).build(CONFIG, 1)
