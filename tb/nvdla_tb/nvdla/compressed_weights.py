"""Compressed weights in memory: the kernels without those that are 0, their mask, and the sizes of their groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import CompressedWeightLayout, KernelLayout
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.surfaces import Compression, WeightSurface


def store_compressed(
    memory: MemoryImage,
    allocate: Callable[[int, str], int],
    name: str,
    layout: KernelLayout,
    weights: NDArray[Any],
    ram: Ram = Ram.MC,
) -> WeightSurface:
    """Write kernels to memory without those that are 0, with their mask and the sizes of their groups.

    Args:
        memory: The memory.
        allocate: Returns an address for so many bytes of a name.
        name: Prefix of the names of the three parts.
        layout: How the kernels would lie in whole.
        weights: The kernels, of the layout's ``packed_shape``.
        ram: Which memory it is.

    Raises:
        InputError: for a configuration that cannot decompress.
    """
    packed = CompressedWeightLayout(layout).pack(weights)
    addresses = []
    for part, data in (("weights", packed.weights), ("mask", packed.wmb), ("sizes", packed.wgs)):
        size = max(len(data), WEIGHT_SIZE_ALIGNMENT_BYTES)
        addresses.append(allocate(size, f"{name}_{part}"))
        memory.write(addresses[-1], np.concatenate([data, np.zeros(size - len(data), np.uint8)]))
    size = max(len(packed.weights), WEIGHT_SIZE_ALIGNMENT_BYTES)
    return WeightSurface(layout, addresses[0], ram, Compression(addresses[1], addresses[2], size))
