"""Layers that nv_full computes and nv_small does not: images of all formats, converted cubes, Winograd in INT8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from models.cbuf import bank_entries, feature_entries, image_entries, winograd_entries
from models.config import HwConfig
from models.conv import ConvParams
from models.converter import Converter, ConverterEncoding
from models.layout import (
    FeatureLayout,
    ImageWeightLayout,
    PixelConversion,
    PixelFormat,
    PixelLayout,
    WeightLayout,
    WinogradWeightLayout,
    pixel_format,
    supported_formats,
)
from models.layout.alignment import WEIGHT_START_ALIGNMENT_BYTES
from models.precision import Precision
from models.sdp import SdpParams
from tb.nvdla.layers import ConvLayer, Surface
from tb.nvdla.memory import MemoryImage, Ram
from tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface
from tb.stimulus.generate.layers.workshop import Workshop
from tb.stimulus.generate.plan import PlanEntry
from tb.stimulus.generate.sequence import sequence
from tb.stimulus.scenario import Scenario, memory_ops

CONFIG = HwConfig.load("nv_full")
IDENTITY = Converter(0, 1, 0, ConverterEncoding.SDP_OUTPUT)
BASE = 0x8000_0000

# Bits that a sum of INT8 and INT16 loses in CACC so that few results saturate.
TRUNCATE = {Precision.INT8: 10, Precision.INT16: 20, Precision.FP16: 0}

CUBES = (5, 3)
"""Of each layer of ``batches``."""


def images(precision: Precision, seed: int) -> Scenario:
    """Return a convolution of an image of each format that can become ``precision``."""
    shop = workshop(seed)
    return scenario(
        f"images_{precision.name.lower()}",
        seed,
        shop,
        [
            image_conv(shop, f"l{number}", name, precision)
            for number, name in enumerate(supported_formats(CONFIG))
            if precision is Precision.FP16 or not pixel_format(name).is_float
        ],
    )


def converted_cubes(precision: Precision, seed: int) -> Scenario:
    """Return two convolutions of cubes that CDMA converts, one of them Winograd."""
    shop = workshop(seed)
    conversions = (
        Converter(3, 41, 5, ConverterEncoding.CDMA_INPUT),
        Converter(-20, -3, 2, ConverterEncoding.CDMA_INPUT),
    )
    return scenario(
        f"converted_{precision.name.lower()}",
        seed,
        shop,
        [
            replace(cube_conv(shop, "l0", precision), conversion=conversions[0]),
            replace(truncated(winograd_conv(shop, "l1", precision), 2), conversion=conversions[1]),
        ],
    )


def winograd(precision: Precision, seed: int) -> Scenario:
    """Return convolutions by Winograd; INT8 always truncates before it multiplies, so that few elements saturate."""
    shop = workshop(seed)
    amounts = (2, 2) if precision is Precision.INT8 else (0, 1, 2)
    layers = [truncated(winograd_conv(shop, f"l{n}", precision), amount) for n, amount in enumerate(amounts)]
    return scenario(f"winograd_{precision.name.lower()}", seed, shop, layers)


def batches(precision: Precision, seed: int) -> Scenario:
    """Return batches of ``CUBES``: of single pixels, and by compressed weights with operands of X1 and X2."""
    common = {"engine": "CONV", "precision": precision.name.lower(), "truncate": TRUNCATE[precision]}
    pixels = {"shape": [50, 1, 1], "kernels": 70, "kernel": [1, 1], "batch": CUBES[0]}
    windows = {"shape": [70, 5, 6], "kernels": 37, "kernel": [3, 2], "pad": [1, 0, 0, 1], "batch": CUBES[1]}
    gaps = {"src_gaps": [1, 2], "dst_gaps": [1, 2], "zero_percent": 50}
    scale = {"mul": True, "mul_operand": "element"} | ({} if precision is Precision.FP16 else {"mul_shift": 6})
    stages = {"x1": {"alu": "sum", "alu_operand": "channel", "operand_bytes": 2}, "x2": scale}
    layers = [common | pixels, common | windows | gaps | stages]
    entry = PlanEntry(f"batches_{precision.name.lower()}", "batches", CONFIG.name, {"layer": layers, "counters": True})
    return entry.build(CONFIG, seed)


def truncated(layer: ConvLayer, amount: int) -> ConvLayer:
    """Return a layer of Winograd that divides its transformed input by 2^amount."""
    return replace(layer, params=replace(layer.params, pre_truncate=amount))


def workshop(seed: int) -> Workshop:
    """Return an empty memory and randomness."""
    memory = MemoryImage(BASE, 1 << CONFIG.memif_address_width_bits)
    return Workshop(CONFIG, memory, np.random.default_rng(seed))


def scenario(name: str, seed: int, shop: Workshop, layers: Sequence[ConvLayer]) -> Scenario:
    """Return a scenario that plays the layers in turn."""
    ops = (*memory_ops(shop.memory, Ram.MC), *sequence(layers, CONFIG, in_turn=True))
    return Scenario(name, CONFIG.name, ops, seed)


def image_conv(shop: Workshop, name: str, format_name: str, precision: Precision) -> ConvLayer:
    """Return a convolution of a random image, with a random window, converter and mean, and post-extension."""
    rng, pixels = shop.rng, pixel_format(format_name)
    kernel_height, kernel_width, stride_y, stride_x = (int(n) for n in rng.integers(1, 4, 4))
    left, right = (int(n) for n in rng.integers(0, kernel_width, 2))
    top, bottom = (int(n) for n in rng.integers(0, kernel_height, 2))
    height, width = kernel_height + int(rng.integers(0, 6)), kernel_width + int(rng.integers(0, 60))
    pad_value = (
        int(np.float16(rng.normal()).view(np.uint16)) if precision is Precision.FP16 else int(rng.integers(-99, 99))
    )
    params = ConvParams(stride_x, stride_y, 1, 1, left, right, top, bottom, pad_value, TRUNCATE[precision], precision)
    lines = int(rng.choice([n for n in (1, 2, 4) if n * max(kernel_width, stride_x) * pixels.channels <= 64]))
    weights = ImageWeightLayout(
        CONFIG, precision, (int(rng.integers(1, 40)), pixels.channels, kernel_height, kernel_width), lines
    )
    layout = PixelLayout.packed(
        CONFIG, format_name, (pixels.channels, height, width), int(rng.integers(0, pixels.max_x_offset(CONFIG) + 1))
    )
    src = float_image(shop, name, layout) if pixels.is_float else shop.place_image(name, layout)
    entries = image_entries(CONFIG, precision, pixels.channels, left + width + right)
    return convolution(shop, name, src, weights, params, entries * height, conversion(rng, pixels, precision))


def conversion(rng: np.random.Generator, pixels: PixelFormat, precision: Precision) -> PixelConversion:
    """Return what CDMA does with pixels: nothing with floating point, else mean or offset, scale and truncation."""
    if pixels.is_float:
        return PixelConversion(Precision.FP16)
    offset, scale = int(rng.integers(-99, 99)), int(rng.integers(-9, 99))
    shift = {Precision.INT8: 13, Precision.INT16: 8, Precision.FP16: 14}[precision] - 8 // pixels.precision.nbytes
    mean = tuple(int(n) for n in rng.integers(-99, 200, pixels.channels)) if rng.random() < 0.5 else None
    converter = Converter(offset, scale, shift, ConverterEncoding.CDMA_INPUT)
    return PixelConversion(precision, converter, mean, signed=bool(rng.random() < 0.5))


def cube_conv(shop: Workshop, name: str, precision: Precision) -> ConvLayer:
    """Return a direct convolution of a random cube."""
    shape, kernels = (75, 5, 6), 20
    params = ConvParams(1, 1, 1, 1, 1, 1, 1, 1, 7, TRUNCATE[precision], precision)
    src = shop.place(f"{name}_src", FeatureLayout.packed(CONFIG, precision, shape))
    weights = WeightLayout(CONFIG, precision, (kernels, shape[0], 3, 3))
    entries = feature_entries(CONFIG, precision, shape[0], shape[2])
    return convolution(shop, name, src, weights, params, entries * shape[1])


def winograd_conv(shop: Workshop, name: str, precision: Precision) -> ConvLayer:
    """Return a convolution by Winograd of a random cube, padded on all sides: out 8 x 12."""
    left, top = (int(n) for n in shop.rng.integers(0, 4, 2))
    right, bottom = 3, 2
    shape, kernels = (40, 12 - top - bottom, 16 - left - right), 37
    pad_value = 0 if precision is Precision.FP16 else int(shop.rng.integers(-99, 99))
    params = ConvParams(1, 1, 1, 1, left, right, top, bottom, pad_value, TRUNCATE[precision], precision, winograd=True)
    src = shop.place(f"{name}_src", FeatureLayout.packed(CONFIG, precision, shape))
    weights = WinogradWeightLayout(CONFIG, precision, (kernels, shape[0], 3, 3))
    return convolution(shop, name, src, weights, params, winograd_entries(CONFIG, precision, shape[0], 16) * 12)


def convolution(
    shop: Workshop,
    name: str,
    src: Surface | ImageSurface,
    weights: WeightLayout,
    params: ConvParams,
    entries: int,
    conversion: PixelConversion | None = None,
) -> ConvLayer:
    """Return a convolution with random weights and as many banks for data as the entries take, the rest for weights."""
    kernel_height, kernel_width = (4, 4) if params.winograd else weights.shape[2:]
    height, width = src.layout.shape[1:]
    slices = height + (params.pad_top + params.pad_bottom if params.winograd else 0)
    dst = FeatureLayout.packed(
        CONFIG,
        params.precision,
        (weights.shape[0], params.output_height(height, kernel_height), params.output_width(width, kernel_width)),
    )
    banks = -(-entries // bank_entries(CONFIG, 1))
    return ConvLayer(
        src,
        place_weights(shop, name, weights),
        shop.reserve(f"{name}_dst", dst),
        params,
        SdpParams(None, None, IDENTITY, params.precision, params.precision),
        CbufUse(banks, CONFIG.cbuf_bank_number - 1 - banks, release_slices=slices),
        conversion,
    )


def place_weights(shop: Workshop, name: str, layout: WeightLayout) -> WeightSurface:
    """Put random weights into memory, of FP16 numbers around 0; those of channels that only Winograd has are 0."""
    precision = layout.precision
    if precision is Precision.FP16:
        weights = shop.rng.normal(size=layout.packed_shape).astype(precision.dtype)
    else:
        weights = shop.rng.integers(*precision.limits, layout.packed_shape, dtype=precision.dtype, endpoint=True)
    if isinstance(layout, WinogradWeightLayout):
        weights[:, layout.shape[1] :] = 0
    address = shop.memory.allocate(layout.nbytes, f"{name}_weights", WEIGHT_START_ALIGNMENT_BYTES)
    shop.memory.write(address, layout.pack(weights))
    return WeightSurface(layout, address)


def float_image(shop: Workshop, name: str, layout: PixelLayout) -> ImageSurface:
    """Put an image of FP16 numbers around 0 into memory."""
    address = shop.memory.allocate(layout.nbytes, f"{name}_src", CONFIG.memory_atomic_bytes)
    shop.memory.write(address, layout.pack(shop.rng.normal(size=layout.shape).astype(np.float16)))
    return ImageSurface(layout, (address,))
