"""How a convolution is cut into layers that the convolution buffer can hold, and the weights of each."""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.cbuf import bank_entries, feature_entries, fewest_data_banks, fewest_weight_banks, image_entries
from nvdla_models.layout import ImageWeightLayout, PixelLayout, WeightLayout
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_models.layout.raw import round_up
from nvdla_networks.compiler.arrange import Channels
from nvdla_networks.compiler.graph import Conv, Shape
from nvdla_networks.compiler.target import Target
from nvdla_networks.errors import NodeRefused

_LAYER_BEATS = 256
"""About as many could be read while a short layer begins and ends, so that many small ones are not worth it."""


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
    """Lines of the output that one layer makes, and the banks that hold its input."""

    line: int
    lines: int
    data_banks: int


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


def packed_weights(
    target: Target, weights: NDArray[Any], groups: int, block: Block, src: Channels
) -> tuple[WeightLayout, bytes]:
    """Return how the kernels of a block lie in memory, and their bytes.

    They are those of all, (K, C of a group, R, S), with zeros for channels of the input that they do not see.
    """
    kernels, channels, height, width = weights.shape
    wide = np.zeros((block.kernels, block.channels, height, width), dtype=weights.dtype)
    for kernel in range(block.kernels):
        group = (block.kernel + kernel) // (kernels // groups)
        places = src.places[group * channels : (group + 1) * channels]
        wide[kernel, np.array(places) - block.channel] = weights[block.kernel + kernel]
    shape = block.kernels, block.channels, height, width
    if block.is_image:
        of_image = ImageWeightLayout(target.config, target.precision, shape)
        return of_image, of_image.pack(of_image.pre_extend(wide)).tobytes()
    layout = WeightLayout(target.config, target.precision, shape)
    return layout, layout.pack(wide).tobytes()


def tiles_of(name: str, target: Target, conv: Conv, shape: Shape, block: Block) -> list[Tile]:
    """Return the layers of a block, from above, whose input the buffer holds beside weights.

    Where one layer is too much, all weights stay in the buffer from one tile to the next, unless less is read when each
    tile reads them, beside more lines.

    Args:
        name: Name of the layer in messages.
        target: Decides how large the buffer is.
        conv: The convolution.
        shape: Shape of its whole input.
        block: Kernels and channels of the layers.

    Raises:
        NetworkError: when one line of the output is too much.
    """
    config, window = target.config, conv.window
    lines = window.output(0, shape[1])
    entries = feature_entries(config, target.precision, block.channels, shape[2])
    if block.is_image:
        padded = window.before[1] + shape[2] + window.after[1]
        entries = image_entries(config, target.precision, block.channels, padded)
    group = config.kernel_group_size(target.precision)
    kernel_bytes = block.channels * window.kernel[0] * window.kernel[1] * target.precision.nbytes
    weights = round_up(block.kernels * kernel_bytes, WEIGHT_SIZE_ALIGNMENT_BYTES)

    def tiles_beside(buffered_bytes: int) -> int:
        """Return how many tiles there are beside so much of the weights, 0 where nothing else fits."""
        banks = config.cbuf_bank_number - fewest_weight_banks(config, buffered_bytes)
        rows = bank_entries(config, max(banks, 0)) // entries
        most = lines if rows >= shape[1] else min((rows - window.span(0)) // window.stride[0] + 1, lines)
        return -(-lines // most) if banks > 0 and most > 0 else 0

    def cost(tiles: int, weight_bytes: int) -> int:
        """Return what is read more than once, as bytes."""
        again = tiles * max(window.span(0) - window.stride[0], 0) * entries * config.cbuf_bank_width_bytes
        return again + weight_bytes + tiles * _LAYER_BEATS * config.primary_memif_width_bytes

    staying, passing = tiles_beside(weights), tiles_beside(group * kernel_bytes + WEIGHT_SIZE_ALIGNMENT_BYTES)
    if not staying or (passing and cost(passing, passing * weights) < cost(staying, weights)):
        staying = passing
    if not staying:
        raise NodeRefused(
            name,
            f"{block.kernels} kernels of {block.channels}x{'x'.join(map(str, window.kernel))} and "
            f"the input of one line of output must fit the {config.cbuf_bank_number} banks of {config.name}",
        )
    most = -(-lines // staying)
    rows = min((most - 1) * window.stride[0] + window.span(0), shape[1])
    banks = fewest_data_banks(config, rows * entries)
    return [Tile(line, min(most, lines - line), banks) for line in range(0, lines, most)]
