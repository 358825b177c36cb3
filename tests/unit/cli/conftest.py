"""The command line as a function: words in, exit code and output out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tb.cli.command import main


class Ran(NamedTuple):
    """What one command returned and printed."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def tb(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs ``python -m tb`` with words, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Ran:
        capsys.readouterr()
        code = main([word for text in words for word in text.split()])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return run
