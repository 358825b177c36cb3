"""The keys of layers in plans and drawn scenarios, by engine: their types are what a file is checked against.

A key that is None unless it is given either decides by its absence, or means nothing beside others: the builders of the
layers refuse it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from nvdla_models.pdp import PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp
from nvdla_tb.nvdla.layers import RubikMode
from nvdla_tb.plain_data import converted
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.layers.data import Floats, Integers

Pair = tuple[int, int]
Triple = tuple[int, int, int]
Four = tuple[int, int, int, int]
Seven = tuple[int, int, int, int, int, int, int]

Numbers = Floats | Integers
Choice = Literal["le", "lo"]
Operand = Literal["register", "channel", "element"]
Part = Literal["data", "weights"]


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a plan."""

    def leave_out(self, reason: str, *keys: str) -> None:
        """Refuse keys that mean nothing beside others.

        Raises:
            PlanError: naming the first one that is given.
        """
        for key in keys:
            value = getattr(self, key)
            if value is not None and value is not False:
                raise PlanError(f"{key} must be left out {reason}")


class LutTableEntry(Entry, frozen=True, kw_only=True):
    """One lookup table.

    Attributes:
        start: input of the first entry; in FP16 an FP32 pattern, as ``end`` is.
        exponent: offset of the exponent; without it, the table is linear.
        select: logarithm of the distance of linear entries.
        end: input of the last entry; where the programming guide wants it without the key.
        underflow: scale and shift of the slope before the table; in FP16 an FP16 pattern and 0.
        overflow: the same after the table.
    """

    start: int
    exponent: int | None = None
    select: int = 0
    end: int | None = None
    underflow: Pair = (0, 0)
    overflow: Pair = (0, 0)


class LutEntry(Entry, frozen=True, kw_only=True):
    """Both lookup tables of SDP or CDP.

    Attributes:
        le: the exponential or linear one.
        lo: the linear one.
        entries: smallest and largest number in them.
        numbers: which numbers of FP16.
        underflow: the table that answers below both.
        overflow: above both.
        hybrid: where both have an answer.
    """

    le: LutTableEntry
    lo: LutTableEntry
    entries: Pair = (-(1 << 15), (1 << 15) - 1)
    numbers: Floats = "middle"
    underflow: Choice = "le"
    overflow: Choice = "le"
    hybrid: Choice = "le"


class OperandsEntry(Entry, frozen=True, kw_only=True):
    """What all stages of SDP have.

    Attributes:
        alu: operation of the ALU, which is off without it.
        mul: whether the multiplier is on.
        prelu: whether it multiplies negative numbers alone.
        alu_operand: where the ALU's operand comes from; a register without the key.
        mul_operand: the same of the multiplier.
        alu_register: the ALU's operand in a register; drawn without the key.
        mul_register: the same of the multiplier.
        operand_bytes: bytes of an operand in memory; those of the precision without the key.
        operand_gaps: unused atoms after each line and each surface of operands.
        numbers: which operands are drawn.
    """

    alu: AluOp | None = None
    mul: bool = False
    prelu: bool = False
    alu_operand: Operand | None = None
    mul_operand: Operand | None = None
    alu_register: int | None = None
    mul_register: int | None = None
    operand_bytes: int | None = None
    operand_gaps: Pair = (0, 0)
    numbers: Numbers | None = None


class StageEntry(OperandsEntry, frozen=True, kw_only=True):
    """X1 or X2.

    Attributes:
        alu_shift: bits by which the ALU's operand is shifted to the left.
        mul_shift: bits by which products are shifted to the right.
        relu: whether negative results become 0.
    """

    alu_shift: int = 0
    mul_shift: int = 0
    relu: bool = False


class ElementWiseEntry(OperandsEntry, frozen=True, kw_only=True):
    """Y.

    Attributes:
        truncate: bits by which products are shifted to the right.
        alu_converter: offset, scale and shift of the ALU's operands from memory.
        mul_converter: the same of the multiplier's.
        lut: lookup tables, which are off without it.
    """

    truncate: int = 0
    alu_converter: Triple | None = None
    mul_converter: Triple | None = None
    lut: LutEntry | None = None


class WrittenEntry(Entry, frozen=True, kw_only=True):
    """What all layers have that write a cube.

    Attributes:
        dst_gaps: unused atoms after each line and each surface of the result.
        dst_skip: unused atoms before it.
    """

    dst_gaps: Pair | None = None
    dst_skip: int | None = None


class PoolEntry(WrittenEntry, frozen=True, kw_only=True):
    """A pooling.

    Attributes:
        method: largest, smallest or average.
        kernel: width and height of the window.
        stride: columns and lines from one window to the next.
        pad: columns and lines of padding: left, right, top, bottom.
        pad_value: padding of an average; 0 without the key.
        pad_values: the words for one to seven padded elements of an average, in place of ``pad_value``.
        reciprocals: the words for one over width and height of an average.
        nan_to_zero: whether NaN of the input counts as 0.
    """

    method: PoolMethod
    kernel: Pair
    stride: Pair = (1, 1)
    pad: Four = (0, 0, 0, 0)
    pad_value: int | None = None
    pad_values: Seven | None = None
    reciprocals: Pair | None = None
    nan_to_zero: bool = False


class LayerEntry(WrittenEntry, frozen=True, kw_only=True):
    """What layers of most engines have.

    Attributes:
        chain: whether the layer reads the result of the one before it, which decides shape and precision.
        shape: channels, height and width of its input.
        precision: precision of its input; int8 without the key.
        src_gaps: unused atoms after each line and each surface of the input.
        numbers: which numbers are drawn.
        carry: address bit whose border lies in each cube, after its first quarter.
        pool: the pooling that takes the result on the fly.
    """

    chain: bool = False
    shape: Triple | None = None
    precision: Precision | None = None
    src_gaps: Pair | None = None
    numbers: Numbers | None = None
    carry: int | None = None
    pool: PoolEntry | None = None


class ProcessedEntry(LayerEntry, frozen=True, kw_only=True):
    """What layers have that SDP ends.

    Attributes:
        x1: its first stage, off without the key.
        x2: its second stage.
        y: its element-wise stage.
        converter: offset, scale and shift of its output.
        output_precision: that of the input without the key.
        nan_to_zero: whether NaN counts as 0.
    """

    x1: StageEntry | None = None
    x2: StageEntry | None = None
    y: ElementWiseEntry | None = None
    converter: Triple = (0, 1, 0)
    output_precision: Precision | None = None
    nan_to_zero: bool = False


class SdpEntry(ProcessedEntry, tag_field="engine", tag="SDP", frozen=True, kw_only=True):
    """A layer of SDP alone."""


class ImageEntry(Entry, frozen=True, kw_only=True):
    """An image as the input of a convolution.

    Attributes:
        format: pixel format, such as ``T_R8G8B8A8`` or ``T_R8``.
        x_offset: pixels before the first one of a line, in its first atom.
        gaps: unused atoms after the lines of each plane.
        mean: subtracted from each channel.
        signed: whether pixels are signed.
        post_extension: lines that are multiplied at once: 1, 2 or 4.
    """

    format: str
    x_offset: int = 0
    gaps: tuple[int, ...] | None = None
    mean: tuple[int, ...] | None = None
    signed: bool = False
    post_extension: int = 1


class ConvEntry(ProcessedEntry, tag_field="engine", tag="CONV", frozen=True, kw_only=True):
    """A convolution.

    Attributes:
        kernels: how many.
        kernel: width and height; 3 and 3 for Winograd without the key.
        winograd: whether it is computed by Winograd's transformation.
        batch: cubes at a time.
        image: an image in place of a cube.
        input_converter: offset, scale and shift of the input.
        stride: columns and lines from one element of the result to the next.
        dilation: columns and lines from one element of a kernel to the next.
        pad: columns and lines of padding: left, right, top, bottom.
        pad_value: the number in them.
        truncate: bits by which sums are shifted to the right.
        pre_truncate: the same of Winograd's transformed input.
        flush_nan: whether NaN of the input counts as 0.
        weights: smallest and largest weight; any without the key.
        weight_numbers: which weights of FP16.
        sparse_weights: whether half of the vectors that a MAC cell takes at a time are 0.
        weights_skip: atoms between the alignment of weights and the first of them.
        zero_percent: weights that are 0 in compressed ones; without the key they are not compressed.
        tight_weights: whether their size in registers ends with the last entry of the convolution buffer.
        spare_banks: banks of the convolution buffer that data and weights have besides those that they need.
        all_weights: whether all weights fit into the buffer.
        banks: banks of data and of weights.
        release_slices: lines that are released at the end; all without the key.
        fetch_slices: lines that CDMA fetches at a time.
        keep: what stays in the buffer for the next convolution.
        reuse: what is taken from the one before.
        lines: of data that are reused, those that are convolved.
    """

    kernels: int
    kernel: Pair | None = None
    winograd: bool = False
    batch: int = 1
    image: ImageEntry | None = None
    input_converter: Triple | None = None
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    pad: Four = (0, 0, 0, 0)
    pad_value: int = 0
    truncate: int = 0
    pre_truncate: int = 0
    flush_nan: bool = False
    weights: Pair | None = None
    weight_numbers: Floats = "middle"
    sparse_weights: bool = False
    weights_skip: int = 0
    zero_percent: int | None = None
    tight_weights: bool | None = None
    spare_banks: Pair = (0, 0)
    all_weights: bool = True
    banks: Pair | None = None
    release_slices: int | None = None
    fetch_slices: int = 1
    keep: tuple[Part, ...] = ()
    reuse: tuple[Part, ...] = ()
    lines: int | None = None


class PdpEntry(PoolEntry, tag_field="engine", tag="PDP", frozen=True, kw_only=True):
    """A layer of PDP alone.

    Attributes:
        chain: as of other layers, as are the next six.
        split: parts of its width that are pooled one after the other.
        split_columns: columns of the result in the first and in the middle parts.
    """

    chain: bool = False
    shape: Triple | None = None
    precision: Precision | None = None
    src_gaps: Pair | None = None
    numbers: Numbers | None = None
    carry: int | None = None
    pool: PoolEntry | None = None
    split: int = 1
    split_columns: Pair | None = None


class CdpEntry(LayerEntry, tag_field="engine", tag="CDP", frozen=True, kw_only=True):
    """A layer of CDP.

    Attributes:
        local_size: channels of a sum of squares; without the key there are no sums.
        multiply: whether the input is multiplied by what the tables say.
        input_converter: offset, scale and shift of the input.
        output_converter: the same of the output.
        lut: its tables.
        same_lut: whether they stay those of the layer before.
        nan_to_zero: whether NaN counts as 0.
    """

    local_size: int | None = None
    multiply: bool = True
    input_converter: Triple = (0, 1, 0)
    output_converter: Triple = (0, 1, 0)
    lut: LutEntry | None = None
    same_lut: bool = False
    nan_to_zero: bool = False


class RubikEntry(LayerEntry, tag_field="engine", tag="RUBIK", frozen=True, kw_only=True):
    """A layer of RUBIK; planes lie without gaps.

    Attributes:
        mode: contract, split or merge.
        stride: columns and lines that a contraction spreads an element over.
    """

    mode: RubikMode
    stride: Pair = (1, 1)


class BdmaEntry(Entry, tag_field="engine", tag="BDMA", frozen=True, kw_only=True):
    """A copy by BDMA.

    Attributes:
        lines: surfaces, lines and units of 32 bytes of a line.
        src_gaps: unused units after each line and each surface of the source.
        dst_gaps: the same of the destination.
        carry: as of other layers.
    """

    lines: Triple
    src_gaps: Pair = (0, 0)
    dst_gaps: Pair = (0, 0)
    carry: int | None = None


AnyLayerEntry = SdpEntry | PdpEntry | CdpEntry | ConvEntry | RubikEntry | BdmaEntry
ReadingEntry = LayerEntry | PdpEntry
"""What reads a cube."""


def layer_entry(data: Mapping[str, Any], where: str) -> AnyLayerEntry:
    """Return what a table says of a layer; one that names no engine is of SDP.

    Raises:
        PlanError: for a key or a value that the engine does not have; ``where`` names the table.
    """
    kind: Any = AnyLayerEntry
    entry: AnyLayerEntry = converted({"engine": "SDP", **data}, kind, where, PlanError)
    return entry
