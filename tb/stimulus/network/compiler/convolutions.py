"""How a convolution is cut into layers that the convolution buffer can hold, and the weights of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.cbuf import bank_bytes, bank_entries, feature_entries, image_entries
from models.layout import ImageWeightLayout, PixelLayout, WeightLayout
from models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from tb.nvdla.surfaces import CbufUse
from tb.stimulus.network.compiler.arrange import Channels
from tb.stimulus.network.compiler.graph import Conv, Shape
from tb.stimulus.network.compiler.target import Target
from tb.stimulus.network.errors import NetworkError


@dataclass(frozen=True)
class Block:
    """Kernels that see some channels of the input as it lies in memory: first and number of both.

    ``is_image`` says that the channels are those of the pixels of an image.
    """

    kernel: int
    kernels: int
    channel: int
    channels: int
    is_image: bool = False


@dataclass(frozen=True)
class Tile:
    """Lines of the output that one layer makes."""

    line: int
    lines: int


def blocks_of(conv: Conv, src: Channels, lanes: int, picture: PixelLayout | None) -> list[Block]:
    """Return which kernels run together; all of them, where the input is an image.

    Groups that begin and end with atoms run on their own, so that the weights of others need not be multiplied as
    zeros. Other groups run together.
    """
    kernels, channels = len(conv.weights), conv.weights.shape[1]
    if picture is not None:
        return [Block(0, kernels, 0, picture.shape[0], is_image=True)]
    whole = [Block(0, kernels, 0, src.count)]
    if conv.groups == 1 or not src.dense:
        return whole
    of_group = kernels // conv.groups
    together = lcm(lcm(channels, lanes) // channels, lcm(of_group, lanes) // of_group)
    if together >= conv.groups:
        return whole
    blocks = []
    for first in range(0, conv.groups, together):
        count = min(together, conv.groups - first)
        blocks.append(Block(first * of_group, count * of_group, first * channels, count * channels))
    return blocks


def block_weights(weights: NDArray[Any], groups: int, block: Block, src: Channels) -> NDArray[Any]:
    """Return the kernels of a block (K, C, R, S), with zeros for channels that they do not see.

    Args:
        weights: All kernels, (K, C of a group, R, S).
        groups: Number of groups.
        block: The block.
        src: Channels of the input.
    """
    channels = weights.shape[1]
    of_group = len(weights) // groups
    wide = np.zeros((block.kernels, block.channels, *weights.shape[2:]), dtype=weights.dtype)
    for kernel in range(block.kernels):
        group = (block.kernel + kernel) // of_group
        places = src.places[group * channels : (group + 1) * channels]
        wide[kernel, np.array(places) - block.channel] = weights[block.kernel + kernel]
    return wide


def packed_weights(target: Target, weights: NDArray[Any], *, is_image: bool) -> tuple[WeightLayout, bytes]:
    """Return how kernels (K, C, R, S) lie in memory, and their bytes."""
    kernels, channels, height, width = weights.shape
    shape = kernels, channels, height, width
    if is_image:
        of_image = ImageWeightLayout(target.config, target.precision, shape)
        return of_image, of_image.pack(of_image.pre_extend(weights)).tobytes()
    layout = WeightLayout(target.config, target.precision, shape)
    return layout, layout.pack(weights).tobytes()


def tiles_of(name: str, target: Target, conv: Conv, shape: Shape, block: Block, out: Shape) -> Iterator[Tile]:
    """Yield the parts of the output, from above, whose input the buffer holds beside a group of kernels.

    Args:
        name: Name of the layer in messages.
        target: Decides how large the buffer is.
        conv: The convolution.
        shape: Shape of its input.
        block: Kernels and channels.
        out: Shape of its output.

    Raises:
        NetworkError: when one line of the output is too much.
    """
    config = target.config
    banks = config.cbuf_bank_number - weight_banks(target, block, conv.window.kernel)
    most = out[1]
    while most and (banks < 1 or _data_banks(target, conv, shape, block, most) > banks):
        most -= 1
    if not most:
        raise NetworkError(
            f"node {name!r}: {block.kernels} kernels of {block.channels}x{'x'.join(map(str, conv.window.kernel))} and "
            f"the input of one line of output must fit the {config.cbuf_bank_number} banks of {config.name}"
        )
    count = -(-out[1] // most)
    even = -(-out[1] // count)
    for line in range(0, out[1], even):
        yield Tile(line, min(even, out[1] - line))


def weight_banks(target: Target, block: Block, kernel: tuple[int, int]) -> int:
    """Return the banks that one group of kernels needs, or all kernels where they are one."""
    nbytes = block.channels * kernel[0] * kernel[1] * target.precision.nbytes
    group = target.config.kernel_group_size(target.precision)
    alignment = WEIGHT_SIZE_ALIGNMENT_BYTES
    if block.kernels <= group:
        needed = -(-block.kernels * nbytes // alignment) * alignment
    else:
        needed = group * nbytes + alignment
    return -(-needed // bank_bytes(target.config, 1))


def _data_banks(target: Target, conv: Conv, shape: Shape, block: Block, lines: int) -> int:
    """Return the banks that the input of so many output lines needs; no padding saves any of it."""
    rows = min((lines - 1) * conv.window.stride[0] + conv.window.span(0), shape[1])
    padding = conv.window.before[1] + conv.window.after[1]
    return data_banks(target, block, rows, shape[2], padding)


def data_banks(target: Target, block: Block, rows: int, width: int, padding: int) -> int:
    """Return the banks that lines of an input need; those of an image take their padding with them."""
    if block.is_image:
        entries = image_entries(target.config, target.precision, block.channels, width + padding)
    else:
        entries = feature_entries(target.config, target.precision, block.channels, width)
    return -(-entries * rows // bank_entries(target.config, 1))


def cbuf_use(target: Target, block: Block, rows: int, width: int, padding: int) -> CbufUse:
    """Return a share of the buffer: what the input needs, and all others for weights."""
    banks = data_banks(target, block, rows, width, padding)
    return CbufUse(banks, target.config.cbuf_bank_number - banks, release_slices=rows)
