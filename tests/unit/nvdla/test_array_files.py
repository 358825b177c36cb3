"""Arrays from outside: plain ones of the size that the file has, and nothing else."""

from __future__ import annotations

import io
import re
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_tb.array_files import read_array, read_arrays, text_of

NO_MARK = "cannot be read as .npy: it must begin with the mark of version 1.0 or 2.0"


def npy(descr: str = "'|u1'", shape: str = "(4,)", data: bytes = b"\1\2\3\4", order: str = "False") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}".encode("latin-1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def saved(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return path


def refused(message: str) -> Any:
    return pytest.raises(InputError, match=f"^{re.escape(message)}$")


def test_arrays_are_read_as_numpy_writes_them(tmp_path: Path) -> None:
    arrays = {
        "a": np.arange(24, dtype=np.int16).reshape(2, 3, 4),
        "b": np.asfortranarray(np.arange(6, dtype="<f4").reshape(2, 3)),
        "c": np.zeros((0, 3), np.uint8),
        "text": np.array("ä\n"),
        "d": np.array(True),
    }
    np.savez_compressed(tmp_path / "x.npz", **arrays)
    found = read_arrays(tmp_path / "x.npz")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)
        np.save(tmp_path / "one.npy", array)
        np.testing.assert_array_equal(read_array(tmp_path / "one.npy"), array, strict=True)
    assert text_of(found["text"], "x") == "ä\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            npy(shape="(4, 8796093022208)"),
            "shape (4, 8796093022208) of uint8 must fit the 4 bytes that follow, not need 35184372088832",
        ),
        (npy(shape="(0, 99999999999)"), "shape (0, 99999999999) of uint8 must fit the 4 bytes that follow, not need 0"),
        (npy(shape="(5,)"), "shape (5,) of uint8 must fit the 4 bytes that follow, not need 5"),
        (
            npy(shape=f"(0x1{'0' * 5000},)"),
            "shape must be at most 8 natural numbers, not a number of thousands of digits",
        ),
        (npy(shape="(-1,)"), "shape must be at most 8 natural numbers, not (-1,)"),
        (npy(shape="(1,1,1,1,1,1,1,1,1)"), "shape must be at most 8 natural numbers, not (1, 1, 1, 1, 1, 1, 1, 1, 1)"),
        (npy(descr="'|O'"), "elements must be numbers or text, not object"),
        (npy(descr="'V0'"), "elements must be numbers or text, not |V0"),
        (npy(descr="'x9'"), "descr must be a plain type, not x9"),
        (
            npy(descr="[('a', '<u1')]"),
            "descr must be a plain type and fortran_order a truth value, not ([('a', '<u1')], False)",
        ),
        (npy(shape="(" * 3000), "cannot be read as .npy: the header must be a Python dictionary"),
        (npy(shape="()}, {"), "cannot be read as .npy: the header must hold descr, fortran_order and shape"),
        (b"", NO_MARK),
        (npy().replace(b"\x01\x00", b"\x09\x00", 1), NO_MARK),
        (npy()[:20], "cannot be read as .npy: the header must have at most 10000 bytes"),
    ],
)
def test_other_arrays_are_refused(raw: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(raw)
    tracemalloc.start()
    with refused(f"{path}: {message}"):
        read_array(path)
    with refused(f"{tmp_path / 'x.npz'}: a: {message}"):
        read_arrays(npz(tmp_path / "x.npz", a=raw))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24


def test_arrays_that_unpack_to_more_than_the_limit_are_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "x.npz", a=saved(np.zeros(1000, np.uint8)), b=saved(np.zeros(1000, np.uint8)))
    assert len(read_arrays(path, 2256)) == 2
    with refused(f"{path}: the arrays must have at most 2255 bytes together"):
        read_arrays(path, 2255)


def patched(raw: bytes, at: int, value: bytes) -> bytes:
    """Change a field of a zip file's local header and of its directory, where it lies two bytes later."""
    directory = raw.index(b"PK\x01\x02")
    changed = bytearray(raw)
    changed[at : at + len(value)] = value
    changed[directory + at + 2 : directory + at + 2 + len(value)] = value
    return bytes(changed)


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (4, b"\xff\x00", "zip file version 25.5"),
        (8, b"\x63\x00", "That compression method is not supported"),
        (6, b"\x01\x00", "File <ZipInfo filename='a.npy'"),
        (14, b"\0\0\0\0", "Bad CRC-32 for file 'a.npy'"),
    ],
)
def test_other_zip_files_are_refused(at: int, value: bytes, message: str, tmp_path: Path) -> None:
    path = npz(tmp_path / "x.npz", a=npy())
    path.write_bytes(patched(path.read_bytes(), at, value))
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}: cannot be read as .npz: {re.escape(message)}"):
        read_arrays(path)


def test_broken_compression_is_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "x.npz", a=npy(shape="(1000,)", data=bytes(range(250)) * 4))
    raw = bytearray(path.read_bytes())
    raw[60:90] = b"\xff" * 30
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"cannot be read as \.npz: Error -3 while decompressing data"):
        read_arrays(path)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(1, np.uint8),
        np.array(["a", "b"]),
        np.array([0x110000], "<u4").view("<U1"),
        np.array([0xD800], "<u4").view("<U1"),
    ],
)
def test_what_is_no_text_is_refused(array: Any) -> None:
    with pytest.raises(InputError, match=r"^meta must be a text"):
        text_of(array, "meta")
