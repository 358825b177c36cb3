"""Layers from descriptions: shapes and modes as the plan says, data and free parameters from the seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.cdp import CdpParams
from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from models.layout import FeatureLayout, OperandLayout
from models.lut import LE_ENTRIES, LO_ENTRIES, HybridLut, LutChoice, LutTable, LutUnit, Slope
from models.pdp import PdpParams, PoolMethod
from models.precision import Precision
from models.programming_lut import exponent_end, linear_end
from models.sdp import AluOp, OutputConverter, SdpParams, SdpStage
from tb.generate.describe import PlanError, Table
from tb.layers import CdpLayer, Layer, OperandSurface, PdpLayer, SdpLayer, StageSource, Surface, WidthSplit
from tb.memory import MemoryImage

_SOURCES = ("register", "channel", "element")


@dataclass(frozen=True)
class Workshop:
    """What building layers needs: the configuration, the memory they live in, and the randomness."""

    config: HwConfig
    memory: MemoryImage
    rng: np.random.Generator

    def place(self, name: str, layout: FeatureLayout) -> Surface:
        """Put a cube of random data into memory, padding channels included."""
        limits = np.iinfo(layout.precision.dtype)
        shape = (layout.padded_channels, *layout.shape[1:])
        cube = self.rng.integers(limits.min, limits.max, shape, dtype=layout.precision.dtype, endpoint=True)
        whole = FeatureLayout(
            layout.config, layout.precision, shape, layout.line_stride_bytes, layout.surface_stride_bytes
        )
        surface = self.reserve(name, layout)
        data, inside = whole.pack(cube), whole.written_mask()
        edges = np.flatnonzero(np.diff(inside.astype(np.int8), prepend=0, append=0))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            self.memory.write(surface.address + int(start), data[start:stop])
        return surface

    def reserve(self, name: str, layout: FeatureLayout) -> Surface:
        """Allocate memory for a cube without writing it: stride gaps and results stay poisoned."""
        return Surface(layout, self.memory.allocate(layout.nbytes, name))

    def place_operands(self, name: str, layout: OperandLayout) -> OperandSurface:
        """Put random operands into memory; their padding channels are random too."""
        address = self.memory.allocate(layout.nbytes, name)
        self.memory.write(address, self.rng.integers(0, 256, layout.nbytes, dtype=np.uint8))
        return OperandSurface(layout, address)


def build_layer(shop: Workshop, name: str, table: Table, previous: Layer | None) -> Layer:
    """Return the layer that a description asks for, with its data in memory.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        table: The description; see the plan files.
        previous: The layer before, whose destination ``chain = true`` reads.

    Raises:
        PlanError: for a description that cannot be understood or that no hardware can run.
    """
    builders: dict[str, Callable[[Workshop, str, Table, Layer | None], Layer]]
    builders = {"SDP": _build_sdp, "PDP": _build_pdp, "CDP": _build_cdp}
    engine = table.one_of("engine", tuple(builders), "SDP")
    try:
        layer = builders[engine](shop, name, table, previous)
    except PlanError:
        raise
    except ValueError as error:
        raise PlanError(f"{table.where}: {error}") from error
    table.done()
    return layer


def _source(shop: Workshop, name: str, table: Table, previous: Layer | None) -> Surface:
    chained = table.take("chain", bool, False)
    if chained:
        if previous is None:
            raise PlanError(f"{table.where}.chain needs a layer before it")
        return previous.dst
    shape = table.integers("shape", 3)
    return shop.place(f"{name}_src", _layout(shop.config, Precision.INT8, shape, table.integers("src_gaps", 2, (0, 0))))


def _layout(
    config: HwConfig, precision: Precision, shape: tuple[int, ...], gaps_atoms: tuple[int, ...]
) -> FeatureLayout:
    """Return a layout whose lines and surfaces end with gaps of so many atoms."""
    channels, height, width = shape
    line = (width + gaps_atoms[0]) * config.memory_atomic_bytes
    surface = height * line + gaps_atoms[1] * config.memory_atomic_bytes
    return FeatureLayout(config, precision, (channels, height, width), line, surface)


def _build_sdp(shop: Workshop, name: str, table: Table, previous: Layer | None) -> SdpLayer:
    src = _source(shop, name, table, previous)
    gaps = table.integers("dst_gaps", 2, (0, 0))
    dst = shop.reserve(f"{name}_dst", _layout(shop.config, Precision.INT8, src.layout.shape, gaps))
    x1, x1_source = _stage(shop, f"{name}_x1", table.table("x1"), src)
    x2, x2_source = _stage(shop, f"{name}_x2", table.table("x2"), src)
    offset, scale, shift = table.integers("converter", 3, (0, 1, 0))
    params = SdpParams(x1, x2, OutputConverter(offset, scale, shift), Precision.INT8, Precision.INT8)
    return SdpLayer(src, dst, params, x1_source, x2_source)


def _stage(shop: Workshop, name: str, table: Table | None, src: Surface) -> tuple[SdpStage | None, StageSource | None]:
    if table is None:
        return None, None
    alu = table.choice("alu", AluOp)
    mul = table.take("mul", bool, False)
    sources = {
        "alu": table.one_of("alu_operand", _SOURCES, "register") if alu else None,
        "mul": table.one_of("mul_operand", _SOURCES, "register") if mul else None,
    }
    nbytes = table.take("operand_bytes", int, 1)
    stage = SdpStage(
        alu=alu,
        alu_shift=table.take("alu_shift", int, 0),
        mul=mul,
        mul_prelu=table.take("prelu", bool, False),
        mul_shift=table.take("mul_shift", int, 0),
        relu=table.take("relu", bool, False),
    )
    table.done()
    fetched = tuple(component for component, source in sources.items() if source in ("channel", "element"))
    if len({sources[component] for component in fetched}) > 1:
        raise PlanError(f"{table.where}: both operands from memory must be per channel or both per element")
    registers = {
        component: int(shop.rng.integers(-(1 << 15), 1 << 15)) if source == "register" else None
        for component, source in sources.items()
    }
    memory = None
    if fetched:
        shape = src.layout.shape if sources[fetched[0]] == "element" else (src.layout.shape[0], 1, 1)
        layout = OperandLayout.packed(shop.config, Precision.INT8, shape, fetched, nbytes)
        memory = shop.place_operands(f"{name}_operands", layout)
    source = StageSource(registers["alu"], registers["mul"], memory)
    return stage, None if source == StageSource() else source


def _build_pdp(shop: Workshop, name: str, table: Table, previous: Layer | None) -> PdpLayer:
    src = _source(shop, name, table, previous)
    gaps = table.integers("dst_gaps", 2, (0, 0))
    kernel_width, kernel_height = table.integers("kernel", 2)
    stride_x, stride_y = table.integers("stride", 2, (1, 1))
    left, right, top, bottom = table.integers("pad", 4, (0, 0, 0, 0))
    value = table.take("pad_value", int, 0)
    method = table.choice("method", PoolMethod, required=True)
    assert method is not None
    average = method is PoolMethod.AVERAGE
    params = PdpParams(
        method=method,
        kernel_width=kernel_width,
        kernel_height=kernel_height,
        stride_x=stride_x,
        stride_y=stride_y,
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_values=tuple(value * n if average else 0 for n in range(1, 8)),
        recip_width=round((1 << 16) / kernel_width) if average else 0,
        recip_height=round((1 << 16) / kernel_height) if average else 0,
        precision=Precision.INT8,
    )
    channels, height, width = src.layout.shape
    shape = (channels, params.output_height(height), params.output_width(width))
    dst = shop.reserve(f"{name}_dst", _layout(shop.config, Precision.INT8, shape, gaps))
    return PdpLayer(src, dst, params, split_width(params, width, table.take("split", int, 1)))


def _build_cdp(shop: Workshop, name: str, table: Table, previous: Layer | None) -> CdpLayer:
    src = _source(shop, name, table, previous)
    gaps = table.integers("dst_gaps", 2, (0, 0))
    lut = table.table("lut")
    if lut is None:
        raise PlanError(f"{table.where} lacks the key lut")
    params = CdpParams(
        local_size=table.take("local_size", int),
        multiply=table.take("multiply", bool, True),
        input_converter=_converter(table, "input_converter", ConverterEncoding.CDP_INPUT),
        output_converter=_converter(table, "output_converter", ConverterEncoding.CDP_OUTPUT),
        lut=_lut(shop, lut, LutUnit.CDP),
        precision=Precision.INT8,
    )
    dst = shop.reserve(f"{name}_dst", _layout(shop.config, Precision.INT8, src.layout.shape, gaps))
    return CdpLayer(src, dst, params)


def _converter(table: Table, key: str, encoding: ConverterEncoding) -> Converter:
    offset, scale, shift = table.integers(key, 3, (0, 1, 0))
    return Converter(offset, scale, shift, encoding)


def _lut(shop: Workshop, table: Table, unit: LutUnit) -> HybridLut:
    """Return both tables, with random entries of the range that the description gives."""
    low, high = table.integers("entries", 2, (-(1 << 15), (1 << 15) - 1))
    tables = []
    for name, count in (("le", LE_ENTRIES), ("lo", LO_ENTRIES)):
        part = table.table(name)
        if part is None:
            raise PlanError(f"{table.where} lacks the key {name}")
        entries = shop.rng.integers(low, high, count, dtype=np.int16, endpoint=True)
        tables.append(_lut_table(part, entries, unit))
    priorities = [
        table.choice(case, LutChoice, LutChoice.LE) or LutChoice.LE for case in ("underflow", "overflow", "hybrid")
    ]
    table.done()
    le, lo = tables
    return HybridLut(le, lo, *priorities)


def _lut_table(table: Table, entries: NDArray[np.int16], unit: LutUnit) -> LutTable:
    """Return one table that ends where the programming guide wants it, unless the description says where."""
    start = table.take("start", int, required=True)
    offset = table.take("exponent", int)
    select = table.take("select", int, 0)
    if offset is not None:
        natural = exponent_end(start, offset, unit, Precision.INT8)
    else:
        natural = linear_end(start, select, len(entries), unit, Precision.INT8)
    end = table.take("end", int, int(natural))
    slopes = [Slope(*table.integers(side, 2, (0, 0))) for side in ("underflow", "overflow")]
    table.done()
    return LutTable(entries, start, end, select, offset is not None, offset or 0, *slopes)


def split_width(params: PdpParams, width: int, parts: int) -> WidthSplit | None:
    """Return how to cut a cube into ``parts``, output columns as evenly as they go; None for one part.

    Each part reads up to the end of its last window; the columns that windows share with the part
    before are read again by the hardware.

    Args:
        params: The pooling.
        width: Input width in elements.
        parts: Number of parts.

    Raises:
        ValueError: when there are fewer output columns than parts, or a part would read nothing.
    """
    if parts == 1:
        return None
    out = params.output_width(width)
    if parts < 1 or out < parts:
        raise ValueError(f"split must be 1 to the output width {out}, not {parts}")
    middle = out // parts
    last = out - middle * (parts - 1)
    first_in = (middle - 1) * params.stride_x + params.kernel_width - params.pad_left
    middle_in = middle * params.stride_x
    last_in = width - first_in - (parts - 2) * middle_in
    if min(first_in, last_in) < 1:
        raise ValueError(f"split must leave every part at least one input column, not {parts} parts")
    return WidthSplit(
        parts,
        first_in=first_in,
        middle_in=middle_in if parts > 2 else 0,
        last_in=last_in,
        first_out=middle,
        middle_out=middle if parts > 2 else 0,
        last_out=last,
    )
