"""Layers whose numbers come to the ends of what adders, shifters and converters hold: near them, at them, beyond."""

from __future__ import annotations

import math

import numpy as np

from nvdla_models.cbuf import bank_bytes
from nvdla_models.config import HwConfig
from nvdla_models.conv.params import MAX_TRUNCATE
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_models.layout.kernel import MAX_KERNEL_BYTES
from nvdla_models.pdp import MAX_KERNEL
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.conv import Sizes, describe
from nvdla_tb.stimulus.generate.draw.numbers import (
    Axis,
    Cube,
    Description,
    draw_gaps,
    draw_precision,
    integers_of,
    one_of,
    stages_of,
)
from nvdla_tb.stimulus.generate.draw.pdp import pooling, windowed
from nvdla_tb.stimulus.generate.draw.sizes import MOST_SIDE, Drawn

_DATA_BITS = 32
"""Of the numbers between the stages of SDP, and of what CACC hands over."""

_OPERAND_BITS = 16
_VISIBLE = 100
"""From an end, in outputs of 8 bits that are shown beside it."""

_MOST_ELEMENTS = 1500
_MOST_STEPS = 16_000
_SIDES = (1, 1, 2, 3, 4, 5, 8)
_FEW_KERNELS = (1, 1, 2, 5)
_MOST = 0.4
"""Of the sums: those of as many products as the convolution buffer has room for."""


def draw_ends(rng: np.random.Generator, config: HwConfig, engine: str) -> list[Drawn]:
    """Draw a layer of integers of SDP, PDP or a convolution at an end of a sum, a product or a shift, or nothing."""
    precision = draw_precision(rng, config, None)
    if precision is Precision.FP16:
        return []
    return {"SDP": _stages, "PDP": _means, "CONV": _sums}[engine](rng, config, precision)


def _sums(rng: np.random.Generator, config: HwConfig, precision: Precision) -> list[Drawn]:
    """Draw a convolution that adds up products of one sign, about a power of two of them or as many as there may be."""
    is_most = bool(rng.random() < _MOST)
    kernels = 1 if is_most else one_of(rng, _FEW_KERNELS)
    banks = config.cbuf_bank_number - config.weight_compression_enable - 2
    room = (bank_bytes(config, banks) - WEIGHT_SIZE_ALIGNMENT_BYTES) // (precision.nbytes * kernels)
    room = min(room, MAX_KERNEL_BYTES // precision.nbytes, _MOST_STEPS * config.mac_atomic_c_size)
    power = 1 << int(rng.integers(2, room.bit_length()))
    wanted = room if is_most else min(power + int(rng.integers(-1, 2)), room)
    fitting = [
        (height, width)
        for height in _SIDES
        for width in _SIDES
        if height * width <= wanted <= height * width * MOST_SIDE
    ]
    if not fitting:
        return []
    kernel = fitting[int(rng.integers(len(fitting)))]
    channels = wanted // math.prod(kernel)
    # A single pixel amid padding takes the least of the buffer; several windows have sums of other sizes at the sides.
    axes = [_alone(rng, side) if channels * side > MOST_SIDE // 4 else _several(rng, side) for side in kernel]
    sizes = Sizes(precision, kernels, channels, axes[0], axes[1])
    if sizes.steps(config) > 2 * _MOST_STEPS:
        return []
    layer, dst = describe(rng, config, sizes)
    low, high = precision.limits
    number = one_of(rng, [low, high])
    weight = one_of(rng, [low, low, high, high, int(rng.integers(low, high + 1))])
    reached = number * weight * channels * math.prod(kernel)
    spare = max(abs(reached).bit_length() - _DATA_BITS, 0)
    truncate = min(spare + one_of(rng, [0, 0, 1, int(rng.integers(0, 17))]), MAX_TRUNCATE)
    kept = {key: value for key, value in layer.items() if key not in _OWN}
    own = {
        "numbers": "lowest" if number == low else "highest",
        "weights": [weight, min(weight + one_of(rng, [0, 0, 1]), high)],
        "pad_value": one_of(rng, [number, number, low, high]),
        "truncate": truncate,
        "converter": _shown(rng, reached >> truncate, min(precision.bits, _OPERAND_BITS)),
        "tight_weights": True,
        "spare_banks": [0, 0],
        "all_weights": False,
    }
    src = Cube(sizes.shape, precision=precision)
    return [Drawn({**kept, **own}, src, Cube(dst.shape, dst.gaps, precision))]


_OWN = ("x1", "x2", "y", "input_converter", "zero_percent", "output_precision")
"""Keys of a convolution that would hide its sums, or change what they are of."""


def _alone(rng: np.random.Generator, kernel: int) -> Axis:
    """Return an axis of one element and one window."""
    before = int(rng.integers(0, kernel))
    return Axis(1, kernel, 1, 1, before, kernel - 1 - before)


def _several(rng: np.random.Generator, kernel: int) -> Axis:
    """Draw an axis of a few windows, as a rule with padding."""
    before, after = (int(side) for side in rng.integers(0, kernel, 2))
    size = max(kernel + int(rng.integers(0, 3)), kernel - before - after)
    return Axis(size, kernel, 1, 1, before, after)


def _shown(rng: np.random.Generator, number: int, bits: int) -> list[int]:
    """Return an output converter that shows numbers beside this one exactly, or the highest bits of all."""
    if rng.random() < 0.6:
        limit = 1 << (_DATA_BITS - 1)
        offset = number + int(rng.integers(-_VISIBLE, _VISIBLE + 1))
        return [min(max(offset, -limit), limit - 1), one_of(rng, [-1, 1, 1]), 0]
    return [0, 1, max(abs(number).bit_length() - bits + int(rng.integers(0, 3)), 0)]


def _stages(rng: np.random.Generator, config: HwConfig, precision: Precision) -> list[Drawn]:
    """Draw a layer of SDP whose sums, or whose shifted products, are about the smallest or the largest of 32 bits."""
    stages = stages_of(config)
    if not stages:
        return []
    shape = _shape(rng, config, precision)
    sign = one_of(rng, [-1, 1])
    if len(stages) > 1 and rng.random() < 0.4:
        layer = _exact_sum(rng, stages, sign, precision)
    else:
        layer = _random_sums(rng, one_of(rng, stages), precision)
    src, dst = (Cube(shape, draw_gaps(rng, shape), precision) for _ in range(2))
    return [Drawn({**_ends_of("SDP", src, dst, integers_of(rng)), **layer}, src, dst)]


def _exact_sum(rng: np.random.Generator, stages: tuple[str, ...], sign: int, precision: Precision) -> Description:
    """Return two stages that add up to an end of 32 bits exactly, so that data of either sign stay below or step over.

    The first adds 2**15 - 1 with 16 bits below; the second what is left, up to some units, with one bit below.
    """
    most = (1 << (_OPERAND_BITS - 1)) - 1
    shift = _DATA_BITS - _OPERAND_BITS
    rest = (1 << (_DATA_BITS - 1)) - (most << shift)
    beside = int(rng.integers(0, _VISIBLE))
    second = (rest >> 1) - 1 - beside // 2
    nbytes = int(rng.integers(1, 3)) if precision is Precision.INT8 else precision.nbytes
    registers = zip(stages, (most, second), (shift, 1), strict=False)
    found: Description = {
        name: {
            "operand_bytes": nbytes,
            "alu": "sum",
            "alu_operand": "register",
            "alu_register": sign * register,
            "alu_shift": below,
        }
        for name, register, below in registers
    }
    if rng.random() < 0.5:
        # Without a multiplier nothing saturates the second sum.
        found[stages[-1]] |= {"mul": True, "mul_operand": "register", "mul_register": 1}
    reached = sign * ((most << shift) + (second << 1))
    return {**found, "converter": _shown(rng, reached, min(precision.bits, _OPERAND_BITS))}


def _random_sums(rng: np.random.Generator, name: str, precision: Precision) -> Description:
    """Return a stage with operands of elements, whose sums and shifted products are on both sides of both ends."""
    memory = one_of(rng, ["channel", "element"])
    nbytes = int(rng.integers(1, 3)) if precision is Precision.INT8 else precision.nbytes
    bits = 8 * nbytes
    # Operands fill 30 to 33 bits once they are shifted; a product has the operand's bits more.
    filled = int(rng.integers(_DATA_BITS - 2, _DATA_BITS + 2))
    stage: Description = {"operand_bytes": nbytes, "alu": "sum", "alu_operand": memory, "alu_shift": filled - bits}
    if rng.random() < 0.3:
        stage["alu"] = one_of(rng, ["max", "min"])
    if rng.random() < 0.7:
        stage |= {"mul": True, "mul_operand": memory, "prelu": bool(rng.random() < 0.3)}
        stage["mul_shift"] = max(min(filled, _DATA_BITS) + bits - 2 - _DATA_BITS + int(rng.integers(-1, 3)), 0)
    end = one_of(rng, [-1, 1]) * (1 << (_DATA_BITS - 1))
    return {name: stage, "converter": _shown(rng, end, min(precision.bits, _OPERAND_BITS))}


def _means(rng: np.random.Generator, config: HwConfig, precision: Precision) -> list[Drawn]:
    """Draw an average of the smallest or largest numbers, whose sums are the largest that there are."""
    height, width = (_windows(rng) for _ in range(2))
    shape = (int(rng.integers(1, 2 * config.atom_elements(precision) + 1)), height.size, width.size)
    src = Cube(shape, draw_gaps(rng, shape), precision)
    layer, dst = pooling(rng, src, height, width)
    low, high = precision.limits
    numbers = integers_of(rng)
    end = {"lowest": low, "highest": high}.get(numbers, one_of(rng, [low, high]))
    layer = {key: value for key, value in layer.items() if key not in ("pad_value", "pad_values", "reciprocals")}
    layer |= {"method": "average", "pad_value": end}
    if rng.random() < 0.4:
        one = 1 << 16
        layer["reciprocals"] = [one // axis.kernel + int(rng.integers(-3, 4)) for axis in (width, height)]
    return [Drawn({**_ends_of("PDP", src, dst, numbers), **layer}, src, dst)]


def _windows(rng: np.random.Generator) -> Axis:
    kernel = int(rng.integers(1, MAX_KERNEL + 1))
    stride = int(rng.integers(1, kernel + 1))
    pads = [int(side) for side in rng.integers(0, kernel, 2)]
    return windowed(kernel, stride, int(rng.integers(1, 5)), pads)


def _shape(rng: np.random.Generator, config: HwConfig, precision: Precision) -> tuple[int, int, int]:
    channels = int(rng.integers(1, 3 * config.atom_elements(precision) + 1))
    width = int(rng.integers(1, 17))
    return channels, max(int(rng.integers(1, _MOST_ELEMENTS // (channels * width) + 2)), 1), width


def _ends_of(engine: str, src: Cube, dst: Cube, numbers: str) -> Description:
    """Return what a layer reads and where it writes."""
    keys: Description = {"engine": engine, "shape": list(src.shape), "numbers": numbers}
    if src.precision is not Precision.INT8:
        keys["precision"] = src.precision.value
    return {**keys, "src_gaps": list(src.gaps), "dst_gaps": list(dst.gaps)}
