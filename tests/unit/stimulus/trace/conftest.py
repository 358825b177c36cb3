"""Traces written by hand into a temporary folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.stimulus.trace import TraceError, read
from tests.unit.nvdla.samples import SMALL

MakeTrace = Callable[..., Path]

PACKETS = "{\n{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30} ,\n{offset:0x60, size:2, payload:0xA7 0xff}\n}\n"


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
