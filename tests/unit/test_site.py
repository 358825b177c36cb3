"""The documentation site builds without a warning, holds what it promises, and asks the network for nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from nvdla_tb import api
from nvdla_tb.cli.commands import all_commands
from tests.repository import ROOT

pytestmark = pytest.mark.slow

LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=.(?:https?:)?//|@import|url\([\"']?http")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    options = ("--fail-on-warning", "--keep-going", "--quiet", "-c", "docs")
    command = [sys.executable, "-m", "sphinx", *options, ".", str(folder)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert ran.returncode == 0
    return folder


def test_every_page_of_the_docs_is_on_the_site_and_in_its_search(site: Path) -> None:
    pages = [path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))]
    assert [str(page) for page in pages if not (site / page.with_suffix(".html")).is_file()] == []
    found = (site / "searchindex.js").read_text(encoding="utf-8")
    assert [str(page) for page in pages if f'"{page.with_suffix("").as_posix()}"' not in found] == []
    assert 'url=README.html"' in (site / "index.html").read_text(encoding="utf-8")


def test_the_reference_has_every_public_name_and_every_command(site: Path) -> None:
    names = (site / "docs" / "reference" / "front-door.html").read_text(encoding="utf-8")
    assert [name for name in api.__all__ if f'id="nvdla_tb.{name}"' not in names] == []
    commands = (site / "docs" / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert [name for name in all_commands() if f"usage: nvdla-tb {name}" not in commands] == []


def test_a_reader_of_the_site_needs_no_network(site: Path) -> None:
    assert LOADED.search('<link rel="stylesheet" href="https://fonts.example/f.css">')
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css"}]
    assert len(files) > 30
    assert [path.name for path in files if LOADED.search(path.read_text(encoding="utf-8"))] == []
