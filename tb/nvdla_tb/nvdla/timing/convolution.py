"""Cycles of a convolution: CDMA fetches, CSC hands stripes to the array, CACC hands their results to SDP.

CSC begins when all lines of the input lie in the convolution buffer, and with each kernel group when its weights do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.conv_buffer import Fetch
from nvdla_tb.nvdla.surfaces import ImageSurface
from nvdla_tb.nvdla.timing.machine import (
    ACCUMULATION_CYCLES,
    COLUMN_CYCLES,
    CREDIT_CYCLES,
    CREDITS,
    DELIVERY_GAP_CYCLES,
    LINE_CYCLES,
    SHORT_STRIPE,
    STRIPE,
    Machine,
)


def stripes(atoms: int, shortest: int = SHORT_STRIPE) -> Iterator[int]:
    """Yield how many atoms of the output each stripe has: 16, then ``shortest`` and what is left from 31 on."""
    while atoms:
        length = STRIPE if atoms >= 2 * STRIPE else atoms if atoms <= STRIPE else shortest
        yield length
        atoms -= length


@dataclass(frozen=True)
class Arrivals:
    """When data and weights lie in the convolution buffer, in cycles after their first answer.

    While CDMA fetches both, each has every second beat of the port.

    Attributes:
        data: When all data do.
        shared: Atoms of weights that arrive until then.
        beat: Cycles of an atom alone.
    """

    data: float
    shared: float
    beat: float

    def weights(self, atoms: float) -> float:
        """Return when so many atoms of weights have arrived."""
        return atoms * self.beat + min(atoms, self.shared) * self.beat


def arrivals(layer: ConvLayer, fetch: Fetch, machine: Machine) -> Arrivals:
    """Return when a layer's data and weights arrive."""
    atom, beat = machine.config.memory_atomic_bytes, machine.beat_cycles
    weights = layer.weights.layout.nbytes / atom if fetch.weights else 0.0
    if not fetch.data:
        return Arrivals(0.0, 0.0, beat)
    if isinstance(layer.src, ImageSurface):
        atoms = sum(layer.src.layout.plane_nbytes) / atom
        alone = atoms * beat
    else:
        channels, height, width = layer.src.layout.shape
        surfaces = ceil(channels / atom)
        atoms = surfaces * height * width
        most = len(LINE_CYCLES) - 1
        together = [most] * (surfaces // most) + [surfaces % most]
        alone = sum(height * (COLUMN_CYCLES[n] * width * beat + LINE_CYCLES[n]) for n in together)
    shared = min(atoms, weights)
    return Arrivals(2 * shared * beat + (atoms - shared) * alone / atoms, shared, beat)


class Array:
    """CSC, CMAC and CACC: when they have taken and delivered what layers before gave them."""

    def __init__(self) -> None:
        """Start with an idle array."""
        self.free = 0.0
        self.delivered = 0.0
        self._returned = [0.0] * CREDITS

    def run(self, layer: ConvLayer, fetch: Fetch, machine: Machine, begun: float, waiting: float) -> float:
        """Run a layer, and return when CDMA has fetched all of it.

        Each operation multiplies a stripe by a weight of each kernel of a group. The last of a stripe waits for room
        for its results.

        Args:
            layer: The layer.
            fetch: What CDMA fetches for it.
            machine: The hardware.
            begun: When the first answer of memory arrives.
            waiting: Part of the data for which the layer before leaves no room in the buffer.
        """
        arriving = arrivals(layer, fetch, machine)
        data = begun + arriving.data
        if waiting:
            data = max(data, self.free + machine.latency_cycles + waiting * arriving.data)
        per_kernel, operations = _work(layer, machine)
        group_size = machine.config.kernel_group_size(layer.params.precision)
        kernels = layer.weights.layout.shape[0]
        lengths = _stripes(layer)
        now = max(self.free, data)
        for first in range(0, kernels, group_size):
            taken = min(first + group_size, kernels) * per_kernel
            if fetch.weights:
                now = max(now, begun + arriving.weights(taken))
            for length in lengths:
                now = self._stripe(now, length, operations, group_size)
        self.free = now
        return max(data, begun + arriving.weights(kernels * per_kernel if fetch.weights else 0.0))

    def _stripe(self, now: float, length: int, operations: int, elements: int) -> float:
        """Run a stripe and return when the next one may begin."""
        each = max(length, SHORT_STRIPE)
        # The oldest credits come back first.
        last = max(now + (operations - 1) * each, self._returned[length - 1] + CREDIT_CYCLES)
        for atom in range(length):
            there = last + ACCUMULATION_CYCLES + atom
            self.delivered = max(self.delivered, there) + elements + DELIVERY_GAP_CYCLES
            self._returned.append(self.delivered)
        del self._returned[:length]
        return last + each


def _work(layer: ConvLayer, machine: Machine) -> tuple[float, int]:
    """Return the atoms of weights of a kernel, and the operations of a stripe."""
    _, channels, rows, columns = layer.weights.layout.packed_shape
    nbytes = channels * rows * columns * layer.params.precision.nbytes
    return nbytes / machine.config.memory_atomic_bytes, ceil(channels / machine.channels) * rows * columns


def _stripes(layer: ConvLayer) -> list[int]:
    """Return the stripes of a kernel group: of an image, each line begins with a new one."""
    _, height, width = layer.dst.layout.shape
    if isinstance(layer.src, ImageSurface):
        return list(stripes(width, STRIPE)) * height
    return list(stripes(height * width))
