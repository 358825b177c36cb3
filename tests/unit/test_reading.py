"""Reading files from outside: every fault of a file is one InputError with the name of the file."""

from __future__ import annotations

import errno
import os
import pickle
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from nvdla_models.errors import InputError
from nvdla_models.limits import NESTING, TEXT_BYTES
from nvdla_models.reading import opened, parse_json, read_bytes, read_json, read_text, read_toml, shown


class OwnError(InputError):
    """What the readers of one kind of file raise."""


def refused(message: str) -> Any:
    return pytest.raises(OwnError, match=f"^{re.escape(message)}$")


def test_a_message_is_printable_whatever_a_file_holds() -> None:
    error = InputError("a\x1b[2J\0b\r\nPASSED \udcff\u202e", "  second\n line")
    assert str(error) == r"a\x1b[2J\x00b\r\nPASSED \udcff\u202e" + "\n" + r"  second\n line"


def test_a_message_has_an_end() -> None:
    assert str(InputError("x" * 100_000, "y")) == "x" * 4000 + "...\ny"


def test_a_message_survives_the_way_from_a_worker() -> None:
    error = pickle.loads(pickle.dumps(OwnError("one\ntwo", "three")))
    assert (type(error), str(error)) == (OwnError, r"one\ntwo" + "\nthree")


def test_a_bug_is_never_taken_for_a_refusal() -> None:
    assert not issubclass(InputError, ValueError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 3000 + "]" * 3000, f"tables and lists must nest at most {NESTING} deep"),
        ("a = " + "[" * 65 + "]" * 65, f"tables and lists must nest at most {NESTING} deep"),
        ("a = 0x1" + "0" * 16, "a number must have at most 64 bits, not 65"),
        ("a = [{b = -0x1" + "0" * 5000 + "}]", None),
        ("a = " + "1" * 4000, "a number must have at most 64 bits, not 13285"),
    ],
)
def test_toml_beyond_the_limits_is_refused(text: str, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OwnError, match=rf"^{re.escape(str(path))}: {re.escape(message or '')}"):
        read_toml(path, OwnError)


def test_an_integer_of_5000_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f"a = {'1' * 5000}", encoding="utf-8")
    with pytest.raises(OwnError, match=rf"^{re.escape(str(path))}: Exceeds the limit \(4300 digits\)"):
        read_toml(path, OwnError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, f"x: tables and lists must nest at most {NESTING} deep"),
        ('{"a": "\\ud800"}', r"x: text must be of whole characters, not \ud800"),
        ('{"\\udfff": 1}', r"x: text must be of whole characters, not \udfff"),
        ("[36893488147419103232]", "x: a number must have at most 64 bits, not 66"),
        ("{", "x must be JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_json_beyond_the_limits_is_refused(text: str, message: str) -> None:
    with refused(message):
        parse_json(text, "x", OwnError)


def test_addresses_of_64_bits_are_read(tmp_path: Path) -> None:
    assert parse_json("[18446744073709551615, -18446744073709551615]", "x") == [2**64 - 1, 1 - 2**64]
    path = tmp_path / "x.json"
    path.write_text('{"a": [1, "\\u00e9"]}', encoding="utf-8")
    assert read_json(path) == {"a": [1, "é"]}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "none: cannot be read: No such file or directory"),
        (".", ".: cannot be read: Is a directory"),
        ("a\0b", r"a\x00b: cannot be read: embedded null byte"),
        ("n" * 300, f"{'n' * 300}: cannot be read: File name too long"),
    ],
)
def test_a_file_that_cannot_be_opened_is_named(name: str, message: str) -> None:
    with refused(message):
        read_bytes(Path(name), error=OwnError)


def test_a_large_file_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with refused(f"{path}: the file must have at most {TEXT_BYTES} bytes"):
        read_bytes(path, error=OwnError)


def test_a_fifo_is_refused_and_nobody_waits_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x")
    with refused(f"{tmp_path / 'x'}: must be a regular file, not a FIFO"):
        read_bytes(tmp_path / "x", error=OwnError)


def test_a_link_to_an_endless_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/dev/zero")
    with refused(f"{tmp_path / 'x'}: must be a regular file, not a device"):
        read_bytes(tmp_path / "x", error=OwnError)


def test_a_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(tmp_path / "x"))
    with refused(f"{tmp_path / 'x'}: cannot be read: No such device or address"):
        read_bytes(tmp_path / "x", error=OwnError)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.symlink_to(path)
    with refused(f"{path}: cannot be read: Too many levels of symbolic links"):
        read_bytes(path, error=OwnError)


def test_a_file_that_grows_or_says_that_it_is_empty_is_read_up_to_the_limit() -> None:
    assert Path("/proc/self/maps").stat().st_size == 0
    with refused("/proc/self/maps: the file must have at most 10 bytes"):
        read_bytes(Path("/proc/self/maps"), 10, OwnError)


def test_an_error_of_the_device_while_a_file_is_read_is_one_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with refused(f"{tmp_path / 'x'}: cannot be read: Input/output error"), opened(tmp_path / "x", error=OwnError):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_byte_that_is_no_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a\nb\xff")
    with refused(f"{path}:2: text must be UTF-8, not byte 0xff"):
        read_text(path, error=OwnError)


def test_what_is_shown_is_one_line_and_not_endless() -> None:
    assert shown("a\nb\x1b[2Jé") == r"a\nb\x1b[2Jé"
    assert shown("n" * 501) == "n" * 500 + "..."
    assert shown(10**5000) == "a number of thousands of digits"
