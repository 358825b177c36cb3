"""Every command that a failure prints, on the terminal or its page, works where its reader is: in any folder, later."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pytest

from nvdla_tb.cli.main import main, parser
from nvdla_tb.explain.page import FILE_NAME as PAGE_FILE

_COMMAND = re.compile(r"(?<![\w/])nvdla-tb ((?:run|explain|replay|regress|trace|coverage) [^\n<]*)")

PLAN = """
config = "nv_small"
[[scenario]]
name = "conv_of_mine"
about = "a convolution"
[[scenario.layer]]
engine = "CONV"
shape = [16, 6, 6]
kernels = 16
kernel = [3, 3]
truncate = 8
"""


def printed(text: str) -> set[str]:
    """Return the commands in an output or a page."""
    return {match[1].strip() for match in _COMMAND.finditer(html.unescape(text))}


def played(folder: Path, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Play something that fails in a folder, and return the commands that its output and its page name."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "mine.toml").write_text(PLAN, encoding="utf-8")
    assert main(shlex.split(words)) == 1
    pages = [path.read_text(encoding="utf-8") for path in folder.rglob(PAGE_FILE)]
    assert pages
    return printed("\n".join((capsys.readouterr().out, *pages)))


def carried_out(commands: set[str], other: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Carry out commands in another folder, whose project file means another simulator, and return their exit codes.

    What takes long is only parsed.
    """
    other.mkdir()
    monkeypatch.chdir(other)
    (other / "nvdla-tb.toml").write_text('sim = "icarus"\n', encoding="utf-8")
    codes = {}
    for command in sorted(commands):
        words = shlex.split(command)
        if "--level" in words or "--waves" in words:
            parser().parse_args(words)
        else:
            codes[" ".join(words[:2]) if words[0] == "regress" else words[0]] = main(words)
    return codes


def test_those_of_a_failure_that_was_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "run --plan mine.toml --plusarg +bug=conv_data_unsigned"
    commands = played(tmp_path / "here", words, monkeypatch, capsys)
    assert not any("/inside" in command for command in commands)
    assert carried_out(commands, tmp_path / "there", monkeypatch) == {"explain": 1, "run": 1}


def test_those_of_a_regression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "regress plan --plan mine.toml --plusarg +bug=conv_data_unsigned --jobs 1 --no-waves"
    commands = played(tmp_path / "here", words, monkeypatch, capsys)
    # A replay ends with 0 when the failure is reproduced.
    codes = carried_out(commands, tmp_path / "there", monkeypatch)
    assert {name: codes[name] for name in ("explain", "replay", "coverage")} == {
        "explain": 1,
        "replay": 0,
        "coverage": 0,
    }
