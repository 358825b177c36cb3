"""Options of runs are checked before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.cli import run as run_command
from tests.unit.cli.conftest import Run


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--waves-from cycle:1", "--waves-from must only be given with --waves"),
        ("--waves --waves-from cycle:-1", "--waves-from must be cycle:N or layer:N, not cycle:-1"),
        ("--waves --waves-from cycle:" + "1" * 19, f"--waves-from must be cycle:N or layer:N, not cycle:{'1' * 19}"),
        ("--stages stages.toml", "stages.toml: the file must hold tables [[stage]] alone, not nothing"),
        ("--stages sound.toml", "--stages must be given with --debug, which makes signals inside visible"),
    ],
)
def test_options_that_cannot_be_are_refused_before_anything_is_built(
    tb: Run, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.setattr(run_command, "build_dut", lambda *_, **__: pytest.fail("it was built"))
    Path("stages.toml").write_text("", encoding="utf-8")
    text = '[[stage]]\nname = "a"\nengines = "SDP"\nvalue = "entered"\nvalid = "v"\ndata = "d"\n'
    Path("sound.toml").write_text(text, encoding="utf-8")
    ran = tb(f"run {words}")
    assert (ran.code, ran.err) == (2, f"error: {message}\n")
