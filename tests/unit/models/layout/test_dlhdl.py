"""Deep Learning HDL processor: the document's examples, a literal oracle, property tests, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlhdl_models.layout import (
    ConvolutionDataLayout,
    DlhdlType,
    FullyConnectedDataLayout,
    parallel_transfer_number,
    thread_number,
)
from tests.unit.models.support import numbered, random_bits, refused

SINGLE, INT8 = DlhdlType.SINGLE, DlhdlType.INT8


@pytest.mark.parametrize(
    ("conv_threads", "threads", "parallel"), [(1, 1, 1), (4, 2, 2), (9, 3, 4), (16, 4, 4), (25, 5, 8), (64, 8, 8)]
)
def test_thread_and_parallel_transfer_numbers_follow_conv_thread_number(
    conv_threads: int, threads: int, parallel: int
) -> None:
    assert thread_number(conv_threads) == threads
    assert parallel_transfer_number(threads) == parallel


def test_a_3x3x4_matrix_becomes_a_1x36_vector() -> None:
    layout = ConvolutionDataLayout(SINGLE, (4, 3, 3), 4)
    image = np.arange(36, dtype=np.float32).reshape(4, 3, 3)
    vector = layout.pack(image).view("<f4")
    assert vector.size == layout.elements == 36
    assert vector[:12].tolist() == [0, 9, 18, 27, 1, 10, 19, 28, 2, 11, 20, 29]
    assert vector[12:16].tolist() == [3, 12, 21, 30]


def test_three_features_are_padded_to_four() -> None:
    layout = ConvolutionDataLayout(SINGLE, (3, 1, 2), 4)
    image = np.array([[[1, 2]], [[3, 4]], [[5, 6]]], dtype=np.float32)
    assert layout.pack(image).view("<f4").tolist() == [1, 3, 5, 0, 2, 4, 6, 0]


def test_a_3x3x5_matrix_of_thread_number_64_becomes_a_1x72_vector() -> None:
    layout = ConvolutionDataLayout(SINGLE, (5, 3, 3), thread_number(64))
    vector = layout.pack(np.arange(1, 46, dtype=np.float32).reshape(5, 3, 3)).view("<f4")
    assert vector.size == layout.elements == 72
    assert vector[:16].tolist() == [1, 10, 19, 28, 37, 0, 0, 0, 2, 11, 20, 29, 38, 0, 0, 0]
    assert vector[24] == 4


def test_three_threads_insert_a_zero_after_every_three_features() -> None:
    layout = ConvolutionDataLayout(SINGLE, (4, 1, 1), 3)
    image = np.array([1, 2, 3, 4], dtype=np.float32).reshape(4, 1, 1)
    assert layout.pack(image).view("<f4").tolist() == [1, 2, 3, 0, 4, 0, 0, 0]


def test_int8_of_five_features_and_three_threads_takes_one_byte_a_value() -> None:
    layout = ConvolutionDataLayout(INT8, (5, 1, 2), 3)
    image = np.array([[[1, -1]], [[2, -2]], [[3, -3]], [[4, -4]], [[5, -5]]], dtype=np.int8)
    assert layout.pack(image).tobytes() == bytes.fromhex("01020300 fffefd00 04050000 fcfb0000")


def test_values_are_little_endian() -> None:
    layout = ConvolutionDataLayout(SINGLE, (1, 1, 1), 1)
    assert layout.pack(np.full((1, 1, 1), 1.0, dtype=np.float32)).tobytes() == bytes.fromhex("0000803f")


@pytest.mark.parametrize(
    ("features", "threads", "elements"), [(4, 4, 36), (4, 3, 72), (5, 4, 72), (5, 8, 72), (3, 3, 36)]
)
def test_the_output_size_is_dimensions_times_blocks_times_n(features: int, threads: int, elements: int) -> None:
    assert ConvolutionDataLayout(INT8, (features, 3, 3), threads).elements == elements


def test_equal_c_and_n_need_padding_only_when_z_is_no_multiple() -> None:
    full = ConvolutionDataLayout(INT8, (8, 2, 2), 4)
    assert full.nbytes == 32
    assert all(full.element_at(at) is not None for at in range(32))


@settings(max_examples=80)
@given(
    st.sampled_from([SINGLE, INT8]),
    st.tuples(st.integers(1, 20), st.integers(1, 5), st.integers(1, 9)),
    st.integers(1, 9),
    st.integers(0, 2**31),
)
def test_every_value_lies_where_the_literal_loop_puts_it(
    data_type: DlhdlType, shape: tuple[int, int, int], threads: int, seed: int
) -> None:
    layout = ConvolutionDataLayout(data_type, shape, threads)
    image = random_bits(shape, data_type.dtype, seed)
    raw = layout.pack(image)
    expected = bytearray()
    for first in range(0, shape[0], threads):
        for y in range(shape[1]):
            for x in range(shape[2]):
                for lane in range(layout.parallel):
                    z = first + lane
                    real = lane < threads and z < shape[0]
                    assert layout.element_at(len(expected)) == ((z, y, x) if real else None)
                    if real:
                        assert layout.offset(z, y, x) == len(expected)
                    expected += image[z, y, x].tobytes() if real else bytes(data_type.dtype.itemsize)
    assert raw.tobytes() == bytes(expected)
    for data in (raw, raw.tobytes() + b"behind"):
        out = layout.unpack(data)
        assert out.dtype == image.dtype
        assert out.shape == image.shape
        assert out.tobytes() == image.tobytes()


@pytest.mark.parametrize("data_type", [SINGLE, INT8])
def test_six_fully_connected_features_are_padded_to_eight(data_type: DlhdlType) -> None:
    layout = FullyConnectedDataLayout(data_type, 6, 8)
    values = numbered((6,), data_type.dtype)
    raw = layout.pack(values)
    assert raw.view(data_type.dtype).tolist() == [0, 1, 2, 3, 4, 5, 0, 0]
    assert raw.size == layout.nbytes
    np.testing.assert_array_equal(layout.unpack(raw.tobytes() + b"behind"), values, strict=True)
    size = data_type.dtype.itemsize
    assert [layout.element_at(at * size) for at in range(8)] == [*((x, 0, 0) for x in range(6)), None, None]
    assert layout.offset(5) == 5 * size


def test_fully_connected_features_that_fill_n_are_not_padded() -> None:
    assert FullyConnectedDataLayout(INT8, 8, 8).nbytes == 8
    assert FullyConnectedDataLayout(INT8, 9, 5).nbytes == 16


def test_the_descriptions_name_every_fact() -> None:
    assert ConvolutionDataLayout(INT8, (5, 3, 3), 3).describe().splitlines() == [
        "deep learning processor, convolution module, int8: Z=5 Y=3 X=3",
        "threads C=3, parallel transfer N=4, blocks: 2",
        "values: 72, bytes: 72",
    ]
    assert FullyConnectedDataLayout(SINGLE, 6, 8).describe().splitlines() == [
        "deep learning processor, fully connected module, single: X=6",
        "threads C=8, parallel transfer N=8",
        "values: 8, bytes: 32",
    ]


def test_impossible_layouts_and_bytes_are_refused() -> None:
    with refused("ConvThreadNumber must be the square of a positive integer, not 8"):
        thread_number(8)
    with refused("ConvThreadNumber must be the square of a positive integer, not -4"):
        thread_number(-4)
    with refused("threads must be at least 1, not 0"):
        ConvolutionDataLayout(SINGLE, (1, 1, 1), 0)
    with refused("shape must be (Z, Y, X), not (1, 1)"):
        ConvolutionDataLayout(SINGLE, (1, 1), 1)  # type: ignore[arg-type]
    with refused("rows must be at least 1, not 0"):
        ConvolutionDataLayout(SINGLE, (1, 0, 1), 1)
    with refused("features must be at least 1, not 0"):
        FullyConnectedDataLayout(SINGLE, 0, 1)
    with refused("threads must be at least 1, not -1"):
        FullyConnectedDataLayout(SINGLE, 1, -1)
    layout = ConvolutionDataLayout(INT8, (3, 2, 2), 4)
    with refused("image must have shape (3, 2, 2), not (2, 2, 3)"):
        layout.pack(np.zeros((2, 2, 3), np.int8))
    with refused("image must have dtype int8, not float32"):
        layout.pack(np.zeros((3, 2, 2), np.float32))
    with refused("data must hold at least 16 bytes, not 15"):
        layout.unpack(bytes(15))
    with refused("z must be 0 to 2, not 3"):
        layout.offset(3, 0, 0)
    with refused("offset_bytes must be 0 to 15, not 16"):
        layout.element_at(16)
    connected = FullyConnectedDataLayout(INT8, 6, 8)
    with refused("values must have shape (6,), not (8,)"):
        connected.pack(np.zeros(8, np.int8))
    with refused("data must hold at least 8 bytes, not 7"):
        connected.unpack(bytes(7))
    with refused("x must be 0 to 5, not 6"):
        connected.offset(6)
    with refused("offset_bytes must be 0 to 7, not 8"):
        connected.element_at(8)
