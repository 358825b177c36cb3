"""What passes the hand-overs inside SDP, PDP and CDP is that of literal loops, in the order of the hardware."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.handed import handed
from nvdla_tb.explain.handed_beats import NotComparable
from nvdla_tb.explain.handovers import Stage
from nvdla_tb.explain.loads import with_loads
from nvdla_tb.explain.seen import Seen
from nvdla_tb.nvdla.layers import CdpLayer, Layer, PdpLayer, SdpLayer
from nvdla_tb.nvdla.layers.pdp import split_width
from tests.unit.explain import cases
from tests.unit.explain.test_runs import LOAD, MEMORY, played


def evidence_of(layer: Layer) -> Evidence:
    """Return the evidence of a run whose only layer was this."""
    seen, initial = with_loads(Seen.of(played(layer)), (LOAD,))
    (evidence,) = seen.every(initial)
    return evidence


def values_of(value: str, layer: Layer) -> list[int]:
    """Return the elements that the model hands on, in their order."""
    stage = Stage(name="s", unit=("U",), engines=("SDP",), value=value, valid="v", data=("d",), element_bits=32)
    found = handed(stage, evidence_of(layer), 1)
    assert found.sides["layer-end"].tolist() == [0] * (len(found.values) - 1) + [1] * bool(len(found.values))
    return found.values[:, 0].tolist()


def cube_of(layer: SdpLayer | PdpLayer | CdpLayer) -> list[list[list[int]]]:
    """Return the input of a layer with its padding channels."""
    layout = layer.src.layout
    raw = MEMORY.read(layer.src.address, layout.nbytes).data
    return layout.unpack_padded(raw).tolist()


def atoms(shape: tuple[int, ...], columns: range | None = None) -> list[tuple[int, int, int]]:
    """Return channel, line and column of elements, surface by surface, line by line, column by column."""
    channels, height, width = shape
    order = product(range(0, channels, 8), range(height), columns or range(width), range(8))
    return [(surface + lane, h, w) for surface, h, w, lane in order]


def saturated(value: int, bits: int = 32) -> int:
    return max(-(1 << bits - 1), min((1 << bits - 1) - 1, value))


def rounded(value: int, shift: int) -> int:
    """Divide by a power of two, half away from zero."""
    half = 1 << shift >> 1
    return (abs(value) + half >> shift) * (1 if value >= 0 else -1)


def test_elements_of_sdp_pass_its_stages_one_by_one() -> None:
    layer = cases.sdp_layer()
    assert layer.params.x1 is not None
    assert layer.params.x2 is not None
    assert layer.x1 is not None
    assert layer.x2 is not None
    cube, order = cube_of(layer), atoms((24, 5, 6))
    entered = [cube[c][h][w] for c, h, w in order]
    assert values_of("entered", layer) == entered
    memory = layer.x1.memory
    assert memory is not None
    biases = memory.layout.unpack_padded(MEMORY.read(memory.address, memory.layout.nbytes).data)["alu"]
    biases = [int(biases[c][0][0]) for c, _, _ in order]
    assert values_of("x1-alu-operands", layer) == biases
    assert values_of("x1-mul-operands", layer) == []
    sums = [value + bias * 2 for value, bias in zip(entered, biases, strict=True)]
    assert values_of("x1-alu", layer) == sums
    assert values_of("x1-product", layer) == sums, "there is no multiplier"
    first = [max(saturated(value), 0) for value in sums]
    assert values_of("x1", layer) == first
    memory = layer.x2.memory
    assert memory is not None
    factors = memory.layout.unpack_padded(MEMORY.read(memory.address, memory.layout.nbytes).data)["mul"]
    factors = [int(factors[c][h][w]) for c, h, w in order]
    assert values_of("x2-mul-operands", layer) == factors
    assert values_of("x2-alu", layer) == first
    products = [value * factor for value, factor in zip(first, factors, strict=True)]
    assert values_of("x2-product", layer) == products
    second = [saturated(rounded(value, 5)) for value in products]
    assert values_of("x2", layer) == second
    result = [saturated(saturated(rounded((value + 37) * 11, 5), 17), 8) for value in second]
    assert values_of("sdp-result", layer) == result


def test_of_stages_that_a_layer_does_not_pass_nothing_is_handed_on() -> None:
    layer = cases.copy_layer()
    assert values_of("x1", layer) == values_of("x2-mul-operands", layer) == []
    with pytest.raises(NotComparable):
        values_of("cdp-sums", layer)


def test_rows_of_pdp_come_line_by_line_and_by_the_parts_of_a_split() -> None:
    layer = cases.pdp_layer()
    params, cube = layer.params, cube_of(layer)
    channels, height, width = len(cube), len(cube[0]), len(cube[0][0])
    out = layer.dst.layout.shape[2]

    def row(c: int, h: int, w: int) -> int:
        start = w * params.stride_x - params.pad_left
        inside = [x for x in range(start, start + params.kernel_width) if 0 <= x < width]
        missing = params.kernel_width - len(inside)
        return sum(cube[c][h][x] for x in inside) + (params.pad_values[missing - 1] if missing else 0)

    shape = (channels, height, out)
    assert values_of("pdp-input", layer) == [cube[c][h][w] for c, h, w in atoms((channels, height, width))]
    assert values_of("pdp-rows", layer) == [row(*place) for place in atoms(shape)]
    result = layer.dst.layout.unpack_padded(cases.result(cases.predicted(layer, MEMORY)).data)
    assert values_of("pdp-result", layer) == [int(result[c][h][w]) for c, h, w in atoms(result.shape)]
    split = split_width(params, width, 2, 2, 1)
    assert split is not None
    cut = replace(layer, split=split)
    parts = [range(2), range(2, out)]
    assert values_of("pdp-rows", cut) == [row(*place) for part in parts for place in atoms(shape, part)]
    again = 2 * params.stride_x - params.pad_left
    read = [range(split.first_in), range(min(again, split.first_in), width)]
    want = [cube[c][h][w] for part in read for c, h, w in atoms((channels, height, width), part)]
    assert values_of("pdp-input", cut) == want


def test_parts_of_a_split_leave_out_the_columns_between_windows() -> None:
    layer = cases.pdp_layer()
    params = replace(layer.params, kernel_width=2, stride_x=3)
    width = layer.src.layout.shape[2]
    out = params.output_width(width)
    split = split_width(params, width, 2, 1, 1)
    assert split is not None
    assert (split.first_in, params.pad_left) == (1, 1)
    shape = layer.dst.layout.shape
    dst = replace(layer.dst, layout=replace(layer.dst.layout, shape=(shape[0], shape[1], out)))
    cut, cube = replace(layer, params=params, dst=dst, split=split), cube_of(layer)
    want = [
        cube[c][h][w]
        for part in (range(1), range(2, width))
        for c, h, w in atoms((len(cube), len(cube[0]), width), part)
    ]
    assert values_of("pdp-input", cut) == want


def test_cdp_takes_eight_columns_at_a_time_and_all_channels_of_them() -> None:
    layer = cases.cdp_layer()
    cube, real = cube_of(layer), layer.src.layout.shape[0]
    channels, height, width = len(cube), len(cube[0]), len(cube[0][0])
    order = [
        (c, h, w)
        for h in range(height)
        for start in range(0, width, 8)
        for c in range(channels)
        for w in range(start, min(start + 8, width))
    ]
    assert values_of("cdp-read", layer) == [cube[c][h][w] for c, h, w in order]
    params = layer.params
    converter = params.input_converter

    def entered(c: int, h: int, w: int) -> int:
        if not 0 <= c < real:
            return 0
        return saturated(rounded((cube[c][h][w] - converter.offset) * converter.scale, converter.shift), 9)

    assert values_of("cdp-input", layer) == [entered(*place) for place in order]
    assert params.local_size is not None
    half = params.local_size // 2
    sums = [sum(entered(n, h, w) ** 2 for n in range(c - half, c + half + 1)) for c, h, w in order]
    assert values_of("cdp-sums", layer) == sums
    factors = values_of("cdp-factors", layer)
    products = [entered(*place) * factor for place, factor in zip(order, factors, strict=True)]
    assert values_of("cdp-products", layer) == (products if params.multiply else factors)
    assert np.unique(values_of("cdp-result", layer)).size > 1
