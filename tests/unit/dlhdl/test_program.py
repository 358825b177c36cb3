from __future__ import annotations

import numpy as np
import pytest

from dlhdl_models.window import Window
from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.network import INPUT, Kind, Layer, Network
from dlhdl_tb.program import ACTIVATION_BASE, compiled
from nvdla_models.errors import InputError
from nvdla_tb.nvdla.memory import GUARD_BYTES, MemoryImage

CORE = DlhdlConfig.load("dlhdl_int8_9")
"""C = 3, N = 4."""


def conv(features: int, channels: int, **more: object) -> Layer:
    weights = np.arange(features * channels, dtype=np.int8).reshape(features, channels, 1, 1)
    bias = np.arange(1, features + 1, dtype=np.int32)
    window = Window(1, 1)
    return Layer(Kind.CONVOLUTION, window=window, weights=weights, bias=bias, **more)  # type: ignore[arg-type]


def two_layers() -> Network:
    pool = Layer(Kind.MAXIMUM_POOLING, 0, window=Window(2, 1, 2, 1, 0, 0, 1, 0), relu=True, exponent=-3)
    return Network(CORE, (5, 2, 3), 1, (conv(2, 5, exponent=-3, weight_exponent=-7), pool))


def test_relu_comes_after_rounding() -> None:
    network = Network(CORE, (1, 1, 2), 0, (Layer(Kind.ADDITION, second=INPUT, relu=True, exponent=2),))
    (got,) = network.results(np.array([-5, 5], dtype=np.int8).reshape(1, 1, 2))
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, np.array([0, 3], dtype=np.int8).reshape(1, 1, 2), strict=True)


def words(data: np.ndarray) -> list[int]:
    return data.view("<u4").tolist()


def test_the_list_has_the_words_of_the_document() -> None:
    program = compiled(two_layers(), 2, 1)
    header, first, second = np.split(program.instructions.view("<u4"), 3)
    buffer = program.results[0]
    assert buffer is not None
    size_in, size_out = 2 * 3 * 2 * 4, 2 * 2 * 1 * 4
    outputs = program.outputs.region.offset
    assert header.tolist() == [0x54534C44, 2, 0, size_in, 2, outputs, size_out, 1, buffer.offset, *[0] * 7]
    sizes = [3 | 2 << 16, 5 | 2 << 16, 0x01010101, 0, 3 | 2 << 16]
    assert first.tolist() == [1, 0, 0, 0, 0, 2 * 8 + 0, *sizes, 0xFDF90001, 0, 0, 0, 0]
    flags = 2 | 1 << 8 | 1 << 9 | 1 << 11
    sizes = [3 | 2 << 16, 2 | 2 << 16, 0x01020102, 1 << 16, 2 | 2 << 16]
    assert second.tolist() == [flags, 0, 0, 0, 0, 0, *sizes, 0xFD0000FD, 0, 0, 0, 0]


def test_kernels_lie_one_after_the_other_in_convolution_format_and_biases_are_words() -> None:
    program = compiled(two_layers(), 1, 1)
    kernels = [0, 1, 2, 0, 3, 4, 0, 0, 5, 6, 7, 0, 8, 9, 0, 0]
    assert program.conv_weights.tolist() == [*kernels, 1, 0, 0, 0, 2, 0, 0, 0]
    assert program.fc_weights.tolist() == []


def test_a_row_of_a_fully_connected_layer_has_a_weight_for_each_lane_of_its_source() -> None:
    weights = np.arange(8, dtype=np.int8).reshape(1, 4, 1, 2)
    layer = Layer(Kind.FULLY_CONNECTED, weights=weights, bias=np.array([-1], dtype=np.int32))
    program = compiled(Network(CORE, (4, 1, 2), 0, (layer,)), 1, 1)
    row = [0, 2, 4, 0, 1, 3, 5, 0, 6, 0, 0, 0, 7, 0, 0, 0]
    assert program.fc_weights.tolist() == [*row, 255, 255, 255, 255]


def test_a_source_of_the_fully_connected_module_is_marked() -> None:
    layers = tuple(Layer(Kind.ADDITION, INPUT if n == 0 else 0, second=INPUT) for n in range(2))
    program = compiled(Network(CORE, (6,), 0, layers), 1, 1)
    second = program.instructions.view("<u4")[32:]
    assert second[0] == 5 | 1 << 9 | 1 << 11 | 1 << 12
    assert second[6:8].tolist() == [0x10001, 6 | 6 << 16]


def test_the_second_source_may_be_the_result_of_layer_0() -> None:
    layers = (Layer(Kind.ADDITION, INPUT, second=INPUT), Layer(Kind.ADDITION, INPUT, second=0))
    program = compiled(Network(CORE, (6,), 0, layers), 1, 1)
    assert program.instructions.view("<u4")[32] == 5 | 1 << 10 | 1 << 11 | 1 << 12


def test_regions_are_claimed_with_guards_and_only_list_and_weights_are_written() -> None:
    program = compiled(two_layers(), 2, 1)
    image = MemoryImage(limit=1 << 32)
    program.reserve(image)
    names = [allocation.name for allocation in image.allocations]
    assert names == ["InputData", "OutputResult", "SystemBuffer of layer 0", "InstructionData", "ConvWeightData"]
    for first, second in zip(image.allocations[:-1], image.allocations[1:], strict=True):
        assert second.address - first.end >= GUARD_BYTES
    assert sum(len(data) for _, data in image.runs()) == len(program.instructions) + len(program.conv_weights)
    assert not image.written(0x8000_0000, 48).any()


def test_frames_take_turns_in_their_slots() -> None:
    program = compiled(two_layers(), 2, 3)
    assert [program.inputs.offset(frame) for frame in range(3)] == [0, 48, 0]
    start = program.outputs.region.offset
    assert [program.address(1, frame) - ACTIVATION_BASE - start for frame in range(4)] == [0, 16, 32, 0]
    assert program.address(0, 0) == program.address(0, 1)


def test_own_places_are_not_those_of_the_list() -> None:
    program = compiled(two_layers(), 1, 1, custom=True)
    assert program.custom
    assert program.listed[0].region.offset == 0
    assert program.inputs.region.offset > 0
    assert program.instructions.view("<u4")[2] == 0
    assert not compiled(two_layers(), 1, 1).custom


def test_a_skew_moves_all_regions_off_the_border() -> None:
    program = compiled(two_layers(), 1, 1, skew_bytes=0xFF0)
    offsets = [program.inputs.region.offset, program.outputs.region.offset, program.places[0].offset]
    assert [offset % 4096 for offset in offsets] == [0xFF0] * 3


def test_an_offset_that_is_not_aligned_is_refused() -> None:
    with pytest.raises(InputError, match=r"^skew_bytes must be a multiple of 16 below 4096, not 8$"):
        compiled(two_layers(), 1, 1, skew_bytes=8)


def test_a_network_computes_layer_by_layer() -> None:
    frame = np.arange(30, dtype=np.int8).reshape(5, 2, 3)
    first, second = two_layers().results(frame)
    sums = np.einsum("kz,zyx->kyx", np.arange(10).reshape(2, 5), frame.astype(int)) + np.array([[[1]], [[2]]])
    # From 1 - 7 to -3: three bits less.
    expected = np.clip((sums + 4) >> 3, -128, 127)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(second[:, :, 1], expected[:, :, 2])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Network(CORE, (1,), 0, ()), "layers must be at least one"),
        (
            lambda: Network(CORE, (1,), 0, (Layer(Kind.ADDITION, 0, second=INPUT),)),
            "source of layer 0 must be -1 to -1, not 0",
        ),
        (
            lambda: Network(CORE, (1,), 0, (Layer(Kind.MAXIMUM_POOLING, window=Window(1, 1)),)),
            "source of layer 0 must be an image, not values of the fully connected module",
        ),
        (lambda: Layer(Kind.ADDITION), "second of a layer ADDITION must be given"),
        (lambda: Layer(Kind.ADDITION, second=0, window=Window(1, 1)), "window of a layer ADDITION must be None"),
    ],
)
def test_a_network_that_cannot_be_is_refused(make, message: str) -> None:
    with pytest.raises(InputError, match=rf"^{message}$"):
        make()
