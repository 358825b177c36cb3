"""Pictures, arrays and dumps as inputs; results as dumps and classes."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nvdla_models.precision import Precision
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import (
    Preparation,
    differing,
    parse_mean,
    read_dimg,
    read_golden,
    read_input,
    top_classes,
    write_dimg,
)
from nvdla_networks.tensors import Tensor
from nvdla_tb.nvdla.memory import Ram

GREY = Tensor("data", Ram.MC, 0, Precision.INT8, 8, (1, 2, 3), 24, 48)
COLOUR = replace(GREY, shape=(3, 2, 3))
HALF = replace(GREY, precision=Precision.FP16, atom_bytes=32, line_stride_bytes=96, surface_stride_bytes=192)
PIXELS = np.array([[0, 1, 127], [128, 254, 255]], dtype=np.uint8)


@pytest.mark.parametrize("suffix", ["pgm", "png"])
def test_a_grey_picture_becomes_int8_rounded_half_up(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"grey.{suffix}"
    Image.fromarray(PIXELS).save(path)
    got = read_input(path, GREY, Preparation())
    assert got.tolist() == [[[0, 0, 63], [64, 127, 127]]]
    assert got.dtype == np.int8


def test_fp16_takes_pixels_less_mean_and_divided(tmp_path: Path) -> None:
    path = tmp_path / "grey.png"
    Image.fromarray(PIXELS).save(path)
    got = read_input(path, HALF, Preparation(mean=(127.0,), normalize=2.0, invert=True))
    expected = ((255 - PIXELS.astype(np.float32)) - 127) / 2
    np.testing.assert_array_equal(got, expected[np.newaxis].astype(np.float16), strict=True)


def test_colours_begin_with_blue_unless_red_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "colour.png"
    picture = np.zeros((2, 3, 3), dtype=np.uint8)
    picture[..., 0] = 255
    Image.fromarray(picture).save(path)
    assert read_input(path, COLOUR, Preparation())[:, 0, 0].tolist() == [0, 0, 127]
    assert read_input(path, COLOUR, Preparation(rgb=True))[:, 0, 0].tolist() == [127, 0, 0]
    means = Preparation(mean=(0.0, 0.0, 255.0))
    assert read_input(path, COLOUR, means)[:, 0, 0].tolist() == [0, 0, 0]


def test_a_jpeg_is_read(tmp_path: Path) -> None:
    path = tmp_path / "flat.jpg"
    Image.fromarray(np.full((2, 3), 255, dtype=np.uint8)).save(path)
    assert read_input(path, GREY, Preparation()).tolist() == [[[127] * 3] * 2]


def test_arrays_are_taken_as_they_are(tmp_path: Path) -> None:
    values = np.arange(6, dtype=np.int8).reshape(1, 2, 3)
    np.save(tmp_path / "a.npy", values)
    np.testing.assert_array_equal(read_input(tmp_path / "a.npy", GREY, Preparation()), values, strict=True)
    write_dimg(tmp_path / "a.dimg", GREY, values)
    np.testing.assert_array_equal(read_input(tmp_path / "a.dimg", GREY, Preparation()), values, strict=True)


def test_what_does_not_fit_the_input_is_refused_with_both_sizes(tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "a.png")
    np.save(tmp_path / "a.npy", np.zeros((1, 2, 3)))
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "b.png").write_bytes(b"nothing")
    (tmp_path / "b.npy").write_bytes(b"nothing")
    (tmp_path / "c.pgm").write_bytes(b"P5 3 2 25xyz5\n123456")
    (tmp_path / "d.npy").write_bytes(np.lib.format.magic(1, 0) + b"\x03\0{[]")
    (tmp_path / "c.npy").write_bytes(b"PK\3\4 and no archive")
    wide = replace(GREY, shape=(1, 2, 4))
    for name, tensor, message in (
        ("a.png", wide, "a.png must have 4 x 2 pixels, not 3 x 2"),
        ("a.png", replace(GREY, shape=(4, 2, 3)), "a.png: a picture has 1 or 3 channels, not the 4 of the input"),
        ("a.npy", GREY, "a.npy must hold int8 (1, 2, 3), not float64 (1, 2, 3)"),
        ("a.txt", GREY, "a.txt must end in .pgm, .png, .jpg, .jpeg, .npy, .dimg, not .txt"),
        ("none.png", GREY, "none.png: cannot be read: No such file or directory"),
        ("b.png", GREY, "b.png must be a picture: "),
        ("c.pgm", GREY, "c.pgm must be a picture: "),
        ("d.npy", GREY, "d.npy: cannot be read as .npy: "),
        ("c.npy", GREY, "c.npy: cannot be read as .npy: "),
        ("b.npy", GREY, "b.npy: "),
    ):
        with pytest.raises(NetworkError) as refused:
            read_input(tmp_path / name, tensor, Preparation())
        assert message in str(refused.value)
    with pytest.raises(NetworkError, match=r"^input must be a \.npy or \.dimg: how a picture becomes INT16 is not"):
        read_input(tmp_path / "a.png", replace(GREY, precision=Precision.INT16), Preparation())


def test_means_are_numbers_for_all_channels_or_each(tmp_path: Path) -> None:
    assert parse_mean("1,2.5,-3") == (1.0, 2.5, -3.0)
    for text in ("", "1,,2", "x"):
        with pytest.raises(NetworkError, match=rf"^mean must be numbers separated by commas, not {text}$"):
            parse_mean(text)
    with pytest.raises(NetworkError, match=r"^mean must be finite numbers, not nan$"):
        parse_mean("nan")
    with pytest.raises(NetworkError, match=r"^normalize must be a finite number other than 0, not 0$"):
        Preparation(normalize=0)
    Image.fromarray(PIXELS).save(tmp_path / "a.png")
    with pytest.raises(NetworkError, match=r"^mean must be 1 number or 1, one for each channel, not 2$"):
        read_input(tmp_path / "a.png", GREY, Preparation(mean=(1.0, 2.0)))


def test_a_dump_has_the_header_of_the_runtime(tmp_path: Path) -> None:
    path = tmp_path / "a.dimg"
    write_dimg(path, GREY, np.arange(6, dtype=np.int8).reshape(1, 2, 3))
    assert path.read_bytes() == b"DIMG" + struct.pack("<8I", 0, 41, 3, 2, 1, 24, 48, 48) + bytes(range(6))
    values = np.array([-0.0, np.nan, 1, 2, 3, 4], dtype=np.float16).reshape(1, 2, 3)
    values.view(np.uint16)[0, 0, 1] |= 0x8001
    write_dimg(path, HALF, values)
    assert struct.unpack_from("<I", path.read_bytes(), 8) == (42,)
    assert read_golden(path).view(np.uint16).ravel().tolist()[:3] == [0, 0x7E00, 0x3C00]


def test_a_dump_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.dimg"
    good = b"DIMG" + struct.pack("<8I", 0, 40, 3, 2, 1, 32, 64, 64) + bytes(6)
    path.write_bytes(good)
    for data, message in (
        (b"DIMG", "must begin with a header of 36 bytes and DIMG"),
        (b"JPEG" + good[4:], "must begin with a header of 36 bytes and DIMG"),
        (good[:4] + b"\1" + good[5:], "version must be 0, not 1"),
        (good[:-1], "format 40 of 1 x 2 x 3 elements must fit its 5 bytes"),
        (good[:8] + b"\x63" + good[9:], "format 99 of 1 x 2 x 3 elements must fit its 6 bytes"),
    ):
        path.write_bytes(data)
        with pytest.raises(NetworkError) as refused:
            read_dimg(path)
        assert str(refused.value).endswith(message)


def test_the_first_of_equal_classes_is_named_first() -> None:
    values = np.array([1, 9, np.nan, 9, -3], dtype=np.float16).reshape(5, 1, 1)
    assert top_classes(values, 3) == [(1, 9.0), (3, 9.0), (0, 1.0)]


def test_results_differ_in_bits_not_in_values() -> None:
    first = np.array([0.0, 1.0], dtype=np.float16).reshape(2, 1, 1)
    assert differing(first, first) == 0
    assert differing(first, np.array([-0.0, 1.0], dtype=np.float16).reshape(2, 1, 1)) == 1
