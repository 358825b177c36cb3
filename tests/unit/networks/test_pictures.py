"""Inputs of loadables that are images, and files that are no loadables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from networks.random_networks import residual
from nvdla_models.layout.pixel_formats import PACKED_NAMES, SEMI_PLANAR_NAMES, pixel_format
from nvdla_networks.compiled import Compiled
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import Preparation, read_input
from nvdla_networks.loadable import parse_loadable, read_loadable
from nvdla_networks.tensors import ImageTensor
from nvdla_tb.cli.main import main
from tests.unit.networks.loadables import (
    FULL,
    SHAPE,
    SMALL,
    Design,
    Op,
    conv_op,
    convolving,
    copy_op,
    copying,
    cube,
    on_model,
    taking_op,
    tensor,
)

NAMES = PACKED_NAMES + SEMI_PLANAR_NAMES
A8B8G8R8 = NAMES.index("T_A8B8G8R8")
LINE = 16
WEIGHTS = np.arange(-16, 16, dtype=np.int8).reshape(8, 4)


def of_pixels(number: int = A8B8G8R8, channels: int = 4, **rest: Any) -> Design:
    """Return a design of one convolution of a picture with 2 lines of 3 pixels, with 8 kernels of 1 x 1."""
    design = convolving()
    conv = conv_op(5, 7, consumers=((EngineId.SDP, 1, Event.PROGRAMMED),))
    operation = conv.operation | {
        **{"data_format": number, "input_channel_csc": 4, "kernel_channel_csc": 4, "bytes_per_kernel": 4},
        **{"entry_per_slice": 2},
    }
    surface = conv.surface | {
        **{"src.channel": 4, "src.line_stride": LINE, "src.surf_stride": 0, "src.size": 2 * LINE, "weight.size": 32}
    }
    picture = tensor("data", 5, (channels, 2, 3), pixel_format=number, stride_1=LINE, stride_2=0, **rest)
    return replace(
        design,
        ops=[Op(EngineId.CONV, operation, surface, conv.consumers), taking_op(6, 0)],
        buffers=[*design.buffers[:2], (32, WEIGHTS.tobytes())],
        inputs=(picture,),
    )


def bound(design: Design, config: Any = SMALL) -> ImageTensor:
    (found,) = design.place(config).inputs
    assert isinstance(found, ImageTensor)
    return found


def test_a_convolution_takes_a_picture_pixel_by_pixel() -> None:
    values: NDArray[np.uint8] = np.random.default_rng(1).integers(0, 128, (4, 2, 3), dtype=np.uint8)
    _, ((got,),) = on_model([of_pixels().place()], [[values]])
    wanted = np.einsum("kc,chw->khw", WEIGHTS.astype(np.int64), values.astype(np.int64))
    np.testing.assert_array_equal(got, np.clip(wanted, -128, 127).astype(np.int8), strict=True)


def test_a_picture_of_three_channels_leaves_the_fourth_zero(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3) * 14
    Image.fromarray(pixels).save(path)
    values = read_input(path, bound(of_pixels(channels=3)), Preparation(rgb=True))
    data = np.full(2 * LINE, 0xEE, dtype=np.uint8)
    bound(of_pixels(channels=3)).place(data, values)
    wanted = np.floor(pixels.astype(float) * 127 / 255 + 0.5).astype(np.uint8)
    np.testing.assert_array_equal(data.reshape(2, 4, 4)[:, :3, :3], wanted, strict=True)
    assert not data.reshape(2, 4, 4)[:, :3, 3].any()


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_every_format_of_the_hardware_is_bound(number: int) -> None:
    known = pixel_format(NAMES[number])
    kind = {"INT8": 4, "INT16": 3, "FP16": 2}[known.precision.name]
    planes = len(known.planes)
    changes = {"data_type": kind, "stride_1": 32, "stride_2": 64 if planes > 1 else 0}
    picture = tensor("data", 5, (known.channels, 2, 3), pixel_format=number, **changes)
    ends = cube("src", 5, SHAPE, FULL) | cube("dst", 6, SHAPE, FULL)
    result = tensor("result", 6, SHAPE, pixel_format=36, stride_1=96, stride_2=192)
    op = replace(copy_op(5, 6), surface=ends)
    design = replace(copying(), ops=[op], inputs=(picture,), outputs=(result,), buffers=[(256, None)] * 2)
    placed = Compiled("test", parse_loadable(design.file()), FULL)
    found = placed.place().inputs[0]
    assert isinstance(found, ImageTensor)
    values = np.full(found.shape, 1, dtype=known.element_dtype)
    data = np.zeros(found.nbytes, dtype=np.uint8)
    found.place(data, values)
    assert data.any()
    assert found.planes == (0, 64)[:planes]


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (of_pixels(channels=5), "tensor 'data': c must be at most the 4 channels of T_A8B8G8R8, not 5"),
        (of_pixels(data_type=3), "tensor 'data': data type must be that of T_A8B8G8R8, INT8, not INT16"),
        (
            replace(copying(), inputs=(tensor("data", 5, (8, 2, 3), pixel_format=38),)),
            "tensor 'data': pixel format must be 0 to 35, an image, or 36 or 37, a cube, not 38",
        ),
    ],
)
def test_a_picture_that_cannot_be_is_refused(design: Design, message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        design.place()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "it is empty"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
            "it is a pointer of Git LFS; fetch the file itself with git lfs pull",
        ),
        (b"\n<!DOCTYPE html>\n<html><body>Not found</body></html>", "it is a page of the web"),
        (residual((4,), side=4).SerializeToString(), "it is an ONNX file; name it .onnx"),
    ],
)
def test_what_is_no_loadable_says_what_it_is(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "net.nvdla"
    path.write_bytes(data)
    with pytest.raises(NetworkError) as caught:
        read_loadable(path)
    assert str(caught.value) == f"{path} must be a loadable: {what}"


def test_a_loadable_of_another_configuration_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = of_pixels()
    (tmp_path / "net.nvdla").write_bytes(design.file())
    assert main(["network", str(tmp_path / "net.nvdla"), "--model-only", "--config", "nv_full"]) != 0
    said = capsys.readouterr()
    assert "the loadable is for nv_small, not nv_full: " in said.out + said.err
