"""The command line as a function: words in, exit code and output out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from nvdla_tb.cli.main import main


class Ran(NamedTuple):
    """What one command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """Why the command was refused: the last line, of which there are more when it does not even parse."""
        assert self.code == 2
        return self.err.splitlines()[-1].partition("error: ")[2]


Run = Callable[..., Ran]


@pytest.fixture
def tb(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs ``nvdla-tb`` with words, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Ran:
        capsys.readouterr()
        try:
            code = main([word for text in words for word in text.split()])
        except SystemExit as end:
            code = int(end.code or 0)
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run
