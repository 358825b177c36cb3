"""Sizes up to the limits of their fields, where counters and address generators wrap, and what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_models.winograd_transform import TILE
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description, one_of

MOST_WEIGHTS = 60_000
"""Of all convolutions of a scenario, so that the convolution buffer has room for all of them at once."""

MOST_SIDE = 8192
"""Channels, lines and columns of a cube: fields of 13 bits hold one less."""

_AT_THE_LIMIT = 0.25
_WIDE_GAP = 0.25
_MOST_SURFACE_BYTES = 1 << 21
"""Of a cube with the gaps in it, so that a scenario with several of them still has room."""


@dataclass(frozen=True)
class Work:
    """The load that a layer puts on the device.

    Attributes:
        cycles: about, with a memory that answers at once.
        accesses: of the memory, an atom each.
    """

    cycles: int
    accesses: int

    def __add__(self, other: Work) -> Work:
        """Return the work of both, one after the other."""
        return Work(self.cycles + other.cycles, self.accesses + other.accesses)


@dataclass(frozen=True)
class Drawn:
    """A layer's description, with the cubes that it reads, or would fetch, and writes."""

    layer: Description
    src: Cube
    dst: Cube


def draw_reaching(rng: np.random.Generator, most: int, least: int = 1) -> int:
    """Draw a number from ``least`` to ``most``: often the limit, or beside a power of two, as likely a high one."""
    if rng.random() < _AT_THE_LIMIT:
        return one_of(rng, [most, max(most - 1, least)])
    power = 1 << int(rng.integers(0, most.bit_length() + 1))
    near = power + int(rng.integers(-1, 2)) if rng.random() < 0.6 else int(rng.integers(power, 2 * power))
    return min(max(near, least), most)


def draw_reaching_shape(
    rng: np.random.Generator, config: HwConfig, precision: Precision, atoms: int
) -> tuple[int, int, int]:
    """Draw a cube of at most so many atoms, one axis of which goes up to the limit of its field."""
    atom = config.atom_elements(precision)
    most = max(atoms, 1)
    axis = int(rng.integers(3))
    sides = [1, 1, 1]
    if axis == 0:
        sides[0] = draw_reaching(rng, min(MOST_SIDE, most * atom))
    else:
        sides[axis] = draw_reaching(rng, min(MOST_SIDE, most))
    for other in rng.permutation([side for side in range(3) if side != axis]):
        left = most // (sides[1] * sides[2] * -(-sides[0] // atom))
        room = left * atom if other == 0 else left
        sides[other] = min(one_of(rng, [1, 2, 3, draw_reaching(rng, 64)]), max(room, 1))
    return sides[0], sides[1], sides[2]


def draw_reaching_gaps(rng: np.random.Generator, config: HwConfig, cube: Cube) -> tuple[int, int]:
    """Draw atoms of gap after lines and surfaces: now and then so many that strides carry into high address bits."""
    if cube.is_one_pixel or rng.random() >= _WIDE_GAP:
        return 0, 0
    return draw_wide_gaps(rng, config, cube, _MOST_SURFACE_BYTES)


def draw_wide_gaps(rng: np.random.Generator, config: HwConfig, cube: Cube, most_bytes: int) -> tuple[int, int]:
    """Draw atoms of gap with which a cube of several pixels has up to so many bytes."""
    channels, height, width = cube.shape
    surfaces = -(-channels // config.atom_elements(cube.precision))
    most = most_bytes // config.memory_atomic_bytes // surfaces
    line = width
    if height > 1 and rng.random() < 0.7:
        line = max(width, draw_reaching(rng, max(most // height, 1)))
    surface = draw_reaching(rng, max(most, 1)) if surfaces > 1 and rng.random() < 0.7 else 0
    return line - width, max(surface - height * line, 0)


def work_of(config: HwConfig, layer: Description, src: Cube, dst: Cube) -> Work:
    """Estimate what a layer asks of the device: at most, for builds that process more than a byte a cycle."""
    read, written = atoms_of(config, src), atoms_of(config, dst)
    atom = config.memory_atomic_bytes
    accesses = read + written + sum(_operands(config, layer[name], dst) for name in ("x1", "x2", "y") if name in layer)
    if layer["engine"] != "CONV":
        return Work(max(accesses, max(read, written) * atom), accesses)
    taps = math.prod(layer.get("kernel", (4, 4)))
    kernels, channels = int(layer["kernels"]), src.shape[0]
    groups = -(-kernels // config.kernel_group_size(src.precision))
    steps = groups * taps * math.prod(dst.shape[1:]) * -(-channels // config.mac_atomic_c_size)
    accesses += -(-kernels * channels * taps * src.precision.nbytes // atom)
    return Work(steps + accesses + written * atom, accesses)


def atoms_of(config: HwConfig, cube: Cube) -> int:
    """Return how many atoms a cube has."""
    channels, height, width = cube.shape
    return -(-channels // config.atom_elements(cube.precision)) * height * width


def weights_of(layer: Description, src: Cube) -> int:
    """Return how many weights a layer has."""
    if layer["engine"] != "CONV":
        return 0
    taps = TILE * TILE if layer.get("winograd") else math.prod(layer["kernel"])
    return int(layer["kernels"]) * src.shape[0] * taps


def _operands(config: HwConfig, stage: Description, dst: Cube) -> int:
    """Return about how many atoms of operands a stage of SDP reads."""
    memories = [stage.get("alu_operand"), stage.get("mul_operand")]
    bytes_each = int(stage.get("operand_bytes", 2))
    if "element" in memories:
        return atoms_of(config, dst) * bytes_each * memories.count("element")
    return dst.shape[0] * bytes_each * memories.count("channel") // config.memory_atomic_bytes
