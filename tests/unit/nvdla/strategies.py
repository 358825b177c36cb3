"""Random legal layers: what the hardware can be programmed to do, apart from what the models refuse.

Attributes that do nothing (a PReLU without a multiplier, padding values of a maximum) keep the value that
``decode`` gives them, because no register holds them.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.layout import FeatureLayout, OperandLayout
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import OperandSurface, PdpLayer, Surface, WidthSplit
from nvdla_tb.nvdla.memory import Ram

INTEGERS = (Precision.INT8, Precision.INT16)
OPERAND = st.integers(-(1 << 15), (1 << 15) - 1)
SIZE = st.integers(1, 40)
GAP_ATOMS = st.sampled_from((0, 0, 1, 5, 1000))


def shapes() -> st.SearchStrategy[tuple[int, int, int]]:
    """Draw (C, H, W) with at most one axis near the largest size, so that a cube fits 32-bit addresses."""
    large = st.sampled_from((8191, 8192))
    return st.one_of(
        st.tuples(SIZE, SIZE, SIZE),
        st.tuples(large, SIZE, SIZE),
        st.tuples(SIZE, large, SIZE),
        st.tuples(SIZE, SIZE, large),
        st.tuples(SIZE, st.just(1), st.just(1)),
    )


def configs() -> st.SearchStrategy[HwConfig]:
    """Draw a built-in configuration."""
    return st.sampled_from([HwConfig.load(name) for name in builtin_names()])


def places(config: HwConfig, nbytes: int) -> st.SearchStrategy[tuple[int, Ram]]:
    """Draw an aligned address with room for ``nbytes``, and a RAM that the configuration has."""
    last = ((1 << config.memif_address_width_bits) - nbytes) // config.memory_atomic_bytes
    rams = (Ram.MC, Ram.CVSRAM) if config.secondary_memif_enable else (Ram.MC,)
    atoms = st.one_of(st.integers(0, last), st.just(last))
    return st.tuples(atoms.map(lambda atom: atom * config.memory_atomic_bytes), st.sampled_from(rams))


def signed(bits: int) -> st.SearchStrategy[int]:
    """Draw a signed number."""
    return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


@st.composite
def surfaces(draw: st.DrawFn, config: HwConfig, precision: Precision, shape: tuple[int, int, int]) -> Surface:
    """Draw where a cube lies, with and without stride gaps; a 1 x 1 cube has none, as SDP needs it."""
    atom = config.memory_atomic_bytes
    layout = FeatureLayout.packed(config, precision, shape)
    if shape[1:] != (1, 1):
        line = (shape[2] + draw(GAP_ATOMS)) * atom
        surface = (shape[1] - 1) * line + (shape[2] + draw(GAP_ATOMS)) * atom
        layout = FeatureLayout(config, precision, shape, line, surface)
    return Surface(layout, *draw(places(config, layout.nbytes)))


@st.composite
def operand_surfaces(
    draw: st.DrawFn, config: HwConfig, precision: Precision, shape: tuple[int, int, int], components: tuple[str, ...]
) -> OperandSurface:
    """Draw operands in memory, per channel or per element."""
    component_bytes = draw(st.sampled_from((1, 2))) if precision is Precision.INT8 else 2
    if shape[1:] == (1, 1) or draw(st.booleans()):
        layout = OperandLayout.packed(config, precision, (shape[0], 1, 1), components, component_bytes)
    else:
        atom = config.atom_elements(precision) * component_bytes * len(components)
        line = (shape[2] + draw(GAP_ATOMS)) * atom
        surface = (shape[1] - 1) * line + (shape[2] + draw(GAP_ATOMS)) * atom
        layout = OperandLayout(config, precision, shape, components, component_bytes, line, surface)
    return OperandSurface(layout, *draw(places(config, layout.nbytes)))


@st.composite
def _axes(draw: st.DrawFn, most: int = 40) -> tuple[int, int, int, int, int, int]:
    """Draw one axis: input size, output size up to ``most``, kernel, stride, padding before and after."""
    kernel, stride = draw(st.integers(1, 8)), draw(st.integers(1, 16))
    before, after = draw(st.integers(0, kernel - 1)), draw(st.integers(0, kernel - 1))
    least = max(1, -(-(before + after + 1 - kernel) // stride) + 1)
    output = draw(st.integers(least, min(least + 30, most)))
    return (output - 1) * stride + kernel - before - after, output, kernel, stride, before, after


@st.composite
def _widths(draw: st.DrawFn, total: int, parts: int) -> tuple[int, int, int]:
    """Draw the widths of the first, each middle and the last of ``parts`` parts."""
    middle = 0 if parts == 2 else draw(st.integers(1, (total - 2) // (parts - 2)))
    rest = total - (parts - 2) * middle
    first = draw(st.integers(1, rest - 1))
    return first, middle, rest - first


@st.composite
def pooling(
    draw: st.DrawFn, precision: Precision, down: tuple[int, int, int, int], across: tuple[int, int, int, int]
) -> PdpParams:
    """Draw what PDP does, with (kernel, stride, padding before, padding after) of H and of W."""
    method = draw(st.sampled_from(PoolMethod))
    average = method is PoolMethod.AVERAGE
    pad_value = st.integers(0, (1 << 17) - 1) if precision is Precision.FP16 else signed(19)
    reciprocal = st.integers(0, (1 << 17) - 1)
    return PdpParams(
        method=method,
        kernel_width=across[0],
        kernel_height=down[0],
        stride_x=across[1],
        stride_y=down[1],
        pad_left=across[2],
        pad_right=across[3],
        pad_top=down[2],
        pad_bottom=down[3],
        pad_values=tuple(draw(pad_value) for _ in range(7)) if average else (0,) * 7,
        recip_width=draw(reciprocal) if average else 0,
        recip_height=draw(reciprocal) if average else 0,
        precision=precision,
    )


@st.composite
def pdp_layers(draw: st.DrawFn, config: HwConfig) -> PdpLayer:
    """Draw a PDP layer from memory to memory."""
    precision = draw(st.sampled_from(config.feature_data_types))
    is_float = precision is Precision.FP16
    height, out_height, kernel_height, stride_y, pad_top, pad_bottom = draw(_axes())
    line_buffer = 128 >> (-(-kernel_height // stride_y) - 1).bit_length()
    width, out_width, kernel_width, stride_x, pad_left, pad_right = draw(_axes(line_buffer))
    channels = draw(SIZE)
    down = (kernel_height, stride_y, pad_top, pad_bottom)
    params = draw(pooling(precision, down, (kernel_width, stride_x, pad_left, pad_right)))
    params = replace(params, nan_to_zero=is_float and draw(st.booleans()))
    split = None
    most = min(width, out_width)
    if most >= 2 and draw(st.booleans()):
        parts = draw(st.integers(2, most))
        ins, outs = draw(_widths(width, parts)), draw(_widths(out_width, parts))
        # A part that would begin in the left padding is refused.
        if outs[0] * stride_x >= pad_left:
            split = WidthSplit(parts, *ins, *outs)
    return PdpLayer(
        draw(surfaces(config, precision, (channels, height, width))),
        draw(surfaces(config, precision, (channels, out_height, out_width))),
        params,
        split,
    )
