"""PNG images of pixel formats: bit by bit in and out, and what PNG cannot hold."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nvdla_models.layout import PixelLayout
from tests.unit.cli.layouts import FULL, check_damage
from tests.unit.conftest import Ran, Run

HELD = {
    "T_R8": ("L", 1),
    "T_A8B8G8R8": ("RGBA", 4),
    "T_X8R8G8B8": ("RGBA", 4),
    "T_V8U8Y8A8": ("RGBA", 4),
    "T_Y8___U8V8_N444": ("RGB", 3),
    "T_R16": ("I;16", 1),
    "T_R12": ("I;16", 1),
}
IN_WORDS = {"L": "8-bit grey", "RGB": "8-bit RGB", "RGBA": "8-bit RGBA", "I;16": "16-bit grey"}
HELD_BY_PNG = ".png must hold 8-bit elements, or one channel of 16 unsigned bits"
RGBA = "--format pixel --pixel-format T_A8R8G8B8 --shape 4,2,3"
GREY = "--format pixel --pixel-format T_R8 --shape 1,2,3"


def picture(mode: str, channels: int) -> np.ndarray:
    """Return random pixels (H, W, C) that the mode holds."""
    rng = np.random.default_rng(21)
    if mode == "I;16":
        return rng.integers(0, 4096, (4, 5, channels), dtype=np.uint16)
    return rng.integers(0, 256, (4, 5, channels), dtype=np.uint8)


def write_png(name: str, depth: int, colour: int, line: bytes, lines: int, width: int) -> None:
    """Write a PNG file by hand, of kinds that Pillow does not write."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, lines, depth, colour, 0, 0, 0)
    pixels = zlib.compress((b"\0" + line) * lines)
    Path(name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


@pytest.mark.parametrize("name", HELD)
def test_an_image_becomes_the_bytes_of_its_layout_and_comes_back(tb: Run, name: str) -> None:
    mode, channels = HELD[name]
    pixels = picture(mode, channels)
    Image.fromarray(pixels[..., 0] if channels == 1 else pixels).save("in.png")
    words = f"--format pixel --config nv_full --pixel-format {name} --shape {channels},4,5"
    assert tb("pack in.png out.bin", words).code == 0
    layout = PixelLayout.packed(FULL, name, (channels, 4, 5))
    expected = layout.pack(pixels.transpose(2, 0, 1).astype(layout.format.element_dtype))
    assert Path("out.bin").read_bytes() == expected.tobytes()
    assert tb("unpack out.bin back.png", words).out == f"back.png: {IN_WORDS[mode]} 5x4\n"
    with Image.open("back.png") as back:
        assert back.mode == mode
        np.testing.assert_array_equal(np.asarray(back).reshape(pixels.shape), pixels, strict=True)


def test_red_is_the_third_byte_of_a8r8g8b8(tb: Run) -> None:
    Image.fromarray(np.array([[[1, 2, 3, 4]]], dtype=np.uint8)).save("in.png")
    tb("pack in.png out.bin --format pixel --pixel-format T_A8R8G8B8 --shape 4,1,1")
    assert Path("out.bin").read_bytes()[:4].hex() == "03020104"


def test_three_colours_get_the_alpha_that_is_said(tb: Run) -> None:
    pixels = picture("RGB", 3)[:2, :3]
    Image.fromarray(pixels).save("in.png")
    assert tb("pack in.png out.dat --alpha 200", RGBA).code == 0
    assert tb("unpack out.dat out.npy", RGBA).code == 0
    image = np.load("out.npy")
    np.testing.assert_array_equal(image[:3], pixels.transpose(2, 0, 1), strict=True)
    assert (image[3] == 200).all()


def in_little_memory(tb: Run, words: str) -> Ran:
    """Run a command that must take less than 16 MB."""
    tracemalloc.start()
    ran = tb(words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24
    return ran


@pytest.mark.parametrize(("lines", "padding", "most"), [(16187398, 0, None), (16187398, 100_000, 1 << 26)])
def test_a_small_file_of_a_large_image_is_refused_before_it_is_unpacked(
    tb: Run, lines: int, padding: int, most: int | None
) -> None:
    write_png("bomb.png", 8, 0, bytes(8), 1, 8)
    data = bytearray(Path("bomb.png").read_bytes())
    data[20:24] = struct.pack(">I", lines)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    Path("bomb.png").write_bytes(data + bytes(padding))
    ran = in_little_memory(tb, f"pack bomb.png out.bin {GREY}")
    most = len(data) * 8 * 1032 if most is None else most
    message = f"error: bomb.png: the image must have at most {most} pixels, not 8 x {lines}\n"
    assert (ran.code, ran.err) == (2, message)


@pytest.mark.parametrize("length", [0xFF00000C, 0x7FFFFFFF])
def test_a_chunk_that_claims_gigabytes_is_refused_without_them(tb: Run, length: int) -> None:
    write_png("in.png", 8, 0, bytes(8), 1, 8)
    data = bytearray(Path("in.png").read_bytes())
    data[33:37] = struct.pack(">I", length)
    Path("in.png").write_bytes(data)
    ran = in_little_memory(tb, "pack in.png out.bin --format pixel --pixel-format T_R8 --shape 1,1,8")
    assert (ran.code, ran.err.count("\n")) in ((0, 0), (2, 1))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"in.png out.bin {RGBA}", "in.png: the image must be 8-bit RGBA for T_A8R8G8B8, not 8-bit RGB"),
        (f"in.png out.bin {GREY}", "in.png: the image must be 8-bit grey for T_R8, not 8-bit RGB"),
        (f"in.png out.bin {RGBA} --alpha 256", "--alpha must be 0 to 255, not 256"),
        (f"in.png out.bin {RGBA} --alpha x", "--alpha must be a decimal or 0x number, not x"),
        (f"in.png out.bin {GREY} --alpha 1", "--alpha must only be given for formats of four channels, not for T_R8"),
        (f"rgba.png out.bin {RGBA} --alpha 1", "rgba.png: the image must be 8-bit RGB for T_A8R8G8B8, not 8-bit RGBA"),
        (f"in.npy out.bin {RGBA} --alpha 1", "--alpha must only be given for .png, not for in.npy"),
        (f"rgba.png out.bin {RGBA[:-1]}4", "image must have shape (4, 2, 4), not (4, 2, 3)"),
        (f"palette.png out.bin {GREY}", "palette.png: the image must be 8-bit grey for T_R8, not palette"),
        (f"deep.png out.bin {RGBA}", "deep.png: the image must be 8-bit RGBA for T_A8R8G8B8, not 16-bit colour"),
        (f"flat.png out.bin {GREY}", "flat.png: the image must be 8-bit grey for T_R8, not 4-bit colour"),
        (f"none.png out.bin {GREY}", "none.png: cannot be read: No such file or directory"),
        (f"text.png out.bin {GREY}", "text.png: cannot be read as .png: it must begin with the mark of PNG"),
        (
            "in.png out.bin --format pixel --config nv_full --pixel-format T_A16B16G16R16 --shape 4,2,3",
            f"{HELD_BY_PNG}; T_A16B16G16R16 has 4 of uint16: use .npy",
        ),
        (
            "in.png out.bin --format pixel --config nv_full --pixel-format T_R16_I --shape 1,2,3",
            f"{HELD_BY_PNG}; T_R16_I has 1 of int16: use .npy",
        ),
    ],
)
def test_an_image_that_is_not_of_the_format_is_refused(tb: Run, words: str, message: str) -> None:
    Image.fromarray(picture("RGB", 3)[:2, :3]).save("in.png")
    Image.fromarray(picture("RGBA", 4)[:2, :3]).save("rgba.png")
    Image.fromarray(picture("L", 1)[:2, :3, 0]).convert("P").save("palette.png", bits=8)
    Path("text.png").write_text("no image")
    write_png("deep.png", 16, 6, bytes(24), 2, 3)
    write_png("flat.png", 4, 0, bytes(2), 2, 3)
    np.save("in.npy", picture("RGBA", 4)[:2, :3])
    assert tb("pack", words) == (2, "", f"error: {message}\n")


def test_an_image_that_png_cannot_hold_is_refused_before_anything_is_read(tb: Run) -> None:
    words = "--format pixel --config nv_full --pixel-format T_A2B10G10R10 --shape 4,2,3"
    message = f"{HELD_BY_PNG}; T_A2B10G10R10 has 4 of uint16: use .npy"
    assert tb("unpack none.bin out.png", words).refusal == message


@pytest.mark.slow
def test_no_damage_to_a_png_file_is_more_than_one_line(tb: Run) -> None:
    Image.fromarray(picture("L", 1)[:2, :3, 0]).save("whole.png")
    whole = Path("whole.png").read_bytes()
    check_damage(tb, whole, f"in.png out.bin {GREY}", len(whole), 80)


def test_an_image_that_cannot_be_written_is_one_line(tb: Run) -> None:
    Path("in.bin").write_bytes(bytes(16))
    message = "none/out.png: cannot be written: No such file or directory"
    assert tb("unpack in.bin none/out.png", GREY).refusal == message
