"""Every command that a page shows is one that the parser, pytest or make takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from nvdla_tb.cli.main import parser
from nvdla_tb.plugin import entry
from tests.repository import ROOT

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
FENCED = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`((?:nvdla-tb|pytest|make) [^`\n]*)`")
COMMAND = re.compile(r"^(?:\$ )?((?:nvdla-tb|pytest|make)(?: .*)?)$", re.MULTILINE)
OF_PYTEST = {"-k", "-m", "-n", "--lf"}
"""Options that the pages use and that are not the plugin's."""

FILE_OF_MAKE = (ROOT / "Makefile").read_text(encoding="utf-8")


class Options:
    """Takes the options that a plugin declares, in the place of pytest's parser."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def getgroup(self, *_: str) -> Options:
        return self

    def addoption(self, name: str, **_: object) -> None:
        self.names.add(name)


def commands(page: Path) -> list[str]:
    """Return the commands of a page: those in its code blocks, and those in its text that are not cut short."""
    text = page.read_text(encoding="utf-8")
    blocks = [command for block in FENCED.findall(text) for command in COMMAND.findall(block)]
    inline = [command for command in INLINE.findall(FENCED.sub("", text)) if " --" in command or "/" in command]
    # A page may also show what a command takes in general.
    return [command for command in (*blocks, *inline) if not re.search(r"\[-|\.\.\.| [A-Z]+$", command)]


def check(command: str) -> None:
    """Check that a command is taken.

    Raises:
        AssertionError: when it is not.
    """
    program, *words = shlex.split(command, comments=True)
    if program == "nvdla-tb":
        try:
            assert words[0].startswith("--") or parser().parse_args(words).command == words[0]
        except SystemExit as refused:
            raise AssertionError(f"{command} must be taken") from refused
    elif program == "pytest":
        declared = Options()
        entry.pytest_addoption(declared)  # type: ignore[arg-type]
        assert {word for word in words if word.startswith("-")} <= declared.names | OF_PYTEST
    else:
        targets = [word for word in words if "=" not in word]
        assert [target for target in targets if not re.search(rf"^{target}:", FILE_OF_MAKE, re.MULTILINE)] == []
        (values,) = re.findall(r"^VALUES := (.*)$", FILE_OF_MAKE, re.MULTILINE)
        assert {word.partition("=")[0] for word in words if "=" in word} <= set(values.split())


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_command_of_a_page_is_taken(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands(page):
        check(command)


@pytest.mark.parametrize(
    "command", ["nvdla-tb run --olny x", "nvdla-tb explain", "pytest --rlt my.f", "make al", "make RLT=my.f"]
)
def test_a_command_that_is_not_taken_is_seen(command: str) -> None:
    with pytest.raises(AssertionError):
        check(command)


def test_pages_show_commands() -> None:
    found = [command for page in PAGES for command in commands(page)]
    assert {command.split()[0] for command in found} == {"nvdla-tb", "pytest", "make"}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
