"""The memory map of a network, its instruction list and its weights, as the embedded stand-in takes them.

Source: ``docs/dlhdl.md``, "Instruction list" and "Memory". The vendor's list is not published.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlhdl_models.layout import ConvolutionDataLayout, DlhdlType, ModuleDataLayout
from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.network import INPUT, Kind, Layer, Network
from nvdla_models.arithmetic import check_range
from nvdla_models.errors import InputError
from nvdla_models.layout.raw import round_up
from nvdla_models.limits import MEMORY_BYTES
from nvdla_tb.nvdla.memory import GUARD_BYTES, MemoryImage

ACTIVATION_BASE, WEIGHT_BASE = 0x8000_0000, 0x9000_0000
"""The base address of each master, which the core adds to offsets."""

MAGIC = 0x54534C44
_HEADER, _LAYER = struct.Struct("<9I28x"), struct.Struct("<6I4H8B2H4b16x")
_GROUP_WORDS = 16
_LOUD = 93


@dataclass(frozen=True)
class Region:
    """A named range of memory; the offset is what registers and the list hold."""

    name: str
    offset: int
    nbytes: int

    @property
    def end(self) -> int:
        """First offset after it."""
        return self.offset + self.nbytes


@dataclass(frozen=True)
class Slots:
    """Frames of one side that memory holds at a time, one after the other."""

    region: Region
    count: int
    stride: int

    def offset(self, frame: int) -> int:
        """Return where a frame lies; frames take turns."""
        return self.region.offset + frame % self.count * self.stride

    def at(self, offset: int) -> Slots:
        """Return the same slots at an offset of the host's own."""
        return Slots(Region(self.region.name, offset, self.region.nbytes), self.count, self.stride)


@dataclass(frozen=True, eq=False)
class Program:
    """A network with its places; ``compiled`` makes it.

    Attributes:
        network: what it computes.
        inputs: where frames are written.
        outputs: where results are read.
        listed: the same places of both as the instruction list has them.
        results: where each layer's result lies, below the system buffer; None for that of the network.
        instructions: the list.
        conv_weights: weights and biases of convolutions.
        fc_weights: those of fully connected layers.
        places: offset of each of these three below ``WEIGHT_BASE``.
        loud: whether padding lanes of frames and weights hold numbers, which must not matter.
    """

    network: Network
    inputs: Slots
    outputs: Slots
    listed: tuple[Slots, Slots]
    results: tuple[Region | None, ...]
    instructions: NDArray[np.uint8]
    conv_weights: NDArray[np.uint8]
    fc_weights: NDArray[np.uint8]
    places: tuple[Region, Region, Region]
    loud: bool = False

    @property
    def custom(self) -> bool:
        """Whether the host has places of its own for frames and results."""
        return self.listed != (self.inputs, self.outputs)

    def address(self, layer: int, frame: int) -> int:
        """Return the address that a layer's result of a frame is written to."""
        place = self.results[layer]
        offset = self.outputs.offset(frame) if place is None else place.offset
        return ACTIVATION_BASE + offset

    def source_address(self, source: int, frame: int) -> int:
        """Return the address that a layer's result, or the input, is read at for a frame."""
        if source == INPUT:
            return ACTIVATION_BASE + self.inputs.offset(frame)
        return self.address(source, frame)

    def operands(self, layer: int) -> tuple[int, int]:
        """Return the addresses of weights and biases of a layer that has them."""
        words = self.instructions.view("<u4").reshape(-1, _GROUP_WORDS)[1 + layer]
        place = self.places[1 if self.network.layers[layer].kind is Kind.CONVOLUTION else 2]
        base = WEIGHT_BASE + place.offset
        return base + int(words[4]), base + int(words[5])

    def reserve(self, image: MemoryImage) -> None:
        """Make all regions accessible, and load the instruction list and the weights; the rest stays poisoned.

        Raises:
            MemoryFault: when they do not fit.
        """
        buffers = [place for place in self.results if place is not None]
        for region in (self.inputs.region, self.outputs.region, *buffers):
            image.allocate_at(region.name, ACTIVATION_BASE + region.offset, region.nbytes)
        for region, data in zip(self.places, (self.instructions, self.conv_weights, self.fc_weights), strict=True):
            if len(data):
                image.allocate_at(region.name, WEIGHT_BASE + region.offset, region.nbytes)
                image.write(WEIGHT_BASE + region.offset, data)


def compiled(
    network: Network,
    input_slots: int,
    output_slots: int,
    *,
    custom: bool = False,
    skew_bytes: int = 0,
    loud: bool = False,
) -> Program:
    """Return the program of a network, each region with guard bytes around it.

    Args:
        network: what to compute.
        input_slots: frames that the input side holds.
        output_slots: results that the output side holds.
        custom: whether frames and results lie at places of the host's own instead of the list's.
        skew_bytes: distance of each region from a 4 KiB border.
        loud: whether padding lanes of frames and weights hold numbers.

    Raises:
        InputError: for slots below 1, a skew that is not aligned, and more than ``MEMORY_BYTES`` after one base.
    """
    config = network.config
    for name, slots in (("input_slots", input_slots), ("output_slots", output_slots)):
        check_range(name, slots, 1, 1 << 15)
    if skew_bytes % config.alignment_bytes or not 0 <= skew_bytes < 4096:
        rule = f"a multiple of {config.alignment_bytes} below 4096"
        raise InputError(f"skew_bytes must be {rule}, not {skew_bytes}")
    cursor = _Cursor(skew_bytes)
    stride_in, stride_out = network.input.layout.nbytes, network.tensors[-1].layout.nbytes
    inputs = Slots(cursor.take("InputData", input_slots * stride_in), input_slots, stride_in)
    outputs = Slots(cursor.take("OutputResult", output_slots * stride_out), output_slots, stride_out)
    last = len(network.layers) - 1
    buffer = cursor.offset
    results = tuple(
        None if number == last else cursor.take(f"SystemBuffer of layer {number}", tensor.layout.nbytes)
        for number, tensor in enumerate(network.tensors)
    )
    listed = (inputs, outputs)
    if custom:
        inputs = inputs.at(cursor.take("InputBase", inputs.region.nbytes).offset)
        outputs = outputs.at(cursor.take("OutputBase", outputs.region.nbytes).offset)
    conv, fc = _Weights(config, loud), _Weights(config, loud)
    parts = []
    for layer in network.layers:
        weights = conv if layer.kind is Kind.CONVOLUTION else fc
        parts.append(weights.add(network, layer) if layer.kind.has_weights else (0, 0))
    sides = (listed[0].region.offset, stride_in, input_slots, listed[1].region.offset, stride_out, output_slots)
    groups = [_HEADER.pack(MAGIC, len(network.layers), *sides, buffer)]
    offsets = [0 if region is None else region.offset - buffer for region in results]
    groups += [_group(network, number, offsets, of_weights) for number, of_weights in enumerate(parts)]
    instructions = np.frombuffer(b"".join(groups), np.uint8)
    blobs = (instructions, conv.data, fc.data)
    below = _Cursor(skew_bytes)
    names = ("InstructionData", "ConvWeightData", "FCWeightData")
    places = [below.take(name, max(len(blob), 1)) for name, blob in zip(names, blobs, strict=True)]
    return Program(
        network,
        inputs,
        outputs,
        listed,
        results,
        *blobs,
        places=(places[0], places[1], places[2]),
        loud=loud,
    )


class _Cursor:
    """Hands out ranges from a 4 KiB border on, less or more a skew, with guard bytes between them."""

    def __init__(self, skew_bytes: int) -> None:
        self._skew = skew_bytes
        self.offset = skew_bytes

    def take(self, name: str, nbytes: int) -> Region:
        region = Region(name, self.offset, nbytes)
        if region.end > MEMORY_BYTES:
            raise InputError(f"{name} must end at most {MEMORY_BYTES} bytes after its base, not {region.end}")
        self.offset = round_up(region.end + GUARD_BYTES - self._skew, 4096) + self._skew
        return region


class _Weights:
    """Weights and biases of all layers of one module."""

    def __init__(self, config: DlhdlConfig, loud: bool) -> None:
        self._config, self._loud = config, loud
        self._data = bytearray()

    @property
    def data(self) -> NDArray[np.uint8]:
        return np.frombuffer(bytes(self._data), dtype=np.uint8)

    def add(self, network: Network, layer: Layer) -> tuple[int, int]:
        """Append the weights and biases of a layer, and return their offsets."""
        weights, bias = layer.operands
        biases = bias.astype("<i4" if self._config.data_type is DlhdlType.INT8 else "<f4").tobytes()
        return self._append(_packed_weights(network, layer, weights, self._loud)), self._append(biases)

    def _append(self, data: bytes) -> int:
        alignment = self._config.alignment_bytes
        start = round_up(len(self._data), alignment)
        self._data += bytes(start - len(self._data)) + data
        self._data += bytes(round_up(len(self._data), self._config.beat_bytes) - len(self._data))
        return start


def packed(layout: ModuleDataLayout, values: NDArray[Any], loud: bool) -> NDArray[np.uint8]:
    """Return the bytes of values, padding lanes as 0, or as 93 when they are loud."""
    data = layout.pack(values)
    if loud:
        dtype = layout.data_type.dtype
        lanes = data.view(dtype)
        lanes[layout.pack(np.ones(values.shape, dtype)).view(dtype) == 0] = _LOUD
    return data


def _packed_weights(network: Network, layer: Layer, weights: NDArray[Any], loud: bool) -> bytes:
    config = network.config
    if layer.kind is Kind.CONVOLUTION:
        layout = ConvolutionDataLayout(config.data_type, weights.shape[1:], config.threads)
        return b"".join(packed(layout, kernel, loud).tobytes() for kernel in weights)
    source = network.tensor(layer.source).layout
    return b"".join(packed(source, row, loud).tobytes() for row in weights)


def _group(network: Network, number: int, results: list[int], weights: tuple[int, int]) -> bytes:
    """Return the words of a layer in the instruction list."""
    layer, destination = network.layers[number], network.tensors[number]
    source = network.tensor(layer.source)
    second = None if layer.second is None else network.tensor(layer.second)
    flags = layer.kind.value | layer.relu << 8 | (layer.source != INPUT) << 9
    flags |= (layer.second not in (None, INPUT)) << 10 | (number == len(network.layers) - 1) << 11
    flags |= source.fully_connected << 12
    places = [0 if other in (None, INPUT) else results[other] for other in (layer.source, layer.second)]
    (z, y, x), (k, rows, pixels) = ((*tensor.shape, 1, 1)[:3] for tensor in (source, destination))
    window = layer.window
    kernel, padding = (0,) * 4, (0,) * 4
    if window is not None:
        kernel = (window.width, window.height, window.stride_x, window.stride_y)
        padding = (window.left, window.top, window.right, window.bottom)
    exponents = [0] * 4
    if network.config.data_type is DlhdlType.INT8:
        exponents = [source.exponent, 0 if second is None else second.exponent]
        exponents += [layer.weight_exponent, destination.exponent]
    for value in (x, y, z, k, pixels, rows):
        check_range("size", value, 1, 0xFFFF)
    sizes = (x, y, z, k, *kernel, *padding, pixels, rows)
    return _LAYER.pack(flags, *places, results[number], *weights, *sizes, *exponents)
