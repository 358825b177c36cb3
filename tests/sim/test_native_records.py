"""A record that differs between the harness and Python is refused on both sides."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from nvdla_tb.run.compile.runners import HARNESS_DIR
from nvdla_tb.sim.native import RECORD_BYTES, RecordSizeError, check_records

FIELDS = "uint32_t id, beats;\n};\nstatic_assert(sizeof(ReadRecord) == 24"
WIDER = "uint32_t id, beats, more, most;\n};\nstatic_assert(sizeof(ReadRecord) == "


def compiled(folder: Path, asserted: int | None = None) -> ctypes.CDLL:
    """Return the harness's sizes as a library, of a ReadRecord of 32 bytes when ``asserted`` is given."""
    for path in HARNESS_DIR.iterdir():
        shutil.copy(path, folder)
    if asserted is not None:
        header = folder / "port.h"
        text = header.read_text(encoding="utf-8")
        assert text.count(FIELDS) == 1
        header.write_text(text.replace(FIELDS, f"{WIDER}{asserted}"), encoding="utf-8")
    library = folder / "records.so"
    command = ["g++", "-std=c++17", "-shared", "-fPIC", "-o", str(library), str(folder / "records.cpp")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(library))


def test_the_records_of_the_harness_are_those_of_python(tmp_path: Path) -> None:
    library = compiled(tmp_path)
    check_records(library)
    assert {name: library.nvb_record_bytes(name.encode()) for name in RECORD_BYTES} == RECORD_BYTES
    assert library.nvb_record_bytes(b"Unknown") == 0


def test_python_refuses_a_harness_with_a_larger_record(tmp_path: Path) -> None:
    library = compiled(tmp_path, asserted=32)
    with pytest.raises(RecordSizeError, match=r"^ReadRecord must have 32 bytes as in the harness, not 24$"):
        check_records(library)


def test_the_compiler_refuses_a_record_that_changed_on_one_side(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as error:
        compiled(tmp_path, asserted=24)
    assert "as READ_RECORD in tb/nvdla_tb/sim/native.py" in error.value.stderr
