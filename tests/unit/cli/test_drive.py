"""``drive``: where the header is, and options that cannot be."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli import drive as command
from nvdla_tb.cli.drive import INCLUDE
from nvdla_tb.cli.parsing import Parser
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import CheckFile, MemInit, MemLoad, SyncNotify
from nvdla_tb.sim.driver.calls import VERSION, Functions
from tests.unit.conftest import Run


def test_it_prints_the_folder_of_the_header(tb: Run) -> None:
    printed = tb("drive", "--include")
    assert printed.code == 0
    assert (Path(printed.out.strip()) / "nvdla_tb.h").is_file()


def test_the_table_of_functions_is_that_of_the_header() -> None:
    text = (INCLUDE / "nvdla_tb.h").read_text(encoding="utf-8")
    table = re.search(r"struct nvdla_tb \{(.*?)\n\};", text, re.DOTALL)
    assert table is not None
    assert ["version", *re.findall(r"\(\*(\w+)\)", table[1])] == [name for name, *_ in Functions._fields_]
    assert f"#define NVDLA_TB_VERSION {VERSION}\n" in text
    assert ctypes.sizeof(Functions) == len(Functions._fields_) * ctypes.sizeof(ctypes.c_void_p)


RULE = "must have at least 1 byte, end by 0x100000000, and have at most 1073741824 bytes in all"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "DRIVER must be given, the shared library to run, or --socket or --tcp in its place"),
        ("nowhere.so", "DRIVER must be a file, not nowhere.so"),
        ("a.so --memory b.bin", "--memory must be FILE@0xADDRESS or FILE@RAM:0xADDRESS, not b.bin"),
        ("a.so --memory b.bin@12", "--memory must be FILE@0xADDRESS or FILE@RAM:0xADDRESS, not b.bin@12"),
        ("a.so --reserve b@0x10", "--reserve must be BYTES@0xADDRESS or BYTES@RAM:0xADDRESS, not b@0x10"),
        ("a.so --reserve 1_0@0x10", "--reserve must be BYTES@0xADDRESS or BYTES@RAM:0xADDRESS, not 1_0@0x10"),
        ("a.so --expect empty.bin@0x10", "empty.bin must hold at least 1 byte"),
        ("a.so --memory a.bin@CVSRAM:0x0", "--memory must be in MC, as nv_small has no CVSRAM, not a.bin@CVSRAM:0x0"),
        ("a.so --expect a.bin@0xfffffffe", f"--expect {RULE}, not a.bin@0xfffffffe (3 bytes)"),
        ("a.so --reserve 0@0x10", f"--reserve {RULE}, not 0@0x10 (0 bytes)"),
        (
            "a.so --reserve 99999999999999999999@0x10",
            f"--reserve {RULE}, not 99999999999999999999@0x10 (99999999999999999999 bytes)",
        ),
        (
            "a.so --reserve 1073741824@0x0 --reserve 1@0x80000000",
            f"--reserve {RULE}, not 1@0x80000000 (1 bytes)",
        ),
    ],
)
def test_options_that_cannot_be_are_refused(tb: Run, tmp_path: Path, options: str, message: str) -> None:
    for name in ("a.so", "empty.bin"):
        (tmp_path / name).touch()
    (tmp_path / "a.bin").write_bytes(b"abc")
    assert tb("drive", options).refusal == message


def test_memory_is_loaded_before_and_compared_after_the_driver(tmp_path: Path) -> None:
    path = tmp_path / "b.bin"
    path.write_bytes(b"abc")
    parser = Parser()
    command.add_arguments(parser)
    words = f"a.so --memory {path}@0x80 --reserve 64@CVSRAM:0x100 --expect {path}@MC:0x200"
    load, room, notify, check = command._ops(parser.parse_args(words.split()), HwConfig.load("nv_full"))
    assert load == MemLoad(Ram.MC, 0x80, ((0, b"abc"),), "memory_0.dat")
    assert room == MemInit(Ram.CVSRAM, 0x100, 64)
    assert isinstance(notify, SyncNotify)
    assert check == CheckFile(notify.sync_id, Ram.MC, 0x200, 3, ((0, b"abc"),), "expect_0.dat")
