"""Every command that a page shows is one that the parser takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tb.__main__ import parser
from tb.places import ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "own-repository.md", ROOT / "docs" / "coverage.md"]
FENCED = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ )?(?:nvdla-tb|python -m tb) (.*)$", re.MULTILINE)


def commands(page: Path) -> list[str]:
    """Return the commands in the code blocks of a page, without their program."""
    blocks = FENCED.findall(page.read_text(encoding="utf-8"))
    return [command for block in blocks for command in COMMAND.findall(block)]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_command_of_a_page_parses(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = commands(page)
    assert found
    for command in found:
        words = shlex.split(command, comments=True)
        assert parser().parse_args(words).command == words[0], command
