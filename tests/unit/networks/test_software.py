"""What the runtime computes on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.precision import Precision
from nvdla_networks.errors import NetworkError
from nvdla_networks.network import Power, Softmax, SoftwareOperation, SoftwareTask
from nvdla_networks.software import run
from nvdla_networks.tensors import Tensor
from nvdla_tb.nvdla.memory import MemoryImage, Ram


def tensor(name: str, address: int, precision: Precision, shape: tuple[int, int, int]) -> Tensor:
    line = 32 * shape[2]
    return Tensor(name, Ram.MC, address, precision, 32, shape, line, line * shape[1])


def computed(kind: Power | Softmax, values: NDArray[Any], precision: Precision, *scales: float) -> NDArray[Any]:
    src, dst = (tensor(name, address, precision, values.shape) for name, address in (("src", 0), ("dst", 0x10000)))
    memories = {Ram.MC: MemoryImage()}
    data = np.zeros(src.nbytes, dtype=np.uint8)
    src.place(data, values.astype(precision.dtype))
    memories[Ram.MC].write(0, data)
    run(SoftwareTask((SoftwareOperation(kind, src, dst, *scales),)), memories)
    return dst.unpack(memories[Ram.MC].read_array(dst.address, dst.nbytes))


def column(*values: float) -> NDArray[np.float64]:
    return np.array(values).reshape(-1, 1, 1)


def test_a_power_is_computed_in_single_precision() -> None:
    got = computed(Power(2.0, 3.0, 1.0), column(0.5, -1.0, 300.0), Precision.FP16)
    np.testing.assert_array_equal(got.ravel(), np.array([6.25, 4.0, np.inf], dtype=np.float16), strict=True)


def test_a_power_of_int8_takes_both_scales_and_is_cut_off() -> None:
    got = computed(Power(1.0, 1.0, 0.0), column(3, -3, 127, -128), Precision.INT8, 0.5, 0.4)
    assert got.ravel().tolist() == [3, -3, 127, -128]


def test_softmax_of_fp16_adds_up_in_single_precision() -> None:
    got = computed(Softmax(), column(1.0, 2.0, 3.0), Precision.FP16)
    exact = np.exp([-2.0, -1.0, 0.0]) / np.exp([-2.0, -1.0, 0.0]).sum()
    np.testing.assert_array_equal(got.ravel(), exact.astype(np.float16), strict=True)


def test_softmax_of_int8_takes_more_than_fp16_holds_as_its_limit() -> None:
    got = computed(Softmax(), column(100, 50, -100), Precision.INT8, 1e6, 1 / 127)
    np.testing.assert_array_equal(got.ravel(), np.array([63, 63, 0], dtype=np.int8), strict=True)


def test_softmax_of_int8_gives_the_scale_to_the_largest_alone() -> None:
    got = computed(Softmax(), column(100, -100, -100), Precision.INT8, 1.0, 1 / 127)
    assert got.ravel().tolist() == [127, 0, 0]


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(NetworkError, match=r"^softmax must be over the channels of one pixel, not of \(1, 2, 1\)$"):
        computed(Softmax(), np.zeros((1, 2, 1)), Precision.FP16)
    with pytest.raises(NetworkError, match=r"^softmax must be of FP16 or INT8: "):
        computed(Softmax(), column(1, 2), Precision.INT16)
    with pytest.raises(NetworkError, match=r"^power must be of FP16 or INT8: "):
        computed(Power(1.0, 1.0, 0.0), column(1), Precision.INT16)


def test_elements_lie_in_atoms_of_any_size() -> None:
    cube = Tensor("cube", Ram.MC, 0, Precision.INT16, 8, (6, 2, 2), 24, 64)
    values = np.arange(24, dtype=np.int16).reshape(6, 2, 2)
    data = np.full(cube.nbytes, 0xEE, dtype=np.uint8)
    cube.place(data, values)
    assert cube.nbytes == 64 + 24 + 8 + 4
    assert data[64 + 24 + 8 :].view(np.int16).tolist() == [values[4, 1, 1], values[5, 1, 1]]
    assert (data[16:24] == 0xEE).all()
    np.testing.assert_array_equal(cube.unpack(data), values, strict=True)


def test_elements_that_overlap_can_be_read_and_not_written() -> None:
    cube = Tensor("cube", Ram.MC, 0, Precision.INT8, 32, (32, 2, 2), 16, 32)
    assert cube.nbytes == 16 + 32 + 32
    data = np.arange(cube.nbytes, dtype=np.uint8)
    assert cube.unpack(data)[1, 1, 1] == 49
    with pytest.raises(NetworkError, match=r"^tensor 'cube': line stride must be at least 33 bytes for values to be"):
        cube.place(data, np.zeros((32, 2, 2), dtype=np.int8))
    with pytest.raises(NetworkError, match=r"^tensor 'cube' must be int8 \(32, 2, 2\), not float64 \(1, 1, 1\)$"):
        Tensor("cube", Ram.MC, 0, Precision.INT8, 32, (32, 2, 2), 64, 128).place(data, np.zeros((1, 1, 1)))
