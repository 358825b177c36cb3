"""Traces written by hand into a temporary folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import ops
from nvdla_tb.stimulus.trace import TraceError, read
from tests.unit.nvdla.samples import SMALL

MakeTrace = Callable[..., Path]

CHUNKS = ((0, b"\x00\x10\x20\x30"), (0x60, b"\xa7\xff"))
PACKETS = "{\n{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30} ,\n{offset:0x60, size:2, payload:0xA7 0xff}\n}\n"


SPELLED: list[tuple[str, ops.Op]] = [
    ("mem_init(pri_mem, 0x80000100, 0xa00, ALL_ZERO);", ops.MemInit(Ram.MC, 0x80000100, 0xA00, 0)),
    ('mem_load(pri_mem, 0x40, "in.dat");', ops.MemLoad(Ram.MC, 0x40, CHUNKS, "in.dat")),
    ("reg_write(NVDLA_SDP.D_CVT_SHIFT_0, 0x11);", ops.RegWrite("SDP.D_CVT_SHIFT", 0x11)),
    ("reg_write(NVDLA_CDMA.D_MEAN_GLOBAL_0_0, 0x1);", ops.RegWrite("CDMA.D_MEAN_GLOBAL_0", 1)),
    ("reg_read(NVDLA_GLB.S_INTR_STATUS_0, value);", ops.RegRead("GLB.S_INTR_STATUS")),
    ("reg_read_expected(NVDLA_GLB.S_INTR_STATUS_0, 0x1);", ops.RegRead("GLB.S_INTR_STATUS", 1)),
    ("poll_reg_equal(NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x1);", ops.Poll("CDMA.S_CBUF_FLUSH_STATUS", 1)),
    (
        "poll_reg_not_less(NVDLA_CDMA, NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, 0x0);",
        ops.Poll("CDMA.S_CBUF_FLUSH_STATUS", 0, ops.Comparison.NOT_LESS),
    ),
    (
        "poll_field_equal(NVDLA_CDMA, NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0, FLUSH_DONE, 0x1);",
        ops.Poll("CDMA.S_CBUF_FLUSH_STATUS", 1, ops.Comparison.EQUAL, "flush_done"),
    ),
    ("sync_notify(NVDLA_CACC, ready);", ops.SyncNotify("CACC", "ready")),
    ("intr_notify(SDP_0, s);", ops.InterruptNotify("SDP", 0, "s")),
    ("sync_wait(NVDLA_CSC, s);", ops.SyncWait("CSC", "s")),
    ("check_crc(s, pri_mem, 0x40, 0x20, 0x972f158);", ops.CheckCrc("s", Ram.MC, 0x40, 0x20, 0x0972F158)),
    ('check_file(s, pri_mem, 0x40, 0x62, "in.dat");', ops.CheckFile("s", Ram.MC, 0x40, 0x62, CHUNKS, "in.dat")),
    ("check_nothing(s);", ops.CheckNothing("s")),
]
"""Commands as they are written, and their operations."""


def refusal(trace: Path, config: HwConfig = SMALL, error: type[TraceError] = TraceError) -> str:
    """Require that a trace is refused by exactly this error, and return the message."""
    with pytest.raises(error) as caught:
        read(trace, config)
    assert caught.type is error
    return str(caught.value)


@pytest.fixture
def make_trace(tmp_path: Path) -> MakeTrace:
    """Return a function that writes ``t/t.cfg`` and the data files given by name, and returns the folder."""

    def make(cfg: str, **data: str) -> Path:
        folder = tmp_path / "t"
        folder.mkdir()
        (folder / "t.cfg").write_text(cfg, encoding="utf-8")
        for name, text in ({"in": PACKETS} | data).items():
            (folder / f"{name}.dat").write_text(text, encoding="ascii")
        return folder

    return make
