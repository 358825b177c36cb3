"""Files of what memory holds."""

from __future__ import annotations

from pathlib import Path

from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import CheckCrc, CheckFile, CheckNothing
from nvdla_tb.stimulus.dumps import Dumps
from nvdla_tb.stimulus.trace.data import read_data


def test_each_comparison_and_the_end_leave_what_was_written_by_then(tmp_path: Path) -> None:
    memory = MemoryImage()
    memory.allocate_at("a", 0x100, 16)
    memory.allocate_at("empty", 0x200, 16)
    memory.write(0x104, b"abcd")
    dumps = Dumps(tmp_path, {Ram.MC: memory})
    dumps.at_check(CheckFile("s", Ram.MC, 0x100, 8, ((4, b"abcd"),), "out.dat"))
    dumps.at_check(CheckNothing("s"))
    memory.write(0x10C, b"xy")
    dumps.at_check(CheckCrc("s", Ram.MC, 0x106, 10, 0))
    dumps.at_end()
    assert {path.name: read_data(path) for path in tmp_path.iterdir()} == {
        "001_MC_100.dat": ((4, b"abcd"),),
        "002_MC_106.dat": ((0, b"cd"), (6, b"xy")),
        "end_MC_100.dat": ((4, b"abcd"), (12, b"xy")),
    }
